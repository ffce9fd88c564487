// RowWriter: changes rows by the rules that SQL follows.
//
// It applies defaults, NOT NULL, generated columns, CHECK, triggers, auto-increment, system
// versioning and sql_mode, in the order in which INSERT, UPDATE and DELETE apply them. Called on
// the worker's thread, inside a statement (opening/transaction.h), with a table that is open for
// writing. It reads no index and ends no statement. The rules differ between server families:
// insert() and insert_row() are in <family>/insert_rules.cc, update() and erase() in <family>/row_rules.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "mysqld/reading/index_plan.h"
#include "mysqld/reading/row_filter.h"
#include "store/operation.h"

// They are hidden, so that the linker refuses a family that leaves one of them undefined.
#pragma GCC visibility push(hidden)

namespace hs::mysqld {

class RowWriter {
 public:
  explicit RowWriter(THD* thd) : thd_(thd) {}

  // Set up the table for an insert of these values, or for a modification through the plan's index.
  // They do nothing if the table is set up so already. set_up_modify() also decides whether the rows
  // have to be found first. set_up_insert() refuses a 0 that the row does not keep.
  Status set_up_insert(OpenTable& opened, IndexPlan& plan, const store::Insert& row);
  Status set_up_modify(OpenTable& opened, IndexPlan& plan, const store::Change& change);

  // Inserts one row. `id` becomes the value of the auto-increment column, if there is one.
  Status insert(OpenTable& opened, const IndexPlan& plan, std::span<const store::Value> values,
                std::optional<store::InsertId>& id);

  // The same for several rows, with what has to be done about rows that are there. Not shared with
  // other writes: each has a set-up and a statement of its own.
  Status set_up_insert_rows(OpenTable& opened, IndexPlan& plan, const store::InsertRows& rows);
  Status insert_rows(OpenTable& opened, const IndexPlan& plan, const store::InsertRows& rows,
                     std::vector<store::InsertedRow>& inserted);

  // Changes or deletes the row in record[0], or leaves it locked. `counted` says whether the row counts as modified.
  Status modify(OpenTable& opened, const IndexPlan& plan, const store::Change& change,
                bool& counted);

  // Called when a write begins: it has changed nothing yet.
  void begin() {
    may_have_changed_ = was_signalled_ = false;
    rows_begun_ = 0;
    if (said_ != nullptr && said_->wants_warnings) [[unlikely]]
      begin_warnings();
  }
  // Called when a write has succeeded: leaves its warnings with who has asked for them.
  void tell_warnings() {
    if (said_ != nullptr && said_->wants_warnings) [[unlikely]]
      take_warnings();
  }
  // After a write that failed: whether the table or the binary log may hold a change of it, because
  // a row was changed before the failure, or because the engine may not have undone the row that
  // failed. Then the whole statement has to be undone.
  bool may_have_changed() const { return may_have_changed_; }
  // After a write that failed: whether its error has the number of one that is tried again, but was
  // raised by a trigger's SIGNAL. Nothing is locked, so it is the answer.
  bool was_signalled() const { return was_signalled_; }

  // The number of the error that the server has raised; if it has raised none, `engine_error`. What the
  // server says of it is left with who has asked for that.
  Status failure(int engine_error);
  // Null: nobody asks.
  void explain_to(store::Said* said) { said_ = said; }
  // What the server said last is not why the write has failed.
  void explain_nothing() {
    if (said_ != nullptr) said_->clear();
  }

 private:
  Status number_of_failure(int engine_error);
  // Several writes may share a statement.
  void begin_warnings();
  void take_warnings();
  // Messages name the row.
  void begin_row();
  Status engine_failure(TABLE& table, int error);
  static std::optional<store::InsertId> id_of_row(TABLE& table);
  Status begin_set_up(OpenTable& opened, IndexPlan& plan);
  Status set_up_values(OpenTable& opened, IndexPlan& plan, std::span<const store::Value> values);
  Status update(OpenTable& opened, const IndexPlan& plan, const store::Change& change,
                bool& counted);
  Status erase(TABLE& table, bool& counted);
  // The server's own function and what it keeps from row to row, for as long as one statement.
  struct ServerWrite;
  // One of several rows.
  Status insert_row(OpenTable& opened, const IndexPlan& plan, const store::InsertRows& rows,
                    std::span<const store::Value> values, ServerWrite& by_server,
                    store::InsertedRow& inserted);
  Status insert_every_row(OpenTable& opened, const IndexPlan& plan, const store::InsertRows& rows,
                          std::vector<store::InsertedRow>& inserted);
  // Each stores the row in record[0]: by the engine's function, by the server's own, or instead of it
  // updates the row that is there.
  Status write_row(TABLE& table, store::InsertedRow& inserted);
  Status write_as_server(TABLE& table, ServerWrite& by_server, store::InsertedRow& inserted);
  Status write_or_update(OpenTable& opened, const IndexPlan& plan, const store::InsertRows& rows,
                         store::InsertedRow& inserted);
  Status update_duplicate(OpenTable& opened, const IndexPlan& plan, const store::InsertRows& rows,
                          store::InsertedRow& inserted);
  // Reads the row with which the row in record[0] collides into record[1].
  Status read_duplicate(TABLE& table, int error);
  // Around all rows, for the engine.
  Status begin_inserts(TABLE& table, const store::InsertRows& rows);
  Status end_inserts(TABLE& table, const store::InsertRows& rows);
  Status write_new(TABLE& table);
  Status run_after_insert(TABLE& table);
  // An update has given the row in record[0] another AUTO_INCREMENT value. `next_id`: what comes next
  // if it has not taken that.
  void take_given_id(TABLE& table, std::uint64_t next_id);
  // Of a family that refuses such an update.
  static bool is_id_of_another_row(TABLE& table);
  void note_change(const TABLE& table);
  void keep_new_values(TABLE& table, const IndexPlan& plan, const store::InsertRows& rows);
  Status server_failure();

  THD* thd_;
  store::Said* said_ = nullptr;
  RowFilters condition_;                        // of several rows that may update
  std::vector<store::Assignment> assignments_;  // of them, with the values of the row at hand
  Buffer images_;                               // of those values
  std::uint64_t rows_begun_ = 0;                // if somebody asks what the server says
  bool gives_id_ = false;                       // an update to the AUTO_INCREMENT column
  bool has_changed_row_ = false;                // the last update
  bool may_have_changed_ = false;
  bool was_signalled_ = false;
};

}  // namespace hs::mysqld

#pragma GCC visibility pop
