#include "mysqld/writing/row_writer.h"

#include <cassert>
#include <string_view>

#include "mysqld/server/api.h"
#include "mysqld/server/errors.h"
#include "mysqld/server/table_opening.h"
#include "mysqld/writing/assign.h"
#include "mysqld/writing/row_rules.h"

namespace hs::mysqld {
namespace {

using store::ChangeKind;

// The numbers in OpenTable::setup for the set-ups of a writer. 0 is a reader's set-up.
std::uint32_t setup_number(std::uint32_t kind, std::size_t values) {
  return kind * (IndexPlan::max_columns + 1) + static_cast<std::uint32_t>(values) + 1;
}
constexpr std::uint32_t insert_kind = 0;
std::uint32_t kind_of(ChangeKind kind) { return 1 + static_cast<std::uint32_t>(kind); }

// No number: the table is set up for each request. It is neither a reader's nor that of columns, of
// which none has bit 30.
constexpr std::uint32_t no_setup = std::uint32_t{3} << 30;
// Of assignments: a bit for each column that they name. Defaults read other columns, too.
std::uint32_t setup_of(std::span<const store::Assignment> assignments) {
  constexpr std::uint32_t columns = 31;
  std::uint32_t setup = std::uint32_t{1} << columns;
  for (const store::Assignment& assignment : assignments) {
    if (assignment.column >= columns - 1 || assignment.kind == store::AssignKind::set_default)
      return no_setup;
    setup |= std::uint32_t{1} << assignment.column;
  }
  return setup;
}

// Whether an update may move a row to another partition.
bool may_move_rows(TABLE& table) {
  return table.part_info != nullptr && partition_key_modified(&table, table.write_set);
}

// Whether all rows have to be found before the first one is modified. Otherwise the scan could meet
// a row again that it has moved, or lose its place.
bool must_find_first(TABLE& table, std::uint32_t index, ChangeKind kind) {
  // In engines without transactions (MEMORY, for example) a cursor loses its place when rows are
  // deleted or moved.
  if (!server::has_transactions(table)) return true;
  if (kind == ChangeKind::erase || kind == ChangeKind::lock) return false;
  return table.triggers != nullptr || is_key_used(&table, index, table.write_set) ||
         may_move_rows(table);
}

// Errors of the engine for which clients get the engine's number.
bool is_told_by_engine_number(int error) {
  switch (error) {
    case HA_ERR_FOUND_DUPP_KEY:
    case HA_ERR_LOCK_WAIT_TIMEOUT:
    case HA_ERR_LOCK_DEADLOCK:
    case HA_ERR_CANNOT_ADD_FOREIGN:
    case HA_ERR_NO_REFERENCED_ROW:
    case HA_ERR_ROW_IS_REFERENCED:
    case HA_ERR_AUTOINC_ERANGE: return true;
    default: return false;
  }
}

// Errors of which the server can say which key it was. They are answers, and not tried again.
bool names_a_key(int error) {
  return error == HA_ERR_FOUND_DUPP_KEY || error == HA_ERR_NO_REFERENCED_ROW ||
         error == HA_ERR_ROW_IS_REFERENCED;
}

// Errors after which the store does not answer, because they say that something is locked.
bool is_tried_again(std::uint32_t number) {
  switch (number) {
    case ER_LOCK_DEADLOCK:
    case ER_LOCK_WAIT_TIMEOUT:
    case ER_TABLE_DEF_CHANGED:
    case ER_AUTOINC_READ_FAILED:
    case HA_ERR_LOCK_WAIT_TIMEOUT:
    case HA_ERR_TABLE_DEF_CHANGED: return true;
    default: return number == static_cast<std::uint32_t>(server::row_locked_error());
  }
}

// If one column would cross zero, the row is left as it is, even if the value for another column
// would be refused. So this is found out before a value is assigned.
bool crosses_zero(const TABLE& table, const IndexPlan& plan, const store::Change& change) {
  if (change.kind != ChangeKind::decrement) return false;
  for (std::size_t i = 0; i < change.values.size(); ++i) {
    Field& field = *table.field[plan.columns()[i].number];
    if (server::is_generated(field) || server::is_version_column(field)) continue;
    if (subtraction_crosses_zero(field, change.values[i])) return true;
  }
  return false;
}

// The id that an insert gives, as a text. Nothing: it gives none.
std::optional<std::string_view> given_id(const TABLE& table, const IndexPlan& plan,
                                         std::span<const store::Value> values) {
  const Field* const column = table.found_next_number_field;
  if (column == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (plan.columns()[i].number == server::number_of(*column) && !values[i].null)
      return values[i].bytes;
  }
  return std::nullopt;
}

// Without this mode, 0 asks for a new id.
bool is_zero_an_id(const TABLE& table) {
  return (table.in_use->variables.sql_mode & MODE_NO_AUTO_VALUE_ON_ZERO) != 0;
}

// Whether an insert gives an id of 0 or below.
bool gives_low_id(const TABLE& table, const IndexPlan& plan, std::span<const store::Value> values) {
  const std::optional<std::string_view> id = given_id(table, plan, values);
  if (!id) return false;
  const std::size_t first = id->find_first_not_of(' ');
  const char digit = first == std::string_view::npos ? '0' : (*id)[first];
  return digit == '-' || (is_zero_an_id(table) && (digit < '1' || digit > '9'));
}

// Whether the server would make an id in place of the 0 that an insert gives.
bool asks_for_id(const TABLE& table, const IndexPlan& plan, std::span<const store::Value> values) {
  const std::optional<std::string_view> id = given_id(table, plan, values);
  if (!id || is_zero_an_id(table)) return false;
  const std::string_view digits = id->substr(0, id->find_first_of("eE"));
  return digits.find_first_not_of("+-.0 ") == std::string_view::npos &&
         digits.find('0') != std::string_view::npos;
}

}  // namespace

Status RowWriter::failure(int engine_error) {
  if (said_ != nullptr && thd_->is_error()) [[unlikely]] {
    said_->state = server::raised_state(thd_);
    said_->text = server::raised_text(thd_);
  }
  return number_of_failure(engine_error);
}

void RowWriter::begin_warnings() { server::begin_warnings(thd_); }

void RowWriter::take_warnings() {
  std::vector<store::Warning>& warnings = said_->warnings;
  const auto take = [&](bool is_note, std::uint32_t number, std::string_view text) {
    if (warnings.size() == store::Said::most_warnings) return false;
    warnings.push_back({.is_note = is_note, .number = number, .text = std::string(text)});
    return true;
  };
  server::visit_warnings(thd_, take);
}

void RowWriter::begin_row() {
  if (said_ != nullptr) [[unlikely]]
    server::number_row(thd_, ++rows_begun_);
}

Status RowWriter::number_of_failure(int engine_error) {
  if (engine_error == server::killed_error()) return server::status_of(ER_QUERY_INTERRUPTED);
  if (engine_error == server::row_locked_error() || is_told_by_engine_number(engine_error))
    return server::status_of(engine_error);
  if (thd_->is_error()) {
    const std::uint32_t number = server::raised_error(thd_);
    if (server::is_lack_of_memory(number)) return server::status_of(HA_ERR_OUT_OF_MEM);
    if (is_tried_again(number) && server::is_signalled(thd_)) {
      was_signalled_ = true;
      return {Error::trigger_refused, number};
    }
    // The error was raised in a trigger. The client gets the engine's number, as for the table
    // itself.
    if (number == ER_LOCK_DEADLOCK) return server::status_of(HA_ERR_LOCK_DEADLOCK);
    if (number == ER_LOCK_WAIT_TIMEOUT) return server::status_of(HA_ERR_LOCK_WAIT_TIMEOUT);
    return server::status_of(number);
  }
  return server::status_of(engine_error == 0 ? ER_UNKNOWN_ERROR
                                             : static_cast<std::uint32_t>(engine_error));
}

// For most errors of an engine there is an SQL error with its own number. The engine itself chooses
// it.
Status RowWriter::engine_failure(TABLE& table, int error) {
  // After the errors that are listed above, and after KILL, the engine has undone its own part of
  // the row.
  if (error != server::killed_error() && !is_told_by_engine_number(error)) {
    may_have_changed_ = true;
    if (!thd_->is_error()) table.file->print_error(error, MYF(0));
  } else if (said_ != nullptr && names_a_key(error) && !thd_->is_error()) {
    table.file->print_error(error, MYF(0));  // only for its words
  }
  return failure(error);
}

std::optional<store::InsertId> RowWriter::id_of_row(TABLE& table) {
  Field* const column = table.found_next_number_field;
  if (column == nullptr) return std::nullopt;
  return store::InsertId{.bits = static_cast<std::uint64_t>(column->val_int()),
                         .is_signed = !column->is_unsigned()};
}

Status RowWriter::begin_set_up(OpenTable& opened, IndexPlan& plan) {
  IndexPlan::take_down(opened);
  if (Status status = plan.resolve(*opened.table); !status.ok()) return status;
  opened.table->clear_column_bitmaps();
  return {};
}

Status RowWriter::set_up_insert(OpenTable& opened, IndexPlan& plan, const store::Insert& row) {
  const Status status = set_up_values(opened, plan, row.values);
  const bool is_refused =
      status.ok() && row.keeps_zero && asks_for_id(*opened.table, plan, row.values);
  return is_refused ? store::zero_asks_for_id : status;
}

Status RowWriter::set_up_values(OpenTable& opened, IndexPlan& plan,
                                std::span<const store::Value> values) {
  const std::uint32_t setup = setup_number(insert_kind, values.size());
  if (opened.plan == &plan && opened.setup == setup && !gives_low_id(*opened.table, plan, values))
      [[likely]]
    return {};
  if (Status status = begin_set_up(opened, plan); !status.ok()) return status;
  assert(values.size() <= plan.columns().size());
  TABLE& table = *opened.table;
  // InnoDB chooses the id after a low one by whether the statement has drawn one before. Here the
  // table stays open for many statements, so the engine has to be told that another one begins.
  if (gives_low_id(table, plan, values)) server::begin_engine_statement(table);
  for (std::size_t i = 0; i < values.size(); ++i)
    bitmap_set_bit(table.write_set, plan.columns()[i].number);
  prepare_insert(thd_, table);
  table.file->column_bitmaps_signal();
  opened.may_move_rows = false;
  opened.plan = &plan;
  opened.setup = setup;
  return {};
}

Status RowWriter::set_up_insert_rows(OpenTable& opened, IndexPlan& plan,
                                     const store::InsertRows& rows) {
  if (Status status = begin_set_up(opened, plan); !status.ok()) return status;
  assert(rows.is_valid() && rows.columns <= plan.columns().size());
  TABLE& table = *opened.table;
  server::begin_engine_statement(table);
  // It uses the record that is filled afterwards.
  if (Status status = condition_.prepare(plan, table, rows.condition); !status.ok()) return status;
  for (std::size_t i = 0; i < rows.columns; ++i)
    bitmap_set_bit(table.write_set, plan.columns()[i].number);
  // As for SQL, an image in the binary log of a new row, too, contains what an update may assign.
  for (const store::Assignment& assignment : rows.assignments)
    bitmap_set_bit(table.write_set, plan.columns()[assignment.column].number);
  prepare_insert(thd_, table);
  // A family may prepare an INSERT. Some engines ask whether it is a REPLACE.
  server::set_command(thd_, opened.purpose);
  table.file->column_bitmaps_signal();
  opened.may_move_rows = false;
  opened.plan = &plan;
  opened.setup = no_setup;
  return {};
}

Status RowWriter::set_up_modify(OpenTable& opened, IndexPlan& plan, const store::Change& change) {
  const ChangeKind kind = change.kind;
  const std::size_t values = change.erases() ? 0 : change.values.size();
  const std::uint32_t setup =
      change.assigns() ? setup_of(change.assignments) : setup_number(kind_of(kind), values);
  if (opened.plan == &plan && opened.setup == setup && setup != no_setup) return {};
  if (Status status = begin_set_up(opened, plan); !status.ok()) return status;
  assert(values <= plan.columns().size());
  TABLE& table = *opened.table;
  if (const std::uint32_t error = server::modification_refused(table); error != 0)
    return server::status_of(error);
  plan.mark_read_columns(table);
  if (kind == ChangeKind::erase) {
    prepare_delete(thd_, table);
  } else if (kind == ChangeKind::lock) {
    table.file->column_bitmaps_signal();
  } else {
    const auto mark = [&](std::uint32_t column) {
      bitmap_set_bit(table.write_set, plan.columns()[column].number);
      bitmap_set_bit(table.read_set, plan.columns()[column].number);
    };
    for (std::uint32_t i = 0; i < values; ++i) mark(i);
    for (const store::Assignment& assignment : change.assignments) {
      mark(assignment.column);
      if (assignment.kind == store::AssignKind::set_default)
        server::mark_for_default(table, *table.field[plan.columns()[assignment.column].number]);
    }
    prepare_update(thd_, table);
  }
  if ((table.file->ha_table_flags() & HA_PARTIAL_COLUMN_READ) != 0) table.prepare_for_position();
  if (const int error = table.file->ha_index_init(plan.index(), plan.is_ordered()); error != 0) {
    return server::status_of(error);
  }
  opened.find_first = must_find_first(table, plan.index(), kind);
  opened.may_move_rows =
      kind != ChangeKind::erase && kind != ChangeKind::lock && may_move_rows(table);
  opened.plan = &plan;
  opened.setup = setup;
  return {};
}

Status RowWriter::modify(OpenTable& opened, const IndexPlan& plan, const store::Change& change,
                         bool& counted) {
  begin_row();
  // The engine has locked the row when it was read.
  if (change.only_locks()) {
    counted = true;
    return {};
  }
  const server::StrictChecks checks(thd_, server::Strictness::null_is_warning);
  if (crosses_zero(*opened.table, plan, change)) {
    counted = false;
    return {};
  }
  const Status status =
      change.erases() ? erase(*opened.table, counted) : update(opened, plan, change, counted);
  if (status.ok()) may_have_changed_ = true;
  return status;
}

}  // namespace hs::mysqld
