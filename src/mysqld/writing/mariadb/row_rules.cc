// The rules by which MariaDB's INSERT, UPDATE and DELETE change a row, in their order.
#include "mysqld/writing/row_rules.h"

#include <span>
#include <utility>
#include <vector>

#include "mysqld/server/api.h"
#include "mysqld/writing/assign.h"
#include "mysqld/writing/row_writer.h"

namespace hs::mysqld {

void prepare_insert(THD* /*thd*/, TABLE& table) {
  table.prepare_triggers_for_insert_stmt_or_event();
  table.mark_columns_needed_for_insert();
}

void prepare_update(THD* /*thd*/, TABLE& table) {
  table.prepare_triggers_for_update_stmt_or_event();
  table.mark_columns_needed_for_update();
}

void prepare_delete(THD* /*thd*/, TABLE& table) {
  table.prepare_triggers_for_delete_stmt_or_event();
  table.mark_columns_needed_for_delete();
}

namespace {

using store::ChangeKind;

bool is_assigned_by_server(const TABLE& table, const Field& field) {
  return field.vcol_info != nullptr || (field.vers_sys_field() && table.versioned());
}

// A generated column accepts no value except NULL. For others SQL warns, and in strict mode that is
// an error.
void refuse_value(THD* thd, const TABLE& table, const Field& field, bool is_given) {
  if (!is_given) return;
  push_warning_printf(thd, Sql_condition::WARN_LEVEL_WARN,
                      ER_WARNING_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN,
                      ER_THD(thd, ER_WARNING_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN),
                      field.field_name.str, table.s->table_name.str);
}

bool update_generated_columns(TABLE& table) {
  return table.vfield == nullptr ||
         table.update_virtual_fields(table.file, VCOL_UPDATE_FOR_WRITE) == 0;
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

// The triggers of one event for one row. before() and after() return false if a trigger failed.
class RowTriggers {
 public:
  // `columns` are the columns that an UPDATE assigns.
  RowTriggers(THD* thd, TABLE& table, trg_event_type event,
              std::span<const store::Column> columns = {})
      : thd_(thd), table_(table), event_(event), columns_(columns) {}

  // A trigger may leave the row out of the statement: then `skip` is set.
  bool before(bool& skip) {
    if (table_.triggers == nullptr) return true;
    if (process(TRG_ACTION_BEFORE, &skip)) return false;
    if (skip || event_ == TRG_EVENT_DELETE) return true;
    return nulls_are_allowed(table_) && update_generated_columns(table_);
  }
  bool after() { return table_.triggers == nullptr || !process(TRG_ACTION_AFTER, nullptr); }

 private:
#if MYSQL_VERSION_ID < 110400
  bool process(trg_action_time_type time, bool* /*skip*/) {
    return table_.triggers->process_triggers(thd_, event_, time, event_ != TRG_EVENT_DELETE);
  }
#else
  bool process(trg_action_time_type time, bool* skip) {
    List<Item> assigned;
    for (const store::Column& column : columns_) {
      assigned.push_back(new (thd_->mem_root) Item_field(thd_, table_.field[column.number]),
                         thd_->mem_root);
    }
    return table_.triggers->process_triggers(thd_, event_, time, event_ != TRG_EVENT_DELETE, skip,
                                             columns_.empty() ? nullptr : &assigned);
  }
#endif

  THD* thd_;
  TABLE& table_;
  trg_event_type event_;
  std::span<const store::Column> columns_;
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

// The result of assigning the values of an update.
struct Update {
  bool crosses_zero = false;
  bool versions_rows = false;  // it makes history rows
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
      refuse_value(thd, table, field, !values[i].null);
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

// What the request makes of one column, unless the server assigns it. False: the whole row is left as
// it is.
bool change_column(THD* thd, TABLE& table, const IndexPlan& plan, const store::Change& change,
                   std::size_t number, Update& update) {
  const store::Column& column = plan.columns()[change.column(number)];
  Field& field = *table.field_to_fill()[column.number];
  update.versions_rows |= table.versioned_write() && !field.vers_update_unversioned();
  if (is_assigned_by_server(table, field)) {
    refuse_value(thd, table, field, change.gives_value(number));
    return true;
  }
  if (change.assigns()) {
    assign(field, change.assignments[number], plan.encoding());
  } else if (change.kind == ChangeKind::update) {
    assign(field, change.values[number], plan.encoding());
  } else if (add_unless_crossing_zero(field, change.values[number],
                                      change.kind == ChangeKind::decrement)) {
    return false;
  }
  field.set_has_explicit_value();
  return true;
}

// Assigns the request's values to the row in record[0]. The old row is in record[1].
bool fill_update(THD* thd, TABLE& table, const IndexPlan& plan, const store::Change& change,
                 Update& update) {
  table.reset_default_fields();
  for (std::size_t i = 0; i < change.columns(); ++i) {
    if (change_column(thd, table, plan, change, i, update)) continue;
    update.crosses_zero = true;
    return !thd->is_error();
  }
  if (thd->is_error()) return false;
  table.evaluate_update_default_function();
  if (update.versions_rows) table.vers_update_fields();
  return update_generated_columns(table) && !thd->is_error();
}

}  // namespace

Status RowWriter::insert(OpenTable& opened, const IndexPlan& plan,
                         std::span<const store::Value> values, std::optional<store::InsertId>& id) {
  TABLE& table = *opened.table;
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
  if (const int error = table.file->ha_write_row(table.record[0]); error != 0)
    return engine_failure(table, error);
  if (!triggers.after()) return failure(0);
  id = id_of_row(table);
  return {};
}

Status RowWriter::update(OpenTable& opened, const IndexPlan& plan, const store::Change& change,
                         bool& counted) {
  TABLE& table = *opened.table;
  counted = true;
  store_record(&table, record[1]);
  Update update;
  if (!fill_update(thd_, table, plan, change, update)) return failure(0);
  std::vector<store::Column> assigned;
  for (std::size_t i = 0; table.triggers != nullptr && i < change.columns(); ++i)
    assigned.push_back(plan.columns()[change.column(i)]);
  RowTriggers triggers(thd_, table, TRG_EVENT_UPDATE, assigned);
  bool skip = update.crosses_zero;
  if (!skip && !triggers.before(skip)) return failure(0);
  if (skip) {
    counted = false;
    restore_record(&table, record[1]);
    return {};
  }
  if (!records_are_comparable(&table) || compare_record(&table)) {
    if (table.verify_constraints(false) != VIEW_CHECK_OK) return failure(0);
    int error = table.file->ha_update_row(table.record[1], table.record[0]);
    if (error == HA_ERR_RECORD_IS_THE_SAME) error = 0;
    if (error == 0 && update.versions_rows && table.versioned(VERS_TIMESTAMP)) {
      store_record(&table, record[2]);
      table.mark_columns_per_binlog_row_image();
      error = vers_insert_history_row(&table);
      restore_record(&table, record[2]);
    }
    if (error != 0) return engine_failure(table, error);
  }
  return triggers.after() ? Status{} : failure(0);
}

Status RowWriter::erase(TABLE& table, bool& counted) {
  if (table.vfield != nullptr) table.update_virtual_fields(table.file, VCOL_UPDATE_FOR_DELETE);
  RowTriggers triggers(thd_, table, TRG_EVENT_DELETE);
  bool skip = false;
  if (!triggers.before(skip)) return failure(0);
  counted = !skip;
  if (skip) return {};
  if (const int error = table.delete_row(); error != 0) return engine_failure(table, error);
  return triggers.after() ? Status{} : failure(0);
}

}  // namespace hs::mysqld
