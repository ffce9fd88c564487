// Inserts of several rows, and what they do about rows that are there: what is the same in every family.
//
// REPLACE and INSERT IGNORE are done by the server's own function for them. INSERT ... ON DUPLICATE KEY
// UPDATE is put together of an insert and an update here, because a condition comes between them and the
// reply says what was done.
#include <algorithm>
#include <utility>

#include "mysqld/server/api.h"
#include "mysqld/server/errors.h"
#include "mysqld/server/tables.h"
#include "mysqld/writing/assign.h"
#include "mysqld/writing/row_rules.h"
#include "mysqld/writing/row_writer.h"

namespace hs::mysqld {
namespace {

using store::InsertedRow;
using store::OnDuplicate;
using store::RowFate;

constexpr std::size_t most_kept_bytes = std::size_t{64} << 10;

// An INSERT of one row is stricter than one of several.
server::Strictness strictness_of(const store::InsertRows& rows) {
  if (rows.on_duplicate == OnDuplicate::ignore) return server::Strictness::ignores;
  return rows.rows() == 1 ? server::Strictness::null_is_error : server::Strictness::null_is_warning;
}

// Whether an update of the row that is there names the AUTO_INCREMENT column.
bool assigns_id(const TABLE& table, const IndexPlan& plan, const store::InsertRows& rows) {
  const Field* const id = table.found_next_number_field;
  return id != nullptr && std::ranges::any_of(rows.assignments, [&](const auto& assignment) {
           return plan.columns()[assignment.column].number == server::number_of(*id);
         });
}

// The columns that are read and written by inserts. A row that is there is read and updated with all. As in
// SQL, so are then the rows behind it, whose images in the binary log show it.
class ColumnsOfInsert {
 public:
  explicit ColumnsOfInsert(TABLE& table)
      : table_(table), read_(table.read_set), written_(table.write_set) {}
  ~ColumnsOfInsert() { table_.column_bitmaps_set(read_, written_); }
  ColumnsOfInsert(const ColumnsOfInsert&) = delete;
  ColumnsOfInsert& operator=(const ColumnsOfInsert&) = delete;

