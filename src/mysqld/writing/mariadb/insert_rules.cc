// The rules by which MariaDB's INSERT and REPLACE make a row, in their order.
#include <array>
#include <span>

#include "mysqld/server/api.h"
#include "mysqld/writing/assign.h"
#include "mysqld/writing/mariadb/row_triggers.h"
#include "mysqld/writing/row_rules.h"
#include "mysqld/writing/row_writer.h"

namespace hs::mysqld {

void prepare_insert(THD* /*thd*/, TABLE& table) {
  table.prepare_triggers_for_insert_stmt_or_event();
  table.mark_columns_needed_for_insert();
}

namespace {

using store::InsertedRow;
using store::OnDuplicate;
using store::RowFate;

constexpr uint no_key = ~0U;

enum_duplicates duplicates_of(OnDuplicate on_duplicate) {
  switch (on_duplicate) {
    case OnDuplicate::replace: return DUP_REPLACE;
    case OnDuplicate::update: return DUP_UPDATE;
    case OnDuplicate::fail:
    case OnDuplicate::ignore: break;
  }
  return DUP_ERROR;
}

COPY_INFO info_of(TABLE& table, OnDuplicate on_duplicate) {
  COPY_INFO info{};
  info.handle_duplicates = duplicates_of(on_duplicate);
  info.ignore = on_duplicate == OnDuplicate::ignore;
  info.table_list = table.pos_in_table_list;
  return info;
}

// The auto-increment column takes values only while an insert runs.
class AutoIncrement {
 public:
  explicit AutoIncrement(TABLE& table) : table_(table) {
    table.next_number_field = table.found_next_number_field;
    table.auto_increment_field_not_null = false;
  }
  ~AutoIncrement() {
    table_.file->ha_release_auto_increment();
    table_.next_number_field = nullptr;
    table_.auto_increment_field_not_null = false;
  }
  AutoIncrement(const AutoIncrement&) = delete;
  AutoIncrement& operator=(const AutoIncrement&) = delete;

 private:
  TABLE& table_;
};

bool fill_insert(THD* thd, TABLE& table, const IndexPlan& plan,
                 std::span<const store::Value> values) {
  restore_record(&table, s->default_values);
  if (table.triggers != nullptr) table.triggers->default_extra_null_bitmap();
  table.reset_default_fields();
  Field** const fields = table.field_to_fill();
  for (std::size_t i = 0; i < values.size(); ++i) {
    Field& field = *fields[plan.columns()[i].number];
    if (is_assigned_by_server(table, field)) {
      if (!values[i].null) refuse_value(thd, table, field, values[i]);
      continue;
    }
    if (table.next_number_field != nullptr &&
        field.field_index == table.next_number_field->field_index) {
      table.auto_increment_field_not_null = true;
    }
    assign(field, values[i], plan.encoding());
    field.set_has_explicit_value();
  }
  // Done even after a bad value, because SQL draws from the sequences of defaults all the same.
  if (table.default_field != nullptr && table.update_default_fields(false) != 0) return false;
  if (table.versioned()) table.vers_update_fields();
  return update_generated_columns(table) && !thd->is_error();
}

}  // namespace

Status RowWriter::insert(OpenTable& opened, const IndexPlan& plan,
                         std::span<const store::Value> values, std::optional<store::InsertId>& id) {
  TABLE& table = *opened.table;
  begin_row();
  const server::StrictChecks checks(thd_, server::Strictness::null_is_error);
  const AutoIncrement auto_increment(table);
  // If there are BEFORE triggers, missing values are checked after them, for each row.
  if (table.field == table.field_to_fill() &&
      check_that_all_fields_are_given_values(thd_, &table, opened.request.get()) != 0) {
    return failure(0);
  }
  if (table.validate_default_values_of_unset_fields(thd_)) return failure(0);
  RowTriggers triggers(thd_, table, TRG_EVENT_INSERT);
  bool skip = false;
  if (!fill_insert(thd_, table, plan, values) || !triggers.before(skip)) return failure(0);
  if (skip) return {};
  if (table.verify_constraints(false) != VIEW_CHECK_OK) return failure(0);
  if (const Status status = write_new(table); !status.ok()) return status;
  if (!triggers.after()) return failure(0);
  id = id_of_row(table);
  return {};
}

struct RowWriter::ServerWrite {
  ServerWrite(THD* thd, TABLE& table, OnDuplicate on_duplicate)
      : info(info_of(table, on_duplicate)), write(thd, &table, &info) {}

