#include "redis/protocol/find_words.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace hs::redis {
namespace {

using store::Comparison;
using Words = std::vector<std::string_view>;

std::string mistake_in(const Words& words) {
  FindWords read;
  return read_find(*find_command(words[0]), words, read);
}
FindWords read(const Words& words) {
  FindWords read;
  EXPECT_EQ(read_find(*find_command(words[0]), words, read), "");
  return read;
}
std::string selection(const Words& words) { return selection_text(read(words)); }

TEST(FindWordsTest, ReadsEveryOption) {
  const FindWords find =
      read({"HS.FIND", "db.t@i", "fields", "2",     "a",    "b",      "KEY",   "1",      "x", "In",
            "c",       "2",      "1",      "-",     "FROM", ">",      "5",     "then",   "-", "TO",
            "<=",      "9",      "DESC",   "LIMIT", "7",    "OFFSET", "3",     "FILTER", "d", "!=",
            "-",       "WHILE",  "e",      ">=",    "2",    "AFTER",  "12345", "NULL",   "-"});
  EXPECT_EQ(find.name, "db.t@i");
  EXPECT_EQ(find.fields, (Words{"a", "b"}));
  ASSERT_EQ(find.key.size(), 1u);
  EXPECT_EQ(find.in_column, "c");
  ASSERT_EQ(find.in_values.size(), 2u);
  EXPECT_TRUE(find.in_values[1].null);
  ASSERT_EQ(find.lower.size(), 2u);
  EXPECT_TRUE(find.lower_open && find.lower[1].null && !find.begins);
  ASSERT_EQ(find.upper.size(), 1u);
  EXPECT_FALSE(find.upper_open);
  EXPECT_TRUE(find.descends && find.is_ordered);
  EXPECT_EQ(find.limit, 7u);
  EXPECT_EQ(find.offset, 3u);
  EXPECT_EQ(find.after, 12345u);
  ASSERT_EQ(find.conditions.size(), 2u);
  EXPECT_EQ(find.conditions[0].kind, store::FilterKind::skip);
  EXPECT_EQ(find.conditions[0].comparison, Comparison::not_equal);
  EXPECT_TRUE(find.conditions[0].value.null);
  EXPECT_EQ(find.conditions[1].kind, store::FilterKind::stop);
  EXPECT_EQ(find.conditions[1].column, "e");
}

TEST(FindWordsTest, AWordOfAnOptionMayBeAValue) {
  const FindWords find = read({"HS.FIND", "t", "KEY", "1", "LIMIT", "FILTER", "key", "=", "THEN"});
  EXPECT_EQ(find.key[0].bytes, "LIMIT");
  EXPECT_EQ(find.conditions[0].value.bytes, "THEN");
  EXPECT_FALSE(find.key[0].null);
}

TEST(FindWordsTest, HasLimits) {
  EXPECT_EQ(read({"HS.FIND", "t"}).limit, FindWords::usual_rows);
  EXPECT_EQ(read({"HS.FIND", "t", "LIMIT", "99999999"}).limit, FindWords::most_rows);
  EXPECT_EQ(read({"HS.COUNT", "t"}).limit, store::no_limit);
  EXPECT_EQ(read({"HS.COUNT", "t", "LIMIT", "99999999"}).limit, 99'999'999u);
  EXPECT_EQ(read({"HS.DELETE", "t", "KEY", "1", "5"}).limit, store::no_limit);
}

TEST(FindWordsTest, ReadsWhatIsSet) {
  const FindWords change =
      read({"HS.UPDATE", "t", "SET", "2", "a", "1", "b", "~", "KEY", "1", "5", "NULL", "~"});
  EXPECT_EQ(change.fields, (Words{"a", "b"}));
  ASSERT_EQ(change.set.size(), 2u);
  EXPECT_FALSE(change.set[0].null);
  EXPECT_TRUE(change.set[1].null);
}

TEST(FindWordsTest, RefusesWhatIsMalformed) {
  const std::vector<Words> mistakes{
      {"HS.FIND", "db.t:5"},
      {"HS.FIND", "t", "nonsense"},
      {"HS.FIND", "t", ""},
      {"HS.FIND", "t", "LIMIT"},
      {"HS.FIND", "t", "LIMIT", "0"},
      {"HS.FIND", "t", "LIMIT", "-1"},
      {"HS.FIND", "t", "LIMIT", "1.5"},
      {"HS.FIND", "t", "LIMIT", "99999999999999999999"},
      {"HS.FIND", "t", "LIMIT", "1", "LIMIT", "1"},
      {"HS.FIND", "t", "ASC", "DESC"},
      {"HS.FIND", "t", "OFFSET", "x"},
      {"HS.FIND", "t", "AFTER", ""},
      {"HS.FIND", "t", "FIELDS"},
      {"HS.FIND", "t", "FIELDS", "0"},
      {"HS.FIND", "t", "FIELDS", "2", "a"},
      {"HS.FIND", "t", "FIELDS", "1", ""},
      {"HS.FIND", "t", "FIELDS", "18446744073709551615", "a"},
      {"HS.FIND", "t", "KEY", "0"},
      {"HS.FIND", "t", "KEY", "2", "a"},
      {"HS.FIND", "t", "IN", "a", "0"},
      {"HS.FIND", "t", "IN", "a", "2", "1"},
      {"HS.FIND", "t", "IN", "", "1", "1"},
      {"HS.FIND", "t", "FROM"},
      {"HS.FIND", "t", "FROM", ">"},
      {"HS.FIND", "t", "FROM", "<", "1"},
      {"HS.FIND", "t", "FROM", "=", "1"},
      {"HS.FIND", "t", "FROM", "", "1"},
      {"HS.FIND", "t", "TO", ">=", "1"},
      {"HS.FIND", "t", "TO", "<", "1", "THEN"},
      {"HS.FIND", "t", "BEGINS"},
      {"HS.FIND", "t", "BEGINS", "a", "FROM", ">", "b"},
      {"HS.FIND", "t", "TO", "<", "b", "BEGINS", "a"},
      {"HS.FIND", "t", "FILTER"},
      {"HS.FIND", "t", "FILTER", "a"},
      {"HS.FIND", "t", "FILTER", "a", "="},
      {"HS.FIND", "t", "FILTER", "a", "==", "1"},
      {"HS.FIND", "t", "FILTER", "", "=", "1"},
      {"HS.FIND", "t", "NULL"},
      {"HS.FIND", "t", "SET", "1", "a", "1"},
      {"HS.COUNT", "t", "FIELDS", "1", "a"},
      {"HS.COUNT", "t", "AFTER", "5"},
      {"HS.UPDATE", "t", "KEY", "1", "5"},
      {"HS.UPDATE", "t", "SET", "1", "a", "5"},
      {"HS.UPDATE", "t", "SET", "1", "a", "5", "OFFSET", "1"},
      {"HS.UPDATE", "t", "SET", "2", "a", "5", "b", "KEY", "1"},
      {"HS.UPDATE", "t", "SET", "1", "a", "5", "KEY", "1", "5", "AFTER", "1"},
      {"HS.DELETE", "t", "DESC"},
  };
  for (const Words& words : mistakes)
    EXPECT_EQ(mistake_in(words).substr(0, 4), "ERR ") << testing::PrintToString(words);
}

TEST(FindWordsTest, HasBounds) {
  Words words{"HS.FIND", "t"};
  for (std::size_t i = 0; i < FindWords::most_filters; ++i)
    words.insert(words.end(), {"FILTER", "a", "=", "1"});
  EXPECT_EQ(mistake_in(words), "");
  words.insert(words.end(), {"FILTER", "a", "=", "1"});
  EXPECT_NE(mistake_in(words), "");
  const std::string count = std::to_string(FindWords::most_fields + 1);
  words = {"HS.FIND", "t", "FIELDS", count};
  words.resize(words.size() + FindWords::most_fields + 1, "a");
  EXPECT_NE(mistake_in(words), "");
}

TEST(FindWordsTest, ASelectionHasATextOfItsOwn) {
  const std::string one = selection({"HS.FIND", "t", "KEY", "1", "5", "FILTER", "a", "=", "1"});
  EXPECT_EQ(one, selection({"HS.FIND", "t", "FIELDS", "1", "x", "FILTER", "a", "=", "1", "LIMIT",
                            "5", "key", "1", "5", "OFFSET", "3", "AFTER", "7"}));
  for (const Words& other : std::vector<Words>{
           {"HS.FIND", "u", "KEY", "1", "5", "FILTER", "a", "=", "1"},
           {"HS.FIND", "t", "KEY", "1", "6", "FILTER", "a", "=", "1"},
           {"HS.FIND", "t", "KEY", "1", "5", "FILTER", "a", "=", "1", "DESC"},
           {"HS.FIND", "t", "KEY", "1", "5", "FILTER", "a", "=", "1", "ASC"},
           {"HS.FIND", "t", "KEY", "1", "5", "WHILE", "a", "=", "1"},
           {"HS.FIND", "t", "KEY", "1", "5", "FILTER", "a", "!=", "1"},
           {"HS.FIND", "t", "KEY", "1", "5", "FILTER", "a", "=", "1", "NULL", "5"},
           {"HS.FIND", "t", "KEY", "1", "5", "FILTER", "a", "=", "1", "FROM", ">", "1"},
           {"HS.FIND", "t", "KEY", "1", "5", "FILTER", "a", "=", "1", "BEGINS", "1"},
           {"HS.FIND", "t", "KEY", "1", "5", "FILTER", "a", "=", "1", "IN", "a", "1", "1"}})
    EXPECT_NE(one, selection(other)) << testing::PrintToString(other);
  EXPECT_NE(selection({"HS.FIND", "t", "FROM", ">", "1"}),
            selection({"HS.FIND", "t", "FROM", ">=", "1"}));
}

}  // namespace
}  // namespace hs::redis
