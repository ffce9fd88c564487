// The rules by which MySQL's INSERT and REPLACE make a row, in their order.
#include <algorithm>
#include <array>
#include <span>

#include "mysqld/server/api.h"
#include "mysqld/writing/assign.h"
#include "mysqld/writing/mysql/row_triggers.h"
#include "mysqld/writing/row_rules.h"
#include "mysqld/writing/row_writer.h"

namespace hs::mysqld {
namespace {

bool has_insert_default(const Field& field) {
  return field.has_insert_default_datetime_value_expression() ||
         field.has_insert_default_general_value_expression();
}

}  // namespace

// As INSERT does: columns with a computed default are written, and the columns for it are read.
void prepare_insert(THD* thd, TABLE& table) {
  thd->lex->sql_command = SQLCOM_INSERT;
  for (Field** at = table.field; *at != nullptr; ++at) {
    if (!has_insert_default(**at)) continue;
    bitmap_set_bit(table.write_set, server::number_of(**at));
    if ((*at)->has_insert_default_general_value_expression()) {
      bitmap_union(table.read_set, &(*at)->m_default_val_expr->base_columns_map);
    }
  }
  if (table.triggers != nullptr) table.triggers->mark_fields(TRG_EVENT_INSERT);
  prepare_triggers_for_insert_stmt(thd, &table);
}

namespace {

using store::InsertedRow;
using store::OnDuplicate;
using store::RowFate;

constexpr uint no_key = ~0U;

// The auto-increment column takes values only while an insert runs.
class AutoIncrement {
 public:
  explicit AutoIncrement(TABLE& table) : table_(table) {
    table.next_number_field = table.found_next_number_field;
    table.autoinc_field_has_explicit_non_null_value = false;
  }
  ~AutoIncrement() {
    table_.file->ha_release_auto_increment();
    table_.next_number_field = nullptr;
    table_.autoinc_field_has_explicit_non_null_value = false;
  }
  AutoIncrement(const AutoIncrement&) = delete;
  AutoIncrement& operator=(const AutoIncrement&) = delete;

 private:
  TABLE& table_;
};

// Computes the defaults of the columns that the request does not name.
bool insert_defaults(THD* thd, TABLE& table, const IndexPlan& plan, std::size_t values) {
  bool any = false;
  for (Field** at = table.field; *at != nullptr; ++at) {
    if (!has_insert_default(**at)) continue;
    const auto named = plan.columns().begin() + static_cast<std::ptrdiff_t>(values);
    const bool is_named = std::any_of(
        plan.columns().begin(), named,
        [&](const store::Column& column) { return column.number == server::number_of(**at); });
    if (is_named) continue;
    (*at)->evaluate_insert_default_function();
    if (thd->is_error()) return false;
    any = true;
  }
  if (!any || !table.has_gcol()) return true;
  table.blobs_need_not_keep_old_value();
  return update_generated_columns(table);
}

bool insert_values(THD* thd, TABLE& table, const IndexPlan& plan,
                   std::span<const store::Value> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    Field& field = *table.field[plan.columns()[i].number];
    bitmap_set_bit(table.fields_set_during_insert, server::number_of(field));
    if (field.is_gcol()) continue;
    if (&field == table.next_number_field) table.autoinc_field_has_explicit_non_null_value = true;
    assign(field, values[i], plan.encoding());
    if (thd->is_error()) return false;
  }
  return update_generated_columns(table) && !thd->is_error();
}

// Before INSERT's triggers run, a column without a default that was not given is NULL.
void blank_missing_columns(TABLE& table) {
  for (Field** at = table.field; *at != nullptr; ++at) {
    if ((*at)->is_flag_set(NO_DEFAULT_VALUE_FLAG) && !is_set(table, **at)) (*at)->set_tmp_null();
  }
}

// With triggers, SQL computes defaults first; without triggers, last.
bool fill_insert(THD* thd, TABLE& table, const IndexPlan& plan,
                 std::span<const store::Value> values, RowTriggers& triggers) {
  if (!triggers.any_before()) {
    return insert_values(thd, table, plan, values) &&
           insert_defaults(thd, table, plan, values.size()) && triggers.run_before();
  }
  if (!insert_defaults(thd, table, plan, values.size()) || !insert_values(thd, table, plan, values))
    return false;
  blank_missing_columns(table);
  return triggers.run_before();
}

}  // namespace