  COPY_INFO info;
  Write_record write;
};

Status RowWriter::begin_inserts(TABLE& table, const store::InsertRows& rows) {
  handler& engine = *table.file;
  const bool deletes = rows.on_duplicate == OnDuplicate::replace;
  if (deletes && (table.triggers == nullptr || !table.triggers->has_delete_triggers()))
    engine.extra(HA_EXTRA_WRITE_CAN_REPLACE);
  if (rows.updates()) engine.extra(HA_EXTRA_INSERT_WITH_UPDATE);
  if (thd_->locked_tables_mode <= LTM_LOCK_TABLES) engine.ha_start_bulk_insert(rows.rows());
  // So many numbers for AUTO_INCREMENT are drawn at once, also where the engine is not told. Only the
  // length of this list counts.
  thd_->lex->many_values.elements = static_cast<uint>(rows.rows());
  const bool ignores = rows.on_duplicate == OnDuplicate::ignore;
  const int error = prepare_for_replace(&table, duplicates_of(rows.on_duplicate), ignores);
  return error == 0 ? Status{} : failure(error);
}

Status RowWriter::end_inserts(TABLE& table, const store::InsertRows& rows) {
  handler& engine = *table.file;
  thd_->lex->many_values.elements = 0;
  int error = thd_->locked_tables_mode <= LTM_LOCK_TABLES ? engine.ha_end_bulk_insert() : 0;
  const bool ignores = rows.on_duplicate == OnDuplicate::ignore;
  const int finalized = finalize_replace(&table, duplicates_of(rows.on_duplicate), ignores);
  engine.extra(HA_EXTRA_NO_IGNORE_DUP_KEY);
  engine.extra(HA_EXTRA_WRITE_CANNOT_REPLACE);
  if (error == 0) error = finalized;
  return error == 0 ? Status{} : engine_failure(table, error);
}

Status RowWriter::insert_every_row(OpenTable& opened, const IndexPlan& plan,
                                   const store::InsertRows& rows,
                                   std::vector<InsertedRow>& inserted) {
  TABLE& table = *opened.table;
  const AutoIncrement auto_increment(table);
  ServerWrite by_server(thd_, table, rows.on_duplicate);
  if (table.field == table.field_to_fill() &&
      check_that_all_fields_are_given_values(thd_, &table, opened.request.get()) != 0) {
    return failure(0);
  }
  if (table.validate_default_values_of_unset_fields(thd_)) return failure(0);
  for (std::size_t number = 0; number < rows.rows(); ++number) {
    table.auto_increment_field_not_null = false;
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
  RowTriggers triggers(thd_, table, TRG_EVENT_INSERT);
  bool skip = false;
  if (!fill_insert(thd_, table, plan, values) || !triggers.before(skip)) return failure(0);
  if (!skip) {
    // A CHECK that fails is an error for an INSERT IGNORE of one row, too.
    const bool skips = rows.on_duplicate == OnDuplicate::ignore && rows.rows() > 1;
    const int checked = table.verify_constraints(skips);
    if (checked == VIEW_CHECK_ERROR) return failure(0);
    skip = checked == VIEW_CHECK_SKIP;
  }
  if (skip) {
    inserted = {.fate = RowFate::ignored};
    return {};
  }
  switch (rows.on_duplicate) {
    case OnDuplicate::fail: return write_row(table, inserted);
    case OnDuplicate::update: return write_or_update(opened, plan, rows, inserted);
    case OnDuplicate::ignore:
    case OnDuplicate::replace: break;
  }
  return write_as_server(table, by_server, inserted);
}

void RowWriter::take_given_id(TABLE& table, std::uint64_t next_id) {
  table.file->restore_auto_increment(next_id);
  const longlong id = table.found_next_number_field->val_int();
  table.file->adjust_next_insert_id_after_explicit_value(static_cast<std::uint64_t>(id));
}

Status RowWriter::run_after_insert(TABLE& table) {
  return RowTriggers(thd_, table, TRG_EVENT_INSERT).after() ? Status{} : failure(0);
}

Status RowWriter::write_as_server(TABLE& table, ServerWrite& by_server, InsertedRow& inserted) {
  COPY_INFO& info = by_server.info;
  const ha_rows copied = info.copied;
  const ha_rows deleted = info.deleted;
  table.file->errkey = no_key;
  may_have_changed_ = true;
  if (by_server.write.write_record() != 0 || thd_->is_error()) return server_failure();
  if (info.copied == copied) {
    inserted = {.fate = RowFate::ignored};
    return {};
  }
  const bool met_another = info.deleted != deleted || table.file->errkey != no_key;
  inserted = {.fate = met_another ? RowFate::replaced : RowFate::inserted, .id = id_of_row(table)};
  return {};
}

namespace {

// Reads the row that the engine, or the server for a UNIQUE key on whole BLOBs, has met.
int read_at_position(TABLE& table) {
  handler& engine = *table.file;
  if (engine.inited != handler::NONE) return engine.ha_rnd_pos(table.record[1], engine.dup_ref);
  // Otherwise InnoDB would look for the position in the index that was used last.
  if (const int error = engine.ha_rnd_init(false); error != 0) return error;
  const int error = engine.ha_rnd_pos(table.record[1], engine.dup_ref);
  engine.ha_rnd_end();
  return error;
}

}  // namespace

Status RowWriter::read_duplicate(TABLE& table, int error) {
  handler& engine = *table.file;
  const uint key = engine.get_dup_key(error);
  if (static_cast<int>(key) < 0) return engine_failure(table, HA_ERR_FOUND_DUPP_KEY);
  const bool has_position = (engine.ha_table_flags() & HA_DUPLICATE_POS) != 0 ||
                            engine.lookup_errkey != static_cast<uint>(-1);
  int failed = 0;
  if (has_position) {
    failed = read_at_position(table);
  } else {
    engine.extra(HA_EXTRA_FLUSH_CACHE);
    std::array<uchar, MAX_KEY_LENGTH> image;
    key_copy(image.data(), table.record[0], table.key_info + key, 0);
    failed = engine.ha_index_read_idx_map(table.record[1], key, image.data(), HA_WHOLE_KEY,
                                          HA_READ_KEY_EXACT);
  }
  if (failed == 0 && table.vfield != nullptr) {
    table.move_fields(table.field, table.record[1], table.record[0]);
    failed = table.update_virtual_fields(&engine, VCOL_UPDATE_FOR_REPLACE);
    table.move_fields(table.field, table.record[0], table.record[1]);
  }
  return failed == 0 ? Status{} : engine_failure(table, failed);
}

}  // namespace hs::mysqld
