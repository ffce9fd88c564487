#include "simulator/faulty_rows.h"

#include <charconv>
#include <string>

#include "simulator/faults.h"
#include "simulator/world.h"

namespace hs::simulator {
namespace {

using store::AssignKind;

Cell cell_of(const store::Value& value) {
  return value.null ? Cell() : Cell(std::string(value.bytes));
}

// No script has numbers that are too large.
Cell sum(const Cell& left, const store::Value& right) {
  if (!left || right.null) return left;
  return std::to_string(number_of(*left) + number_of(right.bytes));
}

void assign(Cell& cell, AssignKind kind, const store::Value& value) {
  switch (kind) {
    case AssignKind::set: cell = cell_of(value); return;
    case AssignKind::add: cell = sum(cell, value); return;
    case AssignKind::append:
      if (cell) *cell += value.bytes;
      return;
    default: World::current().fail("a script needs another kind of assignment");
  }
}

}  // namespace

std::uint64_t number_of(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

int order_of(const Cell& cell, const store::Value& value, bool is_integer) {
  if (!cell || value.null) return (cell ? 1 : 0) - (value.null ? 0 : 1);
  if (!is_integer) return std::string_view(*cell).compare(value.bytes);
  const std::uint64_t left = number_of(*cell);
  const std::uint64_t right = number_of(value.bytes);
  return (left > right ? 1 : 0) - (left < right ? 1 : 0);
}

Record changed_record(const Record& before, std::span<const std::uint32_t> columns,
                      const store::Change& change) {
  Record after = before;
  for (const store::Assignment& assignment : change.assignments)
    assign(after[columns[assignment.column]], assignment.kind, assignment.value);
  const bool adds = change.kind == store::ChangeKind::increment;
  for (std::size_t i = 0; i < change.values.size(); ++i)
    assign(after[columns[i]], adds ? AssignKind::add : AssignKind::set, change.values[i]);
  return after;
}

std::optional<Record> new_record(const Table& table, std::span<const std::uint32_t> columns,
                                 std::span<const store::Value> values) {
  Record record(table.columns.size());
  for (std::size_t i = 0; i < values.size(); ++i) record[columns[i]] = cell_of(values[i]);
  for (std::size_t i = 0; i < record.size(); ++i) {
    if (!record[i] && !table.columns[i].is_nullable) return std::nullopt;
  }
  return record;
}

}  // namespace hs::simulator
