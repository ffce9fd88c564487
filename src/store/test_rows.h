// TestRows: rows as a person reads them, for the tests of stores.
//
// The values of a row are separated by commas, a blank ends the row, and NULL is `~`. It remembers
// which values of IN the rows have met, and the names of the last row's columns.
#pragma once

#include <span>
#include <string>

#include "store/rows.h"

namespace hs::store {

class TestRows final : public Rows {
 public:
  TestRows() = default;
  // They are kept as a whole.
  explicit TestRows(std::size_t most_bytes) : Rows(most_bytes) {}

  bool take(std::span<const Column> columns, const CurrentRow& row, std::size_t in_number,
            Buffer& out) override {
    in_numbers += std::to_string(in_number) + " ";
    names.clear();
    const char* separator = "";
    char room[Column::room];
    for (const Column& column : columns) {
      out.append(separator);
      separator = ",";
      names.append(column.name).push_back(' ');
      const ColumnValue value = column.value(row, room);
      if (value.kind == ColumnValue::Kind::no_memory) return false;
      if (value.kind == ColumnValue::Kind::null) {
        out.push_back('~');
      } else {
        out.append({value.data, value.size});
      }
    }
    out.push_back(' ');
    return true;
  }

  std::string in_numbers;  // of the rows, each with a blank behind it
  std::string names;       // the same of the columns
};

}  // namespace hs::store
