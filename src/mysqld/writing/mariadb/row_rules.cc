// The rules by which MariaDB's UPDATE and DELETE change a row, in their order.
#include "mysqld/writing/row_rules.h"

#include <vector>

#include "mysqld/server/api.h"
#include "mysqld/writing/assign.h"
#include "mysqld/writing/mariadb/row_triggers.h"
#include "mysqld/writing/row_writer.h"

namespace hs::mysqld {

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

// The result of assigning the values of an update.
struct Update {
  bool crosses_zero = false;
  bool versions_rows = false;  // it makes history rows
};

// What the request makes of one column, unless the server assigns it. False: the whole row is left as
// it is.
bool change_column(THD* thd, TABLE& table, const IndexPlan& plan, const store::Change& change,
                   std::size_t number, Update& update) {
  const store::Column& column = plan.columns()[change.column(number)];
  Field& field = *table.field_to_fill()[column.number];
  update.versions_rows |= table.versioned_write() && !field.vers_update_unversioned();
  if (is_assigned_by_server(table, field)) {
    if (change.gives_value(number)) refuse_value(thd, table, field, change.value(number));
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
    has_changed_row_ = error == 0;
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
