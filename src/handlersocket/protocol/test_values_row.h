// append_values(): a row of given values, as ReplyRows writes it, for tests.
//
// Only tests include it.
#pragma once

#include <span>
#include <vector>

#include "handlersocket/protocol/reply_rows.h"
#include "store/operation.h"

namespace hs::handlersocket {

struct ValuesRow final : store::CurrentRow {
  explicit ValuesRow(std::span<const store::Value> values) : values(values) {}
  std::span<const store::Value> values;
};

inline store::ColumnValue read_test_value(const store::Column& column, const store::CurrentRow& row,
                                          char* /*room*/) {
  const store::Value& value = static_cast<const ValuesRow&>(row).values[column.number];
  if (value.null) return {};
  return {value.bytes.data(), static_cast<std::uint32_t>(value.bytes.size()),
          store::ColumnValue::Kind::bytes};
}

inline void append_values(std::span<const store::Value> values, Buffer& out) {
  std::vector<store::Column> columns;
  for (std::uint32_t i = 0; i < values.size(); ++i) columns.push_back({read_test_value, i, {}});
  static_cast<void>(ReplyRows().take(columns, ValuesRow(values), 0, out));
}

}  // namespace hs::handlersocket
