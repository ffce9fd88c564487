#include "simulator/faulty_index.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "simulator/faulty_rows.h"

namespace hs::simulator {
namespace {

const Cell& cell_of(const store::Column& column, const store::CurrentRow& row) {
  return static_cast<const RecordRow&>(row).record[column.number];
}

store::ColumnValue read_text(const store::Column& column, const store::CurrentRow& row,
                             char* /*room*/) {
  const Cell& cell = cell_of(column, row);
  if (!cell) return {};
  return {cell->data(), static_cast<std::uint32_t>(cell->size()), store::ColumnValue::Kind::bytes};
}

store::ColumnValue read_number(const store::Column& column, const store::CurrentRow& row,
                               char* room) {
  const Cell& cell = cell_of(column, row);
  if (!cell) return {};
  std::ranges::copy(*cell, room);
  return {room, static_cast<std::uint32_t>(cell->size()), store::ColumnValue::Kind::in_room};
}

bool find_columns(const Table& table, std::string_view names, char separator,
                  std::vector<std::uint32_t>& columns) {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(separator), names.size());
    const auto column = std::ranges::find(table.columns, names.substr(0, end), &TableColumn::name);
    if (column == table.columns.end()) return false;
    columns.push_back(static_cast<std::uint32_t>(column - table.columns.begin()));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return true;
}

constexpr std::uint64_t most_integer = std::numeric_limits<std::int64_t>::max();

std::shared_ptr<const store::IndexShape> shape_of(const Table& table) {
  auto shape = std::make_shared<store::IndexShape>();
  shape->is_unique = true;
  for (const TableColumn& column : table.columns) {
    shape->columns.push_back(
        {.name = column.name,
         .is_nullable = column.is_nullable,
         .spelling = column.is_integer ? store::Spelling::integer : store::Spelling::text,
         .most = column.is_integer ? most_integer : 0});
  }
  shape->key = {0};
  return shape;
}

}  // namespace

bool open_table(Table& table, const store::IndexNames& names, FaultyIndex& index) {
  index.table = &table;
  if (names.every_column) {
    index.shape_of_table = shape_of(table);
    for (std::uint32_t i = 0; i < table.columns.size(); ++i) index.columns.push_back(i);
  } else if (!find_columns(table, names.columns, names.separator, index.columns)) {
    return false;
  }
  if (!find_columns(table, names.filter_columns, names.separator, index.filter_columns))
    return false;
  for (const std::uint32_t number : index.columns) {
    const TableColumn& column = table.columns[number];
    index.readers.push_back({column.is_integer ? read_number : read_text, number, column.name});
  }
  return true;
}

}  // namespace hs::simulator