Status RowWriter::insert(OpenTable& opened, const IndexPlan& plan,
                         std::span<const store::Value> values, std::optional<store::InsertId>& id) {
  TABLE& table = *opened.table;
  begin_row();
  const server::StrictChecks checks(thd_, server::Strictness::null_is_error);
  const AutoIncrement auto_increment(table);
  restore_record(&table, s->default_values);
  // A column warns of a missing value once in a statement. After this it can warn, or fail, for
  // this write.
  for (Field** at = table.field; *at != nullptr; ++at) (*at)->reset_warnings();
  if (!generated_columns_are_left(table, plan, values) ||
      validate_default_values_of_unset_fields(thd_, &table)) {
    return failure(0);
  }
  bitmap_clear_all(table.fields_set_during_insert);
  {
    RowTriggers triggers(thd_, table, TRG_EVENT_INSERT);
    if (!fill_insert(thd_, table, plan, values, triggers)) return failure(0);
  }
  if (check_that_all_fields_are_given_values(thd_, &table, opened.request.get())) return failure(0);
  if (invoke_table_check_constraints(thd_, &table)) return failure(0);
  if (!parents_exist(thd_, table, enum_fk_dml_type::FK_INSERT))
    return failure(foreign_key_error(thd_));
  if (const Status status = write_new(table); !status.ok()) return status;
  thd_->record_first_successful_insert_id_in_cur_stmt(table.file->insert_id_for_cur_row);
  if (!RowTriggers(thd_, table, TRG_EVENT_INSERT).run_after()) return failure(0);
  id = id_of_row(table);
  return {};
}

struct RowWriter::ServerWrite {
  explicit ServerWrite(OnDuplicate on_duplicate)
      : info(COPY_INFO::INSERT_OPERATION, nullptr, false,
             on_duplicate == OnDuplicate::replace ? DUP_REPLACE : DUP_ERROR) {}

  COPY_INFO info;
};

Status RowWriter::begin_inserts(TABLE& table, const store::InsertRows& rows) {
  handler& engine = *table.file;
  const bool deletes = rows.on_duplicate == OnDuplicate::replace;
  if (rows.on_duplicate != OnDuplicate::fail) engine.ha_extra(HA_EXTRA_IGNORE_DUP_KEY);
  if (deletes && (table.triggers == nullptr || !table.triggers->has_delete_triggers()))
    engine.ha_extra(HA_EXTRA_WRITE_CAN_REPLACE);
  if (rows.updates()) engine.ha_extra(HA_EXTRA_INSERT_WITH_UPDATE);
  if (thd_->locked_tables_mode <= LTM_LOCK_TABLES) engine.ha_start_bulk_insert(rows.rows());
  // So many numbers for AUTO_INCREMENT are drawn at once, also where the engine is not told.
  thd_->lex->bulk_insert_row_cnt = rows.rows();
  return {};
}

Status RowWriter::end_inserts(TABLE& table, const store::InsertRows& /*rows*/) {
  handler& engine = *table.file;
  thd_->lex->bulk_insert_row_cnt = 0;
  const int error = thd_->locked_tables_mode <= LTM_LOCK_TABLES ? engine.ha_end_bulk_insert() : 0;
  engine.ha_extra(HA_EXTRA_NO_IGNORE_DUP_KEY);
  engine.ha_extra(HA_EXTRA_WRITE_CANNOT_REPLACE);
  return error == 0 ? Status{} : engine_failure(table, error);
}

Status RowWriter::insert_every_row(OpenTable& opened, const IndexPlan& plan,
                                   const store::InsertRows& rows,
                                   std::vector<InsertedRow>& inserted) {
  TABLE& table = *opened.table;
  const AutoIncrement auto_increment(table);
  ServerWrite by_server(rows.on_duplicate);
  for (Field** at = table.field; *at != nullptr; ++at) (*at)->reset_warnings();
  if (validate_default_values_of_unset_fields(thd_, &table)) return failure(0);
  for (std::size_t number = 0; number < rows.rows(); ++number) {
    table.autoinc_field_has_explicit_non_null_value = false;
    const Status status =
        insert_row(opened, plan, rows, rows.row(number), by_server, inserted.emplace_back());
    if (!status.ok()) return status;
  }
  return {};
}

