#include "mysqld/row_writer.h"

#include <algorithm>
#include <cassert>

#include "mysqld/assign.h"
#include "mysqld/server_api.h"

namespace hs::mysqld {
namespace {

using protocol::Modification;

// Set-ups of a writer, as OpenTable::setup numbers them. 0 is a reader's.
std::uint32_t setup_number(std::uint32_t kind, std::size_t values) {
  return kind * (IndexPlan::max_columns + 1) + static_cast<std::uint32_t>(values) + 1;
}
constexpr std::uint32_t insert_kind = 0;

bool is_assigned_by_server(const TABLE& table, const Field& field) {
  return field.vcol_info != nullptr || (field.vers_sys_field() && table.versioned());
}

// A generated column takes no value but NULL: SQL warns, which is an error in strict mode.
void refuse_value(THD* thd, const TABLE& table, const Field& field, const protocol::Value& value) {
  if (value.null) return;
  push_warning_printf(thd, Sql_condition::WARN_LEVEL_WARN, ER_WARNING_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN,
                      ER_THD(thd, ER_WARNING_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN), field.field_name.str,
                      table.s->table_name.str);
}

bool update_generated_columns(TABLE& table) {
  return table.vfield == nullptr || table.update_virtual_fields(table.file, VCOL_UPDATE_FOR_WRITE) == 0;
}

// A BEFORE trigger may have left a NULL where the column allows none.
bool nulls_are_allowed(TABLE& table) {
  Field** const original = table.field;
  Field** const filled = table.field_to_fill();
  if (original == filled) return true;
  for (uint i = 0; i < table.s->fields; ++i) {
    Field* const of = original[i];
    Field* const ff = filled[i];
    if (of == ff) continue;
    std::swap(of->flags, ff->flags);
    if (!ff->is_real_null()) continue;
    uint error = ER_BAD_NULL_ERROR;
    if ((ff->flags & NO_DEFAULT_VALUE_FLAG) != 0 && !ff->has_explicit_value()) {
      error = ER_NO_DEFAULT_FOR_FIELD;
      table.in_use->count_cuted_fields = CHECK_FIELD_WARN;
    }
    ff->set_notnull();
    if (convert_null_to_field_value_or_error(of, error) || table.in_use->is_error()) return false;
  }
  return true;
}

// Readers of the table's own checks while it lives: a failed assignment raises
// what INSERT or UPDATE would raise.
class StrictChecks {
 public:
  StrictChecks(THD* thd, enum_check_fields check) : thd_(thd) {
    thd->count_cuted_fields = check;
    thd->cuted_fields = 0;
    thd->abort_on_warning = thd->is_strict_mode();
  }
  ~StrictChecks() {
    thd_->count_cuted_fields = CHECK_FIELD_IGNORE;
    thd_->abort_on_warning = false;
  }
  StrictChecks(const StrictChecks&) = delete;
  StrictChecks& operator=(const StrictChecks&) = delete;

