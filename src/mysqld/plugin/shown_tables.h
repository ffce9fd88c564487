// The tables that the plugin shows: their names and columns, and their rows as values.
//
// Says nothing about the server. Each family shows the tables in its own way (tables_schema.h in the
// family's folder). Any thread of the server may ask for the rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace hs::mysqld {

using Cell = std::variant<std::uint64_t, std::string_view>;

struct ShownColumn {
  const char* name;
  unsigned text_length;  // the most characters of a text; 0: an unsigned BIGINT
};

// The rows of a table as they were when somebody asked.
class ShownRows {
 public:
  virtual ~ShownRows() = default;
  virtual std::size_t size() const = 0;
  // Valid as long as the rows.
  virtual Cell cell(std::size_t row, std::size_t column) const = 0;
  // Tells the row from all others, also when the rows are asked for again.
  virtual std::uint64_t key(std::size_t row) const = 0;

  const char* warning = nullptr;  // what a client is told if rows are missing
};

struct ShownTable {
  const char* name;
  const char* comment;
  std::span<const ShownColumn> columns;
  std::unique_ptr<ShownRows> (*ask)();  // throws bad_alloc
};

extern const ShownTable connections_table;
extern const ShownTable containers_table;
extern const ShownTable latency_table;
extern const ShownTable open_indexes_table;

inline constexpr std::array shown_tables{&connections_table, &containers_table, &latency_table,
                                         &open_indexes_table};

// For the tables themselves: a column of rows of type Row.
template <class Row>
struct ColumnOf {
  ShownColumn shown;
  Cell (*cell)(const Row& row);
};

template <class Row, std::size_t count>
constexpr std::array<ShownColumn, count> shown(const std::array<ColumnOf<Row>, count>& columns) {
  std::array<ShownColumn, count> list{};
  for (std::size_t i = 0; i < count; ++i) list[i] = columns[i].shown;
  return list;
}

// Row has a member function key().
template <class Row>
class RowsOf final : public ShownRows {
 public:
  explicit RowsOf(std::span<const ColumnOf<Row>> columns) : columns_(columns) {}

  std::size_t size() const override { return rows.size(); }
  Cell cell(std::size_t row, std::size_t column) const override {
    return columns_[column].cell(rows[row]);
  }
  std::uint64_t key(std::size_t row) const override { return rows[row].key(); }

  std::vector<Row> rows;

 private:
  std::span<const ColumnOf<Row>> columns_;
};

}  // namespace hs::mysqld
