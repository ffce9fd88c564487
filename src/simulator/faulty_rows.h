// What a FaultyStore reads of its rows, and what changes make of them. Pure, for any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "simulator/tables.h"
#include "store/operation.h"
#include "store/rows.h"

namespace hs::simulator {

struct RecordRow final : store::CurrentRow {
  explicit RecordRow(const Record& of) : record(of) {}
  const Record& record;
};

// The digits at the beginning.
std::uint64_t number_of(std::string_view text);
inline bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// Less than, equal to or greater than 0, as the cell is compared with the value. NULL is below all others.
int order_of(const Cell& cell, const store::Value& value, bool is_integer);

// The record as a change of any kind but `erase` and `lock` leaves it.
Record changed_record(const Record& before, std::span<const std::uint32_t> columns,
                      const store::Change& change);

// A new row with these values. None: a column that cannot be NULL has no value.
std::optional<Record> new_record(const Table& table, std::span<const std::uint32_t> columns,
                                 std::span<const store::Value> values);

}  // namespace hs::simulator
