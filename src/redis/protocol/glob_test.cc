#include "redis/protocol/glob.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace hs::redis {
namespace {

bool matches(std::string_view pattern, std::string_view text) {
  std::uint64_t effort = 0;
  return Glob(pattern).matches(text, effort);
}

TEST(GlobTest, HasRedissRules) {
  for (const auto& [pattern, text] :
       std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"*", "abc"},    {"a*", "a"},     {"a**c", "abc"},    {"*b*", "abc"},
           {"a?c", "abc"},  {"[ab]c", "bc"}, {"[^ab]c", "cc"},   {"[a-c]", "b"},
           {"[c-a]", "b"},  {"\\*", "*"},    {"a\\", "a\\"},     {"[\\]]", "]"},
           {"[abc", "c"},   {"[^", "x"},     {"[a-]", "^"},      {"*a*b", "xaab"},
           {"", ""},        {"[]a", "a"},    {"*[0-9]?", "x12"}, {"a[-]b", "a-b"},
           {"*.x", "a.x.x"}})
    EXPECT_EQ(matches(pattern, text), pattern != "[]a") << pattern << ' ' << text;
  for (const auto& [pattern, text] :
       std::initializer_list<std::pair<std::string_view, std::string_view>>{{"a", "b"},
                                                                            {"a?", "a"},
                                                                            {"[^a]", "a"},
                                                                            {"[", "["},
                                                                            {"*a", "b"},
                                                                            {"\\?", "x"},
                                                                            {"**", ""},
                                                                            {"*", ""},
                                                                            {"ab", "a"},
                                                                            {"a", "ab"},
                                                                            {"", "a"},
                                                                            {"*a*b", "xbba"},
                                                                            {"[a-c]", "d"},
                                                                            {"[]", "x"}})
    EXPECT_FALSE(matches(pattern, text)) << pattern << ' ' << text;
}

TEST(GlobTest, TakesNoTimeThatGrowsFasterThanThePattern) {
  std::string pattern;
  for (int i = 0; i < 300; ++i) pattern += "a*";
  pattern += "b";
  std::uint64_t effort = 0;
  EXPECT_FALSE(Glob(pattern).matches(std::string(3000, 'a'), effort));
  EXPECT_LE(effort, 3000u * pattern.size());
}

TEST(GlobTest, SaysWhatStandsForItself) {
  EXPECT_EQ(Glob("ab\\*c?d").literal_front(), "ab*c");
  EXPECT_FALSE(Glob("ab*").is_literal());
  EXPECT_TRUE(Glob("a\\*b").is_literal());
  std::string name;
  Glob glob("db.t:4*");
  EXPECT_TRUE(glob.take_literal_until(':', name));
  EXPECT_EQ(name, "db.t");
  EXPECT_EQ(glob.literal_front(), "4");
  Glob unnamed("d*:4");
  EXPECT_FALSE(unnamed.take_literal_until(':', name));
  EXPECT_TRUE(Glob("**").matches_everything());
}

}  // namespace
}  // namespace hs::redis
