#include "handlersocket/protocol/reply_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "handlersocket/protocol/test_values_row.h"

namespace hs::handlersocket {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;
using store::Column;
using store::ColumnValue;
using store::CurrentRow;
using store::Value;

std::string written(std::span<const Value> values, std::size_t filled = 0) {
  Buffer out;
  out.append(std::string(filled, '-'));
  append_values(values, out);
  return std::string(out.view(filled, out.size()));
}

TEST(ReplyRows, WritesEscapedBytesAndNull) {
  const std::vector<Value> values{{"text"}, {{}, true}, {""}, {"a\nb\0"sv}};
  EXPECT_EQ(written(values), "\ttext\t\0\t\ta\x01\x4a\x62\x01\x40"s);
  EXPECT_EQ(written({}), "");
}

// Each value reserves its own room.
TEST(ReplyRows, GrowsTheBufferAnywhere) {
  const std::string longer(100, 'x');
  const std::vector<Value> values{{longer}, {{}, true}, {"text"}};
  for (std::size_t filled = 0; filled < 300; ++filled) {
    EXPECT_EQ(written(values, filled), "\t" + longer + "\t\0\ttext"s);
  }
}

// The longest value that a reader may write where the taker of the row wants it.
ColumnValue fill_room(const Column& /*column*/, const CurrentRow& /*row*/, char* room) {
  std::fill_n(room, Column::room, '7');
  return {room, Column::room, ColumnValue::Kind::in_room};
}

ColumnValue fail(const Column& /*column*/, const CurrentRow& /*row*/, char* /*room*/) {
  return {nullptr, 0, ColumnValue::Kind::no_memory};
}

TEST(ReplyRows, TakesShortValuesInTheBufferItself) {
  const std::vector<Column> columns(2, Column{fill_room, 0, {}});
  for (std::size_t filled = 150; filled < 300; ++filled) {
    Buffer out;
    out.append(std::string(filled, '-'));
    EXPECT_TRUE(ReplyRows().take(columns, ValuesRow({}), 0, out));
    const std::string value = "\t" + std::string(Column::room, '7');
    EXPECT_EQ(out.view(filled, out.size()), value + value);
  }
}

TEST(ReplyRows, SaysThatAValueCouldNotBeRead) {
  const std::vector<Column> columns{{fill_room, 0, {}}, {fail, 0, {}}};
  Buffer out;
  EXPECT_FALSE(ReplyRows().take(columns, ValuesRow({}), 0, out));
}

}  // namespace
}  // namespace hs::handlersocket