Status RowWriter::insert_row(OpenTable& opened, const IndexPlan& plan,
                             const store::InsertRows& rows, std::span<const store::Value> values,
                             ServerWrite& by_server, InsertedRow& inserted) {
  begin_row();
  TABLE& table = *opened.table;
  restore_record(&table, s->default_values);
  if (!generated_columns_are_left(table, plan, values)) return failure(0);
  bitmap_clear_all(table.fields_set_during_insert);
  bool is_left_out = false;
  {
    RowTriggers triggers(thd_, table, TRG_EVENT_INSERT);
    is_left_out = !fill_insert(thd_, table, plan, values, triggers);
  }
  is_left_out = is_left_out ||
                check_that_all_fields_are_given_values(thd_, &table, opened.request.get()) ||
                invoke_table_check_constraints(thd_, &table);
  if (is_left_out) {
    // With IGNORE, what is wrong was made a warning.
    if (thd_->is_error() || rows.on_duplicate != OnDuplicate::ignore) return failure(0);
    inserted = {.fate = RowFate::ignored};
    return {};
  }
  is_left_out = !parents_exist(thd_, table, enum_fk_dml_type::FK_INSERT);
  if (is_left_out) {
    if (thd_->is_error()) return failure(foreign_key_error(thd_));
    inserted = {.fate = RowFate::ignored};
    return {};
  }
  switch (rows.on_duplicate) {
    case OnDuplicate::ignore:
    case OnDuplicate::replace: return write_as_server(table, by_server, inserted);
    case OnDuplicate::fail: return write_row(table, inserted);
    case OnDuplicate::update: break;
  }
  return write_or_update(opened, plan, rows, inserted);
}

void RowWriter::take_given_id(TABLE& table, std::uint64_t next_id) {
  handler& engine = *table.file;
  const auto id = static_cast<std::uint64_t>(table.found_next_number_field->val_int());
  const std::uint64_t drawn = engine.insert_id_for_cur_row;
  if (drawn == 0 || id != drawn) engine.restore_auto_increment(next_id);
}

// It was drawn for another row of the statement.
bool RowWriter::is_id_of_another_row(TABLE& table) {
  const handler& engine = *table.file;
  const auto id = static_cast<std::uint64_t>(table.found_next_number_field->val_int());
  const std::uint64_t drawn = engine.insert_id_for_cur_row;
  return drawn != 0 && id != drawn && engine.auto_inc_interval_for_cur_row.in_range(id);
}

Status RowWriter::run_after_insert(TABLE& table) {
  thd_->record_first_successful_insert_id_in_cur_stmt(table.file->insert_id_for_cur_row);
  return RowTriggers(thd_, table, TRG_EVENT_INSERT).run_after() ? Status{} : failure(0);
}

// It checks the foreign keys of the rows that it deletes, not those of the new one.
Status RowWriter::write_as_server(TABLE& table, ServerWrite& by_server, InsertedRow& inserted) {
  const COPY_INFO::Statistics before = by_server.info.stats;
  table.file->errkey = no_key;
  may_have_changed_ = true;
  if (write_record(thd_, &table, &by_server.info, nullptr) || thd_->is_error())
    return server_failure();
  const COPY_INFO::Statistics& after = by_server.info.stats;
  if (after.copied == before.copied) {
    inserted = {.fate = RowFate::ignored};
    return {};
  }
  const bool met_another = after.deleted != before.deleted || table.file->errkey != no_key;
  inserted = {.fate = met_another ? RowFate::replaced : RowFate::inserted, .id = id_of_row(table)};
  return {};
}

Status RowWriter::read_duplicate(TABLE& table, int error) {
  handler& engine = *table.file;
  const uint key = engine.get_dup_key(error);
  if (static_cast<int>(key) < 0) return engine_failure(table, HA_ERR_FOUND_DUPP_KEY);
  int failed = 0;
  if ((engine.ha_table_flags() & HA_DUPLICATE_POS) != 0) {
    failed = engine.ha_rnd_pos(table.record[1], engine.dup_ref);
  } else {
    std::array<uchar, MAX_KEY_LENGTH> image;
    if (table.vfield != nullptr && update_generated_write_fields(table.write_set, &table))
      return failure(0);
    key_copy(image.data(), table.record[0], table.key_info + key, 0);
    failed = engine.ha_index_read_idx_map(table.record[1], key, image.data(), HA_WHOLE_KEY,
                                          HA_READ_KEY_EXACT);
  }
  return failed == 0 ? Status{} : engine_failure(table, failed);
}

}  // namespace hs::mysqld
