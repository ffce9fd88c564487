// TestRowCodec: rows as a person reads them, for the tests of stores.
//
// The values of a row are separated by commas, a blank ends the row, and NULL is `~`. Any thread.
#pragma once

#include <span>

#include "store/row_codec.h"

namespace hs::store {

class TestRowCodec final : public RowCodec {
 public:
  bool append_row(std::span<const Column> columns, const CurrentRow& row,
                  Buffer& out) const override {
    const char* separator = "";
    char room[Column::room];
    for (const Column& column : columns) {
      out.append(separator);
      separator = ",";
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
};

inline constexpr TestRowCodec test_row_codec;

}  // namespace hs::store
