// What MariaDB's INSERT, UPDATE and DELETE have in common: triggers, and columns that the server assigns.
//
// On the worker's thread, inside a statement, with a table that is open for writing. Only the rules of
// this folder include it.
#pragma once

#include <optional>
#include <span>
#include <utility>

#include "mysqld/server/api.h"
#include "mysqld/server/session.h"
#include "store/operation.h"
#include "store/rows.h"

namespace hs::mysqld {

inline bool is_assigned_by_server(const TABLE& table, const Field& field) {
  return field.vcol_info != nullptr || (field.vers_sys_field() && table.versioned());
}

// A generated column accepts no value except NULL. For others SQL warns, and in strict mode that is
// an error. It is one in any mode if the value must not be lost.
inline void refuse_value(THD* thd, const TABLE& table, const Field& field,
                         const store::Value& value) {
  std::optional<server::StrictAssignment> strictly;
  if (value.is_whole) strictly.emplace(thd);
  push_warning_printf(thd, Sql_condition::WARN_LEVEL_WARN,
                      ER_WARNING_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN,
                      ER_THD(thd, ER_WARNING_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN),
                      field.field_name.str, table.s->table_name.str);
}

inline bool update_generated_columns(TABLE& table) {
  return table.vfield == nullptr ||
         table.update_virtual_fields(table.file, VCOL_UPDATE_FOR_WRITE) == 0;
}

// A BEFORE trigger may have left a NULL where the column allows none.
inline bool nulls_are_allowed(TABLE& table) {
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

}  // namespace hs::mysqld
