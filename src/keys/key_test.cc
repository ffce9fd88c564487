#include "keys/key.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace hs::keys {
namespace {

using store::IndexShape;
using store::Spelling;

KeyNames names_of(std::string_view name, std::string_view default_database = "") {
  KeyNames names;
  EXPECT_EQ(read_names(name, default_database, names), KeyMistake::none) << name;
  return names;
}

KeyMistake mistake_of_name(std::string_view name, std::string_view default_database = "") {
  KeyNames names;
  return read_names(name, default_database, names);
}

TEST(KeyTest, NamesATableAndAnIndex) {
  KeyNames names = names_of("shop.user");
  EXPECT_EQ(names.database, "shop");
  EXPECT_EQ(names.table, "user");
  EXPECT_EQ(names.index, "");
  names = names_of("shop.user@by_mail");
  EXPECT_EQ(names.table, "user");
  EXPECT_EQ(names.index, "by_mail");
  names = names_of("user@by_mail", "shop");
  EXPECT_EQ(names.database, "shop");
  EXPECT_EQ(names.index, "by_mail");
  names = names_of("a%2Eb.c%40d%3a%25@e.f%2e", "shop");
  EXPECT_EQ(names.database, "a.b");
  EXPECT_EQ(names.table, "c@d:%");
  EXPECT_EQ(names.index, "e.f.");
}

TEST(KeyTest, SaysWhatIsWrongWithNames) {
  EXPECT_EQ(mistake_of_name(""), KeyMistake::no_name);
  EXPECT_EQ(mistake_of_name("user"), KeyMistake::no_database);
  for (const std::string_view name : {".user", "shop.", "shop.user@", "@mail"})
    EXPECT_EQ(mistake_of_name(name, "shop"), KeyMistake::no_name) << name;
  for (const std::string_view name : {"a%.b", "a.b%4", "a.b%4g", "a.b@%"})
    EXPECT_EQ(mistake_of_name(name), KeyMistake::bad_escape) << name;
}

IndexShape shape(const std::vector<Spelling>& spellings, std::uint8_t decimals = 0) {
  IndexShape shape{.is_unique = true, .columns = {}, .key = {}};
  for (const Spelling spelling : spellings) {
    shape.key.push_back(static_cast<std::uint32_t>(shape.columns.size()));
    shape.columns.push_back({.name = "c", .spelling = spelling, .decimals = decimals});
  }
  return shape;
}

struct Parts {
  KeyMistake mistake = KeyMistake::none;
  std::vector<std::string> values;
};

Parts parts_of(std::string_view text, const IndexShape& shape) {
  std::string room;
  std::vector<store::Value> values;
  Parts parts{.mistake = read_parts(text, shape, room, values), .values = {}};
  for (const store::Value& value : values) parts.values.emplace_back(value.bytes);
  return parts;
}

TEST(KeyTest, TheLastPartIsTheRestAsItStands) {
  using Values = std::vector<std::string>;
  const IndexShape one = shape({Spelling::text});
  EXPECT_EQ(parts_of("session:abc%41", one).values, Values{"session:abc%41"});
  EXPECT_EQ(parts_of("", one).values, Values{""});
  const IndexShape three = shape({Spelling::text, Spelling::integer, Spelling::text});
  EXPECT_EQ(parts_of("a%3Ab:7:c:d%3A", three).values, (Values{"a:b", "7", "c:d%3A"}));
  EXPECT_EQ(parts_of("a:7", three).mistake, KeyMistake::too_few_parts);
  EXPECT_EQ(parts_of("a%:7:b", three).mistake, KeyMistake::bad_escape);
  EXPECT_EQ(parts_of("a:07:b", three).mistake, KeyMistake::not_one_spelling);
}

void expect_spellings(Spelling spelling, std::uint8_t decimals,
                      const std::vector<std::string_view>& right,
                      const std::vector<std::string_view>& wrong) {
  const store::ShapedColumn column{.name = "c", .spelling = spelling, .decimals = decimals};
  for (const std::string_view text : right) EXPECT_TRUE(is_one_spelling(text, column)) << text;
  for (const std::string_view text : wrong) EXPECT_FALSE(is_one_spelling(text, column)) << text;
}

TEST(KeyTest, ANumberHasOneSpelling) {
  expect_spellings(Spelling::integer, 0, {"0", "42", "-1", "18446744073709551616"},
                   {"", "-", "-0", "+1", "01", "1 ", " 1", "1.0", "1e1", "0x1", "-01"});
  expect_spellings(Spelling::whole, 0, {"0", "42"}, {"-1", "", "00"});
  expect_spellings(Spelling::decimal, 2, {"0.00", "-0.10", "12.30"},
                   {"0", "0.0", "-0.00", "1.234", ".10", "01.00", "1.", "1.0x", "+1.00"});
  expect_spellings(Spelling::decimal, 0, {"0", "-7"}, {"7.", "7.0", "-0"});
}

TEST(KeyTest, ADateHasOneSpelling) {
  expect_spellings(Spelling::date, 0, {"2026-11-27"}, {"2026-1-7", "20261127", "2026-11-27 "});
  expect_spellings(
      Spelling::date_and_time, 0, {"2026-11-27 01:02:03"},
      {"2026-11-27", "2026-11-27T01:02:03", "2026-11-27 01:02:03.0", "2026-11-27 1:2:3"});
  expect_spellings(Spelling::date_and_time, 3, {"2026-11-27 01:02:03.450"},
                   {"2026-11-27 01:02:03", "2026-11-27 01:02:03.45", "2026-11-27 01:02:03.45x"});
  expect_spellings(Spelling::other, 0, {"anything", ""}, {});
}

TEST(KeyTest, WritesThePartsThatItReads) {
  const auto written = [](std::string_view value, store::Spelling spelling, bool is_last) {
    std::string key;
    append_part(value, {.name = "c", .spelling = spelling, .decimals = 2}, is_last, key);
    return key;
  };
  using enum store::Spelling;
  EXPECT_EQ(written("a:b%", text, false), "a%3Ab%25:");
  EXPECT_EQ(written("a:b%", text, true), "a:b%");
  EXPECT_EQ(written("00007", whole, true), "7");
  EXPECT_EQ(written("0000", whole, true), "0");
  EXPECT_EQ(written("-7", integer, true), "-7");
  EXPECT_EQ(written("00.50", decimal, true), "0.50");
  EXPECT_EQ(written("007", text, true), "007");
}

}  // namespace
}  // namespace hs::keys
