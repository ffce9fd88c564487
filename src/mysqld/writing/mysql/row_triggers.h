// What MySQL's INSERT, UPDATE and DELETE have in common: triggers, generated columns, foreign keys.
//
// On the worker's thread, inside a statement, with a table that is open for writing. Only the rules of
// this folder include it.
#pragma once

#include <span>

#include "mysqld/reading/index_plan.h"
#include "mysqld/server/api.h"
#include "mysqld/server/errors.h"
#include "store/operation.h"

namespace hs::mysqld {

inline bool refuse_value(const TABLE& table, const Field& field) {
  my_error(ER_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN, MYF(0), field.field_name,
           table.s->table_name.str);
  return false;
}

// A generated column accepts no value except NULL, which means DEFAULT. As in SQL, this is checked
// before any other value.
inline bool generated_columns_are_left(const TABLE& table, const IndexPlan& plan,
                                       std::span<const store::Value> values) {
  if (!table.has_gcol()) return true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Field& field = *table.field[plan.columns()[i].number];
    if (!values[i].null && field.is_gcol()) return refuse_value(table, field);
  }
  return true;
}

inline bool update_generated_columns(TABLE& table) {
  return !table.has_gcol() || !update_generated_write_fields(table.write_set, &table);
}

// The columns that a statement or its triggers have set must not be NULL if that is not allowed.
inline bool nulls_are_allowed(THD* thd, TABLE& table) {
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

inline bool is_set(const TABLE& table, const Field& field) {
  return bitmap_is_set(table.fields_set_during_insert, server::number_of(field));
}

// If the server itself checks foreign keys, its errors become those that clients know from the
// engine.
inline int foreign_key_error(const THD* thd) {
  switch (server::raised_error(thd)) {
    case ER_NO_REFERENCED_ROW:
    case ER_NO_REFERENCED_ROW_2: return HA_ERR_NO_REFERENCED_ROW;
    case ER_ROW_IS_REFERENCED:
    case ER_ROW_IS_REFERENCED_2: return HA_ERR_ROW_IS_REFERENCED;
    default: return 0;
  }
}

inline bool parents_exist(THD* thd, TABLE& table, enum_fk_dml_type change) {
  return !use_sql_fk_checks_for_table(thd, &table) || !check_all_parent_fk_ref(thd, &table, change);
}

inline bool children_agree(THD* thd, TABLE& table, enum_fk_dml_type change) {
  return !use_sql_fk_checks_for_table(thd, &table) || !check_all_child_fk_ref(thd, &table, change);
}

}  // namespace hs::mysqld
