// FaultyIndex: an open index of a FaultyStore, on the counters or on a table with rows.
//
// Used on the thread of the store that has made it. It owns no row.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/tables.h"
#include "store/store.h"

namespace hs::simulator {

struct FaultyIndex final : store::Index {
  std::uint32_t key_parts() const override { return 1; }
  std::uint32_t column_count() const override { return static_cast<std::uint32_t>(readers.size()); }
  std::uint64_t version() const override { return 1; }
  std::shared_ptr<const store::IndexShape> shape() const override { return shape_of_table; }

  Table* table = nullptr;                       // null: the counters
  bool is_there = false;                        // on another server
  std::vector<store::Column> readers{};         // of the columns that it was opened with
  std::vector<std::uint32_t> columns{};         // their numbers in the table
  std::vector<std::uint32_t> filter_columns{};  // the same
  std::shared_ptr<const store::IndexShape> shape_of_table{};
};

// False: the table has no such column.
[[nodiscard]] bool open_table(Table& table, const store::IndexNames& names, FaultyIndex& index);

}  // namespace hs::simulator