 private:
  THD* thd_;
};

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

// Errors of the engine that clients know by the engine's number.
bool is_told_by_engine_number(int error) {
  switch (error) {
    case HA_ERR_FOUND_DUPP_KEY:
    case HA_ERR_LOCK_WAIT_TIMEOUT:
    case HA_ERR_LOCK_DEADLOCK:
    case HA_ERR_CANNOT_ADD_FOREIGN:
    case HA_ERR_NO_REFERENCED_ROW:
    case HA_ERR_ROW_IS_REFERENCED:
    case HA_ERR_AUTOINC_ERANGE:
      return true;
    default:
      return false;
  }
}

}  // namespace

Status RowWriter::failure(int engine_error) const {
  if (engine_error == HA_ERR_ABORTED_BY_USER) return Status::server(ER_QUERY_INTERRUPTED);
  if (is_told_by_engine_number(engine_error)) return Status::server(static_cast<std::uint32_t>(engine_error));
  if (thd_->is_error()) {
    const uint number = thd_->get_stmt_da()->sql_errno();
    // Raised in a trigger: the client knows it by the engine's number, as on the table itself.
    if (number == ER_LOCK_DEADLOCK) return Status::server(HA_ERR_LOCK_DEADLOCK);
    return Status::server(number);
  }
  return Status::server(engine_error == 0 ? ER_UNKNOWN_ERROR : static_cast<std::uint32_t>(engine_error));
}

// Most errors of an engine have a number of SQL's, which the engine itself knows best.
Status RowWriter::engine_failure(TABLE& table, int error) const {
  if (!is_told_by_engine_number(error) && !thd_->is_error()) table.file->print_error(error, MYF(0));
  return failure(error);
}

Status RowWriter::begin_set_up(OpenTable& opened, IndexPlan& plan) {
  IndexPlan::take_down(opened);
  if (Status status = plan.resolve(*opened.table); !status.ok()) return status;
  opened.table->clear_column_bitmaps();
  return {};
}

Status RowWriter::set_up_insert(OpenTable& opened, IndexPlan& plan, std::size_t values) {
  const std::uint32_t setup = setup_number(insert_kind, values);
  if (opened.plan == &plan && opened.setup == setup) return {};
  if (Status status = begin_set_up(opened, plan); !status.ok()) return status;
  if (values > plan.columns().size()) return Error::fld;
  TABLE& table = *opened.table;
  for (std::size_t i = 0; i < values; ++i) bitmap_set_bit(table.write_set, plan.columns()[i].field);
  table.prepare_triggers_for_insert_stmt_or_event();
  table.mark_columns_needed_for_insert();
  table.file->column_bitmaps_signal();
  opened.plan = &plan;
  opened.setup = setup;
  return {};
}

Status RowWriter::set_up_modify(OpenTable& opened, IndexPlan& plan, Modification modification,
                                std::size_t values) {
  const std::uint32_t setup = setup_number(static_cast<std::uint32_t>(modification), values);
  if (opened.plan == &plan && opened.setup == setup) return {};
  if (Status status = begin_set_up(opened, plan); !status.ok()) return status;
  if (values > plan.columns().size()) return Error::fld;
  TABLE& table = *opened.table;
  plan.mark_read_columns(table);
  if (modification == Modification::erase) {
    table.prepare_triggers_for_delete_stmt_or_event();
    table.mark_columns_needed_for_delete();
  } else {
    for (std::size_t i = 0; i < values; ++i) {
      bitmap_set_bit(table.write_set, plan.columns()[i].field);
      bitmap_set_bit(table.read_set, plan.columns()[i].field);
    }
    table.prepare_triggers_for_update_stmt_or_event();
    table.mark_columns_needed_for_update();
  }
  if ((table.file->ha_table_flags() & HA_PARTIAL_COLUMN_READ) != 0) table.prepare_for_position();
  if (const int error = table.file->ha_index_init(plan.index(), plan.is_ordered()); error != 0) {
    return Status::server(static_cast<std::uint32_t>(error));
  }
  opened.plan = &plan;
  opened.setup = setup;
  return {};
}

bool RowWriter::run_before_triggers(TABLE& table, int event) {
  if (table.triggers == nullptr) return true;
  return !table.triggers->process_triggers(thd_, static_cast<trg_event_type>(event), TRG_ACTION_BEFORE, true) &&
         nulls_are_allowed(table) && update_generated_columns(table);
}

bool RowWriter::fill_insert(TABLE& table, const IndexPlan& plan, std::span<const protocol::Value> values) {
  restore_record(&table, s->default_values);
  if (table.triggers != nullptr) table.triggers->default_extra_null_bitmap();
  table.reset_default_fields();
  Field** const fields = table.field_to_fill();
  for (std::size_t i = 0; i < values.size(); ++i) {
    Field& field = *fields[plan.columns()[i].field];
    if (is_assigned_by_server(table, field)) {
      refuse_value(thd_, table, field, values[i]);
      continue;
    }
    if (table.next_number_field != nullptr && field.field_index == table.next_number_field->field_index) {
      table.auto_increment_field_not_null = true;
    }
    assign(field, values[i], plan.encoding());
    field.set_has_explicit_value();
  }
  // Even after a bad value: SQL draws from the defaults' sequences all the same.
  if (table.default_field != nullptr && table.update_default_fields(false) != 0) return false;
  if (table.versioned()) table.vers_update_fields();
  return update_generated_columns(table) && !thd_->is_error();
}

Status RowWriter::insert(OpenTable& opened, const IndexPlan& plan, std::span<const protocol::Value> values,
                         std::optional<std::uint64_t>& id) {
  TABLE& table = *opened.table;
  const StrictChecks checks(thd_, CHECK_FIELD_ERROR_FOR_NULL);
  const AutoIncrement auto_increment(table);
  // With BEFORE triggers the check for missing values comes after them, per row.
  if (table.field == table.field_to_fill() &&
      check_that_all_fields_are_given_values(thd_, &table, opened.request.get()) != 0) {
    return failure(0);
  }
  if (table.validate_default_values_of_unset_fields(thd_)) return failure(0);
  if (!fill_insert(table, plan, values) || !run_before_triggers(table, TRG_EVENT_INSERT)) return failure(0);
  if (table.verify_constraints(false) != VIEW_CHECK_OK) return failure(0);
  if (const int error = table.file->ha_write_row(table.record[0]); error != 0) return engine_failure(table, error);
  if (table.triggers != nullptr &&
      table.triggers->process_triggers(thd_, TRG_EVENT_INSERT, TRG_ACTION_AFTER, true)) {
    return failure(0);
  }
  if (table.found_next_number_field != nullptr) {
    id = static_cast<std::uint64_t>(table.found_next_number_field->val_int());
  }
  return {};
}

bool RowWriter::must_find_first(const OpenTable& opened, const IndexPlan& plan, Modification modification) {
  TABLE* table = opened.table;
  // Their cursors lose their place when rows go or move (MEMORY's do).
  if (!table->file->has_transactions_and_rollback()) return true;
  if (modification == Modification::erase) return false;
  return table->triggers != nullptr || is_key_used(table, plan.index(), table->write_set) ||
         (table->part_info != nullptr && partition_key_modified(table, table->write_set));
}

Status RowWriter::modify(OpenTable& opened, const IndexPlan& plan, const protocol::Find& request,
                         bool& counted) {
  const StrictChecks checks(thd_, CHECK_FIELD_WARN);
  if (request.modification != Modification::erase) return update(opened, plan, request, counted);
  counted = true;
  return erase(*opened.table);
}

// Assigns the request's values to the row in record[0], the old row in record[1].
bool RowWriter::fill_update(TABLE& table, const IndexPlan& plan, const protocol::Find& request,
                            bool& crosses_zero) {
  table.reset_default_fields();
  Field** const fields = table.field_to_fill();
  versions_rows_ = false;
  for (std::size_t i = 0; i < request.values.size(); ++i) {
    Field& field = *fields[plan.columns()[i].field];
    versions_rows_ |= table.versioned_write() && !field.vers_update_unversioned();
    if (is_assigned_by_server(table, field)) {
      refuse_value(thd_, table, field, request.values[i]);
      continue;
    }
    if (request.modification == Modification::update) {
      assign(field, request.values[i], plan.encoding());
    } else if (add_unless_crossing_zero(field, request.values[i],
                                        request.modification == Modification::decrement)) {
      crosses_zero = true;
      return true;
    }
    field.set_has_explicit_value();
  }
  if (thd_->is_error()) return false;
  table.evaluate_update_default_function();
  if (versions_rows_) table.vers_update_fields();
  return update_generated_columns(table) && !thd_->is_error();
}

Status RowWriter::update(OpenTable& opened, const IndexPlan& plan, const protocol::Find& request,
                         bool& counted) {
  TABLE& table = *opened.table;
  counted = true;
  store_record(&table, record[1]);
  bool crosses_zero = false;
  if (!fill_update(table, plan, request, crosses_zero)) return failure(0);
  if (crosses_zero) {
    counted = false;
    return {};
  }
  if (!run_before_triggers(table, TRG_EVENT_UPDATE)) return failure(0);
  if (!records_are_comparable(&table) || compare_record(&table)) {
    if (table.verify_constraints(false) != VIEW_CHECK_OK) return failure(0);
    int error = table.file->ha_update_row(table.record[1], table.record[0]);
    if (error == HA_ERR_RECORD_IS_THE_SAME) error = 0;
    if (error == 0 && versions_rows_ && table.versioned(VERS_TIMESTAMP)) {
      store_record(&table, record[2]);
      table.mark_columns_per_binlog_row_image();
      error = vers_insert_history_row(&table);
      restore_record(&table, record[2]);
    }
    if (error != 0) return engine_failure(table, error);
  }
  if (table.triggers != nullptr &&
      table.triggers->process_triggers(thd_, TRG_EVENT_UPDATE, TRG_ACTION_AFTER, true)) {
    return failure(0);
  }
  return {};
}

Status RowWriter::erase(TABLE& table) {
  if (table.vfield != nullptr) table.update_virtual_fields(table.file, VCOL_UPDATE_FOR_DELETE);
  if (table.triggers != nullptr &&
      table.triggers->process_triggers(thd_, TRG_EVENT_DELETE, TRG_ACTION_BEFORE, false)) {
    return failure(0);
  }
  if (const int error = table.delete_row(); error != 0) return engine_failure(table, error);
  if (table.triggers != nullptr &&
      table.triggers->process_triggers(thd_, TRG_EVENT_DELETE, TRG_ACTION_AFTER, false)) {
    return failure(0);
  }
  return {};
}

}  // namespace hs::mysqld
