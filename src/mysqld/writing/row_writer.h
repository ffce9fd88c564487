// RowWriter: changes rows by the rules that SQL follows.
//
// It applies defaults, NOT NULL, generated columns, CHECK, triggers, auto-increment, system
// versioning and sql_mode, in the order in which INSERT, UPDATE and DELETE apply them. Called on
// the worker's thread, inside a statement (opening/transaction.h), with a table that is open for
// writing. It reads no index and ends no statement. The rules differ between server families:
// insert(), update() and erase() are in <family>/row_rules.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/status.h"
#include "mysqld/reading/index_plan.h"
#include "store/operation.h"

// They are hidden, so that the linker refuses a family that leaves one of them undefined.
#pragma GCC visibility push(hidden)

namespace hs::mysqld {

class RowWriter {
 public:
  explicit RowWriter(THD* thd) : thd_(thd) {}

  // Set up the table for an insert of these values, or for a modification through the plan's index.
  // They do nothing if the table is set up so already. set_up_modify() also decides whether the rows
  // have to be found first.
  Status set_up_insert(OpenTable& opened, IndexPlan& plan, std::span<const store::Value> values);
  Status set_up_modify(OpenTable& opened, IndexPlan& plan, const store::Change& change);

  // Inserts one row. `id` becomes the value of the auto-increment column, if there is one.
  Status insert(OpenTable& opened, const IndexPlan& plan, std::span<const store::Value> values,
                std::optional<store::InsertId>& id);

  // Changes or deletes the row in record[0]. `counted` says whether the row counts as modified.
  Status modify(OpenTable& opened, const IndexPlan& plan, const store::Change& change,
                bool& counted);

  // Called when a write begins: it has changed nothing yet.
  void begin() { may_have_changed_ = was_signalled_ = false; }
  // After a write that failed: whether the table or the binary log may hold a change of it, because
  // a row was changed before the failure, or because the engine may not have undone the row that
  // failed. Then the whole statement has to be undone.
  bool may_have_changed() const { return may_have_changed_; }
  // After a write that failed: whether its error has the number of one that is tried again, but was
  // raised by a trigger's SIGNAL. Nothing is locked, so it is the answer.
  bool was_signalled() const { return was_signalled_; }

  // The number of the error that the server has raised; if it has raised none, `engine_error`.
  Status failure(int engine_error);

 private:
  Status engine_failure(TABLE& table, int error);
  static std::optional<store::InsertId> id_of_row(TABLE& table);
  Status begin_set_up(OpenTable& opened, IndexPlan& plan);
  Status update(OpenTable& opened, const IndexPlan& plan, const store::Change& change,
                bool& counted);
  Status erase(TABLE& table, bool& counted);

  THD* thd_;
  bool may_have_changed_ = false;
  bool was_signalled_ = false;
};

}  // namespace hs::mysqld

#pragma GCC visibility pop