 private:
  TABLE& table_;
  MY_BITMAP* read_;
  MY_BITMAP* written_;
};

}  // namespace

Status RowWriter::insert_rows(OpenTable& opened, const IndexPlan& plan,
                              const store::InsertRows& rows, std::vector<InsertedRow>& inserted) {
  TABLE& table = *opened.table;
  const server::StrictChecks checks(thd_, strictness_of(rows));
  const ColumnsOfInsert columns(table);
  inserted.clear();
  gives_id_ = false;
  Status status = begin_inserts(table, rows);
  try {
    if (status.ok()) status = insert_every_row(opened, plan, rows, inserted);
  } catch (...) {  // no memory
    static_cast<void>(end_inserts(table, rows));
    throw;
  }
  const Status ended = end_inserts(table, rows);
  if (images_.capacity() > most_kept_bytes) images_.free_memory();
  condition_.give_back();
  return status.ok() ? ended : status;
}

// Once a row has been written to a table without transactions, sql_mode may make other mistakes
// warnings.
void RowWriter::note_change(const TABLE& table) {
  may_have_changed_ = true;
  if (!server::has_transactions(table)) server::note_unsafe_change(thd_);
}

// The number that was drawn for a row that fails is the next one again, where the engine takes it back.
Status RowWriter::write_new(TABLE& table) {
  const std::uint64_t next_id = table.file->next_insert_id;
  const int error = table.file->ha_write_row(table.record[0]);
  if (error == 0) [[likely]]
    return {};
  table.file->restore_auto_increment(next_id);
  return engine_failure(table, error);
}

Status RowWriter::write_row(TABLE& table, InsertedRow& inserted) {
  if (const Status status = write_new(table); !status.ok()) return status;
  note_change(table);
  if (const Status status = run_after_insert(table); !status.ok()) return status;
  inserted = {.fate = RowFate::inserted, .id = id_of_row(table)};
  return {};
}

Status RowWriter::write_or_update(OpenTable& opened, const IndexPlan& plan,
                                  const store::InsertRows& rows, InsertedRow& inserted) {
  TABLE& table = *opened.table;
  handler& engine = *table.file;
  std::uint64_t next_id = engine.next_insert_id;  // 0: none is drawn in advance
  const int error = engine.ha_write_row(table.record[0]);
  if (error == 0) {
    note_change(table);
    if (const Status status = run_after_insert(table); !status.ok()) return status;
    inserted = {.fate = RowFate::inserted, .id = id_of_row(table)};
    return {};
  }
  if (error != HA_ERR_FOUND_DUPP_KEY && error != HA_ERR_FOUND_DUPP_UNIQUE) {
    engine.restore_auto_increment(next_id);
    return engine_failure(table, error);
  }
  // The next row gets the number that this one does not need.
  if (engine.insert_id_for_cur_row > 0) next_id = engine.insert_id_for_cur_row;
  table.use_all_columns();
  if (const Status status = read_duplicate(table, error); !status.ok()) return status;
  gives_id_ = assigns_id(table, plan, rows);
  const Status status = update_duplicate(opened, plan, rows, inserted);
  if (std::exchange(gives_id_, false) && status.ok() && inserted.fate != RowFate::unmet) {
    take_given_id(table, next_id);
  } else {
    engine.restore_auto_increment(next_id);
  }
  const bool is_noted = server::notes_rows_left_alone() || inserted.fate == RowFate::updated;
  if (status.ok() && is_noted) note_change(table);
  return status;
}

// The new row is in record[0], and the one that is there in record[1].
Status RowWriter::update_duplicate(OpenTable& opened, const IndexPlan& plan,
                                   const store::InsertRows& rows, InsertedRow& inserted) {
  TABLE& table = *opened.table;
  keep_new_values(table, plan, rows);
  restore_record(&table, record[1]);
  inserted = {.fate = RowFate::unmet, .id = id_of_row(table)};
  if (condition_.check() != RowFilters::Decision::take) return {};
  bool counted = false;
  has_changed_row_ = false;
  const store::Change change{.kind = store::ChangeKind::assign, .assignments = assignments_};
  if (const Status status = update(opened, plan, change, counted); !status.ok()) return status;
  inserted.fate = has_changed_row_ ? RowFate::updated : RowFate::unchanged;
  inserted.id = id_of_row(table);
  return {};
}

// The record that holds the new row is needed for the row that is there, and so are its BLOBs.
void RowWriter::keep_new_values(TABLE& table, const IndexPlan& plan,
                                const store::InsertRows& rows) {
  assignments_.assign(rows.assignments.begin(), rows.assignments.end());
  images_.clear();
  const auto is_new = [](const store::Assignment& assignment) {
    return assignment.kind == store::AssignKind::set_new;
  };
  std::vector<std::size_t> ends;
  for (store::Assignment& assignment : assignments_) {
    if (!is_new(assignment)) continue;
    const Field& field = *table.field[plan.columns()[assignment.column].number];
    assignment.value = {.bytes = {}, .null = field.is_null()};
    if (!assignment.value.null) append_image(field, images_);
    ends.push_back(images_.size());
  }
  std::size_t begin = 0;
  auto end = ends.begin();
  for (store::Assignment& assignment : assignments_) {
    if (!is_new(assignment)) continue;
    assignment.value.bytes = images_.view(begin, *end);
    begin = *end++;
  }
}

// The server's own function has raised SQL's error. Clients get the engine's number of some.
Status RowWriter::server_failure() {
  switch (server::raised_error(thd_)) {
    case ER_DUP_KEY:
    case ER_DUP_ENTRY:
    case ER_DUP_ENTRY_WITH_KEY_NAME:
    case ER_DUP_ENTRY_AUTOINCREMENT_CASE: return failure(HA_ERR_FOUND_DUPP_KEY);
    case ER_NO_REFERENCED_ROW:
    case ER_NO_REFERENCED_ROW_2: return failure(HA_ERR_NO_REFERENCED_ROW);
    case ER_ROW_IS_REFERENCED:
    case ER_ROW_IS_REFERENCED_2: return failure(HA_ERR_ROW_IS_REFERENCED);
    case server::row_locked_number():
      return failure(server::is_signalled(thd_) ? 0 : server::row_locked_error());
    default: return failure(0);
  }
}

}  // namespace hs::mysqld
