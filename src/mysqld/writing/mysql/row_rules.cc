// The rules by which MySQL's INSERT, UPDATE and DELETE change a row, in their order.
#include "mysqld/writing/row_rules.h"

#include <span>

#include "mysqld/server/api.h"
#include "mysqld/writing/assign.h"
#include "mysqld/writing/row_writer.h"

namespace hs::mysqld {
namespace {

using store::ChangeKind;

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

bool refuse_value(const TABLE& table, const Field& field) {
  my_error(ER_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN, MYF(0), field.field_name,
           table.s->table_name.str);
  return false;
}

// A generated column accepts no value except NULL, which means DEFAULT. As in SQL, this is checked
// before any other value.
bool generated_columns_are_left(const TABLE& table, const IndexPlan& plan,
                                std::span<const store::Value> values) {
  if (!table.has_gcol()) return true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Field& field = *table.field[plan.columns()[i].number];
    if (!values[i].null && field.is_gcol()) return refuse_value(table, field);
  }
  return true;
}

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

bool update_generated_columns(TABLE& table) {
  return !table.has_gcol() || !update_generated_write_fields(table.write_set, &table);
}

// The columns that a statement or its triggers have set must not be NULL if that is not allowed.
bool nulls_are_allowed(THD* thd, TABLE& table) {
  for (Field** at = table.field; *at != nullptr && !thd->is_error(); ++at) {
    if (!bitmap_is_set(table.fields_set_during_insert, server::number_of(**at))) continue;
    if ((*at)->check_constraints(ER_BAD_NULL_ERROR) != TYPE_OK) return false;
  }
  return !thd->is_error();
}

// The triggers of one event for one row. The BEFORE triggers run after the values are assigned and
// before the row is stored.
class RowTriggers {
 public:
  RowTriggers(THD* thd, TABLE& table, enum_trigger_event_type event)
      : thd_(thd), table_(table), event_(event), before_(chain(TRG_ACTION_BEFORE)) {
    // Until its triggers have run, every column of a row may be NULL.
    if (before_ != nullptr && event_ != TRG_EVENT_DELETE)
      table_.triggers->enable_fields_temporary_nullability(thd);
  }
  ~RowTriggers() {
    if (before_ == nullptr || event_ == TRG_EVENT_DELETE) return;
    table_.triggers->disable_fields_temporary_nullability();
    table_.triggers->reset_field_nulls();
  }
  RowTriggers(const RowTriggers&) = delete;
  RowTriggers& operator=(const RowTriggers&) = delete;

  bool any_before() const { return before_ != nullptr; }

  // False if a trigger failed, or if the row after them must not be stored.
  bool run_before() {
    if (before_ != nullptr) {
      if (table_.triggers->process_triggers(thd_, event_, TRG_ACTION_BEFORE,
                                            event_ != TRG_EVENT_DELETE))
        return false;
      if (event_ == TRG_EVENT_DELETE) return true;
      if (table_.has_gcol() && before_->has_updated_trigger_fields(table_.write_set)) {
        table_.blobs_need_not_keep_old_value();
        if (!update_generated_columns(table_)) return false;
      }
      table_.triggers->disable_fields_temporary_nullability();
    }
    return event_ == TRG_EVENT_DELETE || nulls_are_allowed(thd_, table_);
  }

  bool run_after() {
    return chain(TRG_ACTION_AFTER) == nullptr ||
           !table_.triggers->process_triggers(thd_, event_, TRG_ACTION_AFTER,
                                              event_ != TRG_EVENT_DELETE);
  }

 private:
  Trigger_chain* chain(enum_trigger_action_time_type time) const {
    return table_.triggers == nullptr ? nullptr : table_.triggers->get_triggers(event_, time);
  }

  THD* thd_;
  TABLE& table_;
  enum_trigger_event_type event_;
  Trigger_chain* before_;
};

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

bool is_set(const TABLE& table, const Field& field) {
  return bitmap_is_set(table.fields_set_during_insert, server::number_of(field));
}

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

// If the server itself checks foreign keys, its errors become those that clients know from the
// engine.
int foreign_key_error(const THD* thd) {
  switch (server::raised_error(thd)) {
    case ER_NO_REFERENCED_ROW:
    case ER_NO_REFERENCED_ROW_2: return HA_ERR_NO_REFERENCED_ROW;
    case ER_ROW_IS_REFERENCED:
    case ER_ROW_IS_REFERENCED_2: return HA_ERR_ROW_IS_REFERENCED;
    default: return 0;
  }
}

bool parents_exist(THD* thd, TABLE& table, enum_fk_dml_type change) {
  return !use_sql_fk_checks_for_table(thd, &table) || !check_all_parent_fk_ref(thd, &table, change);
}

bool children_agree(THD* thd, TABLE& table, enum_fk_dml_type change) {
  return !use_sql_fk_checks_for_table(thd, &table) || !check_all_child_fk_ref(thd, &table, change);
}

}  // namespace

Status RowWriter::insert(OpenTable& opened, const IndexPlan& plan,
                         std::span<const store::Value> values, std::optional<store::InsertId>& id) {
  TABLE& table = *opened.table;
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
  if (const int error = table.file->ha_write_row(table.record[0]); error != 0)
    return engine_failure(table, error);
  thd_->record_first_successful_insert_id_in_cur_stmt(table.file->insert_id_for_cur_row);
  if (!RowTriggers(thd_, table, TRG_EVENT_INSERT).run_after()) return failure(0);
  id = id_of_row(table);
  return {};
}

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
  if (changed) {
    if (invoke_table_check_constraints(thd_, &table)) return failure(0);
    if (!children_agree(thd_, table, enum_fk_dml_type::FK_UPDATE) ||
        !parents_exist(thd_, table, enum_fk_dml_type::FK_UPDATE)) {
      return failure(foreign_key_error(thd_));
    }
    const int error = table.file->ha_update_row(table.record[1], table.record[0]);
    if (error != 0 && error != HA_ERR_RECORD_IS_THE_SAME) return engine_failure(table, error);
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
