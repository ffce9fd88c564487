// The rules by which MySQL's UPDATE and DELETE change a row, in their order.
#include "mysqld/writing/row_rules.h"

#include "mysqld/server/api.h"
#include "mysqld/writing/assign.h"
#include "mysqld/writing/mysql/row_triggers.h"
#include "mysqld/writing/row_writer.h"

namespace hs::mysqld {

void prepare_update(THD* thd, TABLE& table) {
  thd->lex->sql_command = SQLCOM_UPDATE;
  bool any_default = false;
  for (Field** at = table.field; *at != nullptr; ++at) {
    if (!(*at)->has_update_default_datetime_value_expression()) continue;
    bitmap_set_bit(table.write_set, server::number_of(**at));
    any_default = true;
  }
  // Such a column is set only if another column changes. Without the old values every row would
  // seem changed.
  if (any_default) bitmap_union(table.read_set, table.write_set);
  if (table.triggers != nullptr) table.triggers->mark_fields(TRG_EVENT_UPDATE);
  table.mark_columns_needed_for_update(thd, true);
}

void prepare_delete(THD* thd, TABLE& table) {
  thd->lex->sql_command = SQLCOM_DELETE;
  table.mark_columns_needed_for_delete(thd);
}

namespace {

using store::ChangeKind;

bool generated_columns_are_left(const TABLE& table, const IndexPlan& plan,
                                const store::Change& change) {
  if (!change.assigns()) return generated_columns_are_left(table, plan, change.values);
  if (!table.has_gcol()) return true;
  for (const store::Assignment& assignment : change.assignments) {
    const Field& field = *table.field[plan.columns()[assignment.column].number];
    if (assignment.gives_value() && field.is_gcol()) return refuse_value(table, field);
  }
  return true;
}

bool has_changed(const TABLE& table) {
  return !records_are_comparable(&table) || compare_records(&table);
}

// Assigns the request's values to the row in record[0]. The old row is in record[1].
bool update_values(THD* thd, TABLE& table, const IndexPlan& plan, const store::Change& change,
                   bool& crosses_zero) {
  for (std::size_t i = 0; i < change.columns(); ++i) {
    Field& field = *table.field[plan.columns()[change.column(i)].number];
    bitmap_set_bit(table.fields_set_during_insert, server::number_of(field));
    if (field.is_gcol()) continue;
    if (change.assigns() && !(change.assignments[i].reads_column() && field.is_null())) {
      assign(field, change.assignments[i], plan.encoding());
    } else if (change.kind == ChangeKind::update) {
      assign(field, change.values[i], plan.encoding());
    } else if (field.is_null()) {
      // SQL stores the NULL again, which counts as a change if the column has a default.
      field.reset();
    } else if (add_unless_crossing_zero(field, change.values[i],
                                        change.kind == ChangeKind::decrement)) {
      crosses_zero = true;
      return true;
    }
    if (thd->is_error()) return false;
  }
  return update_generated_columns(table) && !thd->is_error();
}

// Sets ON UPDATE CURRENT_TIMESTAMP columns that the request does not name.
bool update_defaults(THD* thd, TABLE& table) {
  bool any = false;
  for (Field** at = table.field; *at != nullptr; ++at) {
    if (!(*at)->has_update_default_datetime_value_expression() || is_set(table, **at)) continue;
    (*at)->evaluate_update_default_function();
    any = true;
  }
  if (thd->is_error()) return false;
  if (!any || !table.has_gcol()) return true;
  table.blobs_need_not_keep_old_value();
  return update_generated_columns(table);
}

}  // namespace

Status RowWriter::update(OpenTable& opened, const IndexPlan& plan, const store::Change& change,
                         bool& counted) {
  TABLE& table = *opened.table;
  counted = true;
  if (!generated_columns_are_left(table, plan, change)) return failure(0);
  table.clear_partial_update_diffs();
  store_record(&table, record[1]);
  bitmap_clear_all(table.fields_set_during_insert);
  bool changed = false;
  {
    RowTriggers triggers(thd_, table, TRG_EVENT_UPDATE);
    bool crosses_zero = false;
    if (!update_values(thd_, table, plan, change, crosses_zero)) return failure(0);
    if (crosses_zero) {
      counted = false;
      restore_record(&table, record[1]);
      return {};
    }
    changed = has_changed(table);
    if (changed && !update_defaults(thd_, table)) return failure(0);
    if (!triggers.run_before()) return failure(0);
    if (!changed) changed = has_changed(table);
  }
  if (gives_id_ && is_id_of_another_row(table)) {
    my_error(ER_AUTO_INCREMENT_CONFLICT, MYF(0));
    return failure(0);
  }
  if (changed) {
    if (invoke_table_check_constraints(thd_, &table)) return failure(0);
    if (!children_agree(thd_, table, enum_fk_dml_type::FK_UPDATE) ||
        !parents_exist(thd_, table, enum_fk_dml_type::FK_UPDATE)) {
      return failure(foreign_key_error(thd_));
    }
    const int error = table.file->ha_update_row(table.record[1], table.record[0]);
    if (error != 0 && error != HA_ERR_RECORD_IS_THE_SAME) return engine_failure(table, error);
    has_changed_row_ = error == 0;
  }
  return RowTriggers(thd_, table, TRG_EVENT_UPDATE).run_after() ? Status{} : failure(0);
}

Status RowWriter::erase(TABLE& table, bool& counted) {
  counted = true;
  RowTriggers triggers(thd_, table, TRG_EVENT_DELETE);
  if (!triggers.run_before()) return failure(0);
  if (!children_agree(thd_, table, enum_fk_dml_type::FK_DELETE))
    return failure(foreign_key_error(thd_));
  if (const int error = table.file->ha_delete_row(table.record[0]); error != 0)
    return engine_failure(table, error);
  return triggers.run_after() ? Status{} : failure(0);
}

}  // namespace hs::mysqld
