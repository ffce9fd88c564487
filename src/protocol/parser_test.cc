#include "protocol/parser.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "protocol/parser_check.h"

namespace hs::protocol {
namespace {

using namespace std::string_view_literals;

TEST(Parser, FirstTokenDecides) {
  check({
      {"", "error cmd"},
      {"\t", "error cmd"},
      {"\t1\t=\t1\t1", "error cmd"},
      {"X", "error cmd"},
      {"p\t1", "error cmd"},
      {"PP\t1", "error cmd"},
      {"AA\t1", "error cmd"},
      {"-1\t=\t1\t1", "error cmd"},
      {"Q", "error cmd"},
      {"/", "error cmd"},
      {"\x01\x40"sv, "error cmd"},
      {"\0"sv, "error cmd"},
      {"\xff\xff", "error cmd"},
  });
}

TEST(Parser, OpenIndex) {
  check({
      {"P\t1\tdb\tt\tPRIMARY\ta,b\tc,d", "open 1 'db''t''PRIMARY''a,b''c,d'"},
      {"P\t1\tdb\tt\tPRIMARY\ta,b", "open 1 'db''t''PRIMARY''a,b'''"},
      {"P\t1\tdb\tt\t\t", "open 1 'db''t'''''''"},
      {"P\t1\tdb\tt", "open 1 'db''t'''''''"},
      {"P\t1", "open 1 ''''''''''"},
      {"P", "open 0 ''''''''''"},
      {"P\t1\tdb\tt\ti\ta\tb\tignored\tmore", "open 1 'db''t''i''a''b'"},
      // Names are not unescaped.
      {"P\t1\t\x01\x49\tt\x01\ti\ta", "open 1 '\\x01I''t\\x01''i''a'''"},
      {"P\t1\t\0\tt"sv, "open 1 '\\x00''t'''''''"},
      {"P\t007\tdb", "open 7 'db'''''''''"},
      {"P\t18446744073709551615", "open 18446744073709551615 ''''''''''"},
      {"P\t18446744073709551616", "error stmtnum"},
      {"P\t", "error stmtnum"},
      {"P\tx\tdb\tt", "error stmtnum"},
      {"P\t-1\tdb\tt", "error stmtnum"},
      {"P\t1 \tdb\tt", "error stmtnum"},
  });
}

TEST(Parser, Auth) {
  check({
      {"A\t1\tsecret", "auth 'secret'"},
      {"A\t1\tsecret\tignored", "auth 'secret'"},
      {"A\t1\ta\x01\x49z", "auth 'a\\x09z'"},
      {"A\t1\t", "auth ''"},
      {"A\t1", "auth ''"},
      {"A\t1\t\0"sv, "auth '\\x00'"},
      {"A\t1\ta\x01", "error escape"},
      {"A", "error authtype"},
      {"A\t", "error authtype"},
      {"A\t2\tfoo", "error authtype"},
      {"A\t01\tfoo", "error authtype"},
      {"A\t11\tfoo", "error authtype"},
  });
}

TEST(Parser, IndexId) {
  check({
      {"0\t=\t1\tv", "find 0 =('v')"},
      {"007\t=\t1\tv", "find 7 =('v')"},
      {"18446744073709551615\t=\t1\tv", "find 18446744073709551615 =('v')"},
      {"18446744073709551616\t=\t1\tv", "error stmtnum"},
      {"99999999999999999999999\t=\t1\tv", "error stmtnum"},
      {"1x\t=\t1\tv", "error stmtnum"},
      {"1 \t=\t1\tv", "error stmtnum"},
      {"1\0\t=\t1\tv"sv, "error stmtnum"},
  });
}

TEST(Parser, Operators) {
  check({
      {"1\t=\t1\tv", "find 1 =('v')"},
      {"1\t>\t1\tv", "find 1 >('v')"},
      {"1\t>=\t1\tv", "find 1 >=('v')"},
      {"1\t<\t1\tv", "find 1 <('v')"},
      {"1\t<=\t1\tv", "find 1 <=('v')"},
      {"1", "error op"},
      {"1\t", "error op"},
      {"1\t!=\t1\tv", "error op"},
      {"1\t==\t1\tv", "error op"},
      {"1\t=>\t1\tv", "error op"},
      {"1\t<>\t1\tv", "error op"},
      {"1\t++\t1\tv", "error op"},
      {"1\t>= \t1\tv", "error op"},
      {"1\tU\t1\tv", "error op"},
      {"1\tSS\t1\tv", "error op"},
      {"1\tS", "error klen"},
      {"1\tS\t0", "error klen"},
      {"1\tS\t1\tselect", "error notimpl"},
  });
}

TEST(Parser, Key) {
  check({
      {"1\t=\t2\ta\tb", "find 1 =('a' 'b')"},
      {"1\t=\t1\t", "find 1 =('')"},
      {"1\t=\t2\t\t", "find 1 =('' '')"},
      {"1\t=\t2\t\0\t\0"sv, "find 1 =(NULL NULL)"},
      {"1\t=\t1\t\0x"sv, "find 1 =('\\x00x')"},
      {"1\t=\t1\t\x01\x40"sv, "find 1 =('\\x00')"},
      {"1\t=\t3\ta\x01\x49z\tb\t\x01\x4f\x01\x41", "find 1 =('a\\x09z' 'b' '\\x0f\\x01')"},
      {"1\t=\t1\t\x02\x03\x0f", "find 1 =('\\x02\\x03\\x0f')"},
      {"1\t=\t01\tv", "find 1 =('v')"},
      {"1\t=", "error klen"},
      {"1\t=\t", "error klen"},
      {"1\t=\t0", "error klen"},
      {"1\t=\t0\tv", "error klen"},
      {"1\t=\tx\tv", "error klen"},
      {"1\t=\t-1\tv", "error klen"},
      {"1\t=\t+1\tv", "error klen"},
      {"1\t=\t1a0\tv", "error klen"},
      {"1\t=\t 1\tv", "error klen"},
      {"1\t=\t1", "error klen"},
      {"1\t=\t2\tv", "error klen"},
      {"1\t=\t3\tabcdefgh\tb", "error klen"},
      {"1\t=\t4294967296\tv", "error klen"},
      {"1\t=\t18446744073709551615\tv", "error klen"},
      {"1\t=\t18446744073709551616\tv", "error klen"},
      {"1\t=\t1\ta\x01", "error escape"},
      {"1\t=\t1\ta\x01\x39", "error escape"},
      {"1\t=\t1\ta\x01\x50", "error escape"},
      {"1\t=\t2\ta\x01\t\x40", "error escape"},
  });
}

TEST(Parser, LimitAndOffset) {
  check({
      {"1\t=\t1\tv\t10", "find 1 =('v') limit 10"},
      {"1\t=\t1\tv\t10\t20", "find 1 =('v') limit 10 offset 20"},
      {"1\t=\t1\tv\t0\t0", "find 1 =('v')"},
      {"1\t=\t1\tv\t18446744073709551615\t18446744073709551615",
       "find 1 =('v') limit 18446744073709551615 offset 18446744073709551615"},
      {"1\t=\t1\tv\t", "error limit"},
      {"1\t=\t1\tv\t-1\t0", "error limit"},
      {"1\t=\t1\tv\tx", "error limit"},
      {"1\t=\t1\tv\t\0"sv, "error limit"},
      {"1\t=\t1\tv\tFF\t=\t0\t1", "error limit"},
      {"1\t=\t1\tv\tZ", "error limit"},
      {"1\t=\t1\tv\t18446744073709551616", "error limit"},
      {"1\t=\t1\tv\t10\t", "error offset"},
      {"1\t=\t1\tv\t10\t-1", "error offset"},
      {"1\t=\t1\tv\t10\tU!", "error offset"},
      {"1\t=\t1\tv\t10\t18446744073709551616", "error offset"},
  });
}

TEST(Parser, LimitAndOffsetLeftOut) {
  check({
      {"1\t=\t1\tv\t@\t0\t1\ta", "find 1 =('v') in 0('a')"},
      {"1\t=\t1\tv\t5\t@\t0\t1\ta", "find 1 =('v') limit 5 in 0('a')"},
      {"1\t=\t1\tv\tF\t=\t0\ta", "find 1 =('v') skip unless 0='a'"},
      {"1\t=\t1\tv\t5\tW\t=\t0\ta", "find 1 =('v') limit 5 stop unless 0='a'"},
      {"1\t=\t1\tv\tU\ta", "find 1 =('v') update('a')"},
      {"1\t=\t1\tv\tU?\ta", "find 1 =('v') update rows_before('a')"},
      {"1\t=\t1\tv\t5\t+\t1", "find 1 =('v') limit 5 increment('1')"},
      {"1\t=\t1\tv\t-\t1", "find 1 =('v') decrement('1')"},
      {"1\t=\t1\tv\tD", "find 1 =('v') erase"},
      {"1\t=\t1\tv\t5\tD?", "find 1 =('v') limit 5 erase rows_before"},
  });
}

TEST(Parser, In) {
  check({
      {"1\t=\t1\t\t10\t0\t@\t0\t2\ta\tb", "find 1 =('') limit 10 in 0('a' 'b')"},
      {"1\t=\t2\tk\t\t10\t0\t@\t1\t1\t\0"sv, "find 1 =('k' '') limit 10 in 1(NULL)"},
      {"1\t=\t1\t\t10\t0\t@\t0\t2\t\x01\x42\t", "find 1 =('') limit 10 in 0('\\x02' '')"},
      {"1\t=\t1\t\t10\t0\t@\t0\t1\ta\tF\t=\t3\tx\tD",
       "find 1 =('') limit 10 in 0('a') skip unless 3='x' erase"},
      {"1\t=\t1\t\t10\t0\t@", "error icol"},
      {"1\t=\t1\t\t10\t0\t@\t", "error icol"},
      {"1\t=\t1\t\t10\t0\t@\tx\t1\ta", "error icol"},
      {"1\t=\t1\t\t10\t0\t@\t1\t1\ta", "error icol"},
      {"1\t=\t2\ta\tb\t10\t0\t@\t2\t1\ta", "error icol"},
      {"1\t=\t1\t\t10\t0\t@\t4294967296\t1\ta", "error icol"},
      {"1\t=\t1\t\t10\t0\t@\t0", "error invalueslen"},
      {"1\t=\t1\t\t10\t0\t@\t0\t", "error invalueslen"},
      {"1\t=\t1\t\t10\t0\t@\t0\t0", "error invalueslen"},
      {"1\t=\t1\t\t10\t0\t@\t0\tx\ta", "error invalueslen"},
      {"1\t=\t1\t\t10\t0\t@\t0\t1", "error invalueslen"},
      {"1\t=\t1\t\t10\t0\t@\t0\t3\ta\tb", "error invalueslen"},
      {"1\t=\t1\t\t10\t0\t@\t0\t3\tabcdef\tb", "error invalueslen"},
      {"1\t=\t1\t\t10\t0\t@\t0\t18446744073709551615\ta", "error invalueslen"},
      {"1\t=\t1\t\t10\t0\t@\t0\t1\ta\x01", "error escape"},
      // Only once, and only before the filters.
      {"1\t=\t1\t\t10\t0\t@\t0\t1\ta\t@\t0\t1\tb", "error modop"},
      {"1\t=\t1\t\t10\t0\tF\t=\t0\ta\t@\t0\t1\tb", "error modop"},
      {"1\t=\t1\t\t10\t0\t@@\t0\t1\ta", "error modop"},
  });
}

TEST(Parser, Filters) {
  check({
      {"1\t>\t1\tv\t9\t0\tF\t=\t0\ta", "find 1 >('v') limit 9 skip unless 0='a'"},
      {"1\t>\t1\tv\t9\t0\tW\t!=\t1\ta", "find 1 >('v') limit 9 stop unless 1!='a'"},
      {"1\t>\t1\tv\t9\t0\tF\t>\t0\ta\tW\t>=\t1\tb\tF\t<\t2\tc\tF\t<=\t3\td",
       "find 1 >('v') limit 9 skip unless 0>'a' stop unless 1>='b' skip unless 2<'c'"
       " skip unless 3<='d'"},
      {"1\t>\t1\tv\t9\t0\tF\t=\t0\t\0"sv, "find 1 >('v') limit 9 skip unless 0=NULL"},
      {"1\t>\t1\tv\t9\t0\tF\t=\t0\t", "find 1 >('v') limit 9 skip unless 0=''"},
      {"1\t>\t1\tv\t9\t0\tF\t=\t4294967295\t\x01\x4a",
       "find 1 >('v') limit 9 skip unless 4294967295='\\x0a'"},
      {"1\t>\t1\tv\t9\t0\tF\t=\t0\tU\tU\tnew",
       "find 1 >('v') limit 9 skip unless 0='U' update('new')"},
      {"1\t>\t1\tv\t9\t0\tFF\t=\t0\ta", "error filtertype"},
      {"1\t>\t1\tv\t9\t0\tW?\t=\t0\ta", "error filtertype"},
      {"1\t>\t1\tv\t9\t0\tF\t=\t0\ta\tWx\t=\t0\ta", "error filtertype"},
      {"1\t>\t1\tv\t9\t0\tF", "error filterop"},
      {"1\t>\t1\tv\t9\t0\tF\t", "error filterop"},
      {"1\t>\t1\tv\t9\t0\tF\t~\t0\ta", "error filterop"},
      {"1\t>\t1\tv\t9\t0\tF\tLIKE\t0\ta", "error filterop"},
      {"1\t>\t1\tv\t9\t0\tF\t<>\t0\ta", "error filterop"},
      {"1\t>\t1\tv\t9\t0\tF\t!\t0\ta", "error filterop"},
      {"1\t>\t1\tv\t9\t0\tF\t==\t0\ta", "error filterop"},
      {"1\t>\t1\tv\t9\t0\tF\t=", "error filterfld"},
      {"1\t>\t1\tv\t9\t0\tF\t=\t", "error filterfld"},
      {"1\t>\t1\tv\t9\t0\tF\t=\tx\ta", "error filterfld"},
      {"1\t>\t1\tv\t9\t0\tF\t=\t-1\ta", "error filterfld"},
      {"1\t>\t1\tv\t9\t0\tF\t=\t4294967296\ta", "error filterfld"},
      {"1\t>\t1\tv\t9\t0\tF\t=\t0", "error filterfld"},
      {"1\t>\t1\tv\t9\t0\tF\t=\t0\ta\x01z", "error escape"},
  });
}

TEST(Parser, Modifications) {
  check({
      {"1\t=\t1\tv\t9\t0\tU\ta\tb", "find 1 =('v') limit 9 update('a' 'b')"},
      {"1\t=\t1\tv\t9\t0\tU?\t\0\t"sv, "find 1 =('v') limit 9 update rows_before(NULL '')"},
      {"1\t=\t1\tv\t9\t0\tU\t\x01\x4d", "find 1 =('v') limit 9 update('\\x0d')"},
      {"1\t=\t1\tv\t9\t0\tU", "find 1 =('v') limit 9 update"},
      {"1\t=\t1\tv\t9\t0\t+\t1", "find 1 =('v') limit 9 increment('1')"},
      {"1\t=\t1\tv\t9\t0\t+?\t1", "find 1 =('v') limit 9 increment rows_before('1')"},
      {"1\t=\t1\tv\t9\t0\t-\t1", "find 1 =('v') limit 9 decrement('1')"},
      {"1\t=\t1\tv\t9\t0\t-?\t-1", "find 1 =('v') limit 9 decrement rows_before('-1')"},
      {"1\t=\t1\tv\t9\t0\tD", "find 1 =('v') limit 9 erase"},
      {"1\t=\t1\tv\t9\t0\tD?\tignored\t\x01", "find 1 =('v') limit 9 erase rows_before"},
      {"1\t=\t1\tv\t9\t0\t", "find 1 =('v') limit 9"},
      {"1\t=\t1\tv\t9\t0\t\tU\ta", "find 1 =('v') limit 9"},
      {"1\t=\t1\tv\t9\t0\tZ", "error modop"},
      {"1\t=\t1\tv\t9\t0\tu\ta", "error modop"},
      {"1\t=\t1\tv\t9\t0\tU!\ta", "error modop"},
      {"1\t=\t1\tv\t9\t0\t?\ta", "error modop"},
      {"1\t=\t1\tv\t9\t0\tU??\ta", "error modop"},
      {"1\t=\t1\tv\t9\t0\t\0"sv, "error modop"},
      {"1\t=\t1\tv\t9\t0\tU\ta\x01", "error escape"},
  });
}

TEST(Parser, Insert) {
  check({
      {"1\t+\t1\tv", "insert 1 ('v')"},
      {"1\t+\t3\ta\t\0\t"sv, "insert 1 ('a' NULL '')"},
      {"1\t+\t2\ta\x01\x40\tb", "insert 1 ('a\\x00' 'b')"},
      {"1\t+\t1\ta\tignored\t\x01", "insert 1 ('a')"},
      {"1\t+", "error klen"},
      {"1\t+\t0", "error klen"},
      {"1\t+\tx\ta", "error klen"},
      {"1\t+\t2\ta", "error klen"},
      {"1\t+\t99999999\ta", "error klen"},
      {"1\t+\t1\ta\x01", "error escape"},
  });
}

// What the session needs to know of a request that has a mistake.
TEST(Parser, TellsOfFaultyRequests) {
  struct Told {
    std::string_view line;
    bool has_index_id;
    bool is_modification;
    Kind kind;
  };
  Parser parser;
  for (const Told& told : {
           Told{"7\t=\t1\tv", true, false, Kind::find},
           Told{"7", true, false, Kind::find},
           Told{"7\t!!", true, false, Kind::find},
           Told{"7\t=\t0", true, false, Kind::find},
           Told{"7\t+", true, true, Kind::insert},
           Told{"7\t+\t0", true, true, Kind::insert},
           Told{"7\t+\t1\tv", true, true, Kind::insert},
           Told{"7\t=\t1\tv\tx\t0\tD", true, false, Kind::find},
           Told{"7\t=\t1\tv\t1\t0\tFF\tD", true, false, Kind::find},
           Told{"7\t=\t1\tv\t1\t0\t", true, false, Kind::find},
           Told{"7\t=\t1\tv\t1\t0\tD", true, true, Kind::find},
           Told{"7\t=\t1\tv\t1\t0\tZ", true, true, Kind::find},
           Told{"7\t=\t1\tv\t1\t0\tU\ta\x01", true, true, Kind::find},
           Told{"7\tS\t1\tv", true, false, Kind::find},
           Told{"7x\t+\t1\tv", false, false, Kind::find},
           Told{"P\t7", false, false, Kind::open_index},
           Told{"A\t1", false, false, Kind::auth},
       }) {
    Request request;
    (void)parser.parse(told.line, request);
    EXPECT_EQ(parser.has_index_id(), told.has_index_id) << describe(told.line);
    EXPECT_EQ(parser.is_modification(), told.is_modification) << describe(told.line);
    EXPECT_EQ(request.kind, told.kind) << describe(told.line);
    EXPECT_TRUE(!told.has_index_id || request.index_id == 7) << describe(told.line);
  }
  Request request;
  (void)parser.parse("", request);
  EXPECT_FALSE(parser.has_index_id());
}

// Nothing of one line shows in the next one's request.
TEST(Parser, StartsAnew) {
  Parser parser;
  Request request;
  constexpr auto full = "1\t=\t2\ta\x01\x40\tb\t9\t8\t@\t1\t1\tc\tF\t=\t0\td\tU?\te"sv;
  ASSERT_TRUE(parser.parse(full, request).ok());
  ASSERT_TRUE(parser.parse("2\t>\t1\tv", request).ok());
  EXPECT_EQ(describe(request), "find 2 >('v')");
  ASSERT_TRUE(parser.parse("P\t1\tdb\tt\ti\tc\tf", request).ok());
  ASSERT_TRUE(parser.parse("P", request).ok());
  EXPECT_EQ(describe(request), "open 0 ''''''''''");
}

std::string repeated(std::string_view text, std::size_t count) {
  std::string all;
  all.reserve(text.size() * count);
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST(Parser, BoundsValuesAndFilters) {
  Parser parser;
  Request request;
  const auto parsed = [&](const std::string& line) { return parser.parse(line, request); };
  const std::string most = std::to_string(max_values);
  const std::string too_many = std::to_string(max_values + 1);

  EXPECT_TRUE(parsed("1\t+\t" + most + repeated("\t", max_values)).ok());
  EXPECT_EQ(request.insert.values.size(), max_values);
  EXPECT_EQ(parsed("1\t+\t" + too_many + repeated("\t", max_values + 1)), Error::request_size);

  const std::string find = "1\t=\t1\tk\t1\t0";
  const std::string but_one = std::to_string(max_values - 1);
  EXPECT_TRUE(parsed(find + "\t@\t0\t" + but_one + repeated("\t", max_values - 1)).ok());
  EXPECT_EQ(request.find.in.values.size(), max_values - 1);
  EXPECT_EQ(parsed(find + "\t@\t0\t" + most + repeated("\t", max_values)), Error::request_size);
  EXPECT_TRUE(parsed(find + "\tU" + repeated("\t", max_values - 1)).ok());
  EXPECT_EQ(parsed(find + "\tU" + repeated("\t", max_values)), Error::request_size);

  EXPECT_TRUE(parsed(find + repeated("\tF\t=\t0\tv", max_filters)).ok());
  EXPECT_EQ(request.find.filters.size(), max_filters);
  EXPECT_EQ(parsed(find + repeated("\tF\t=\t0\tv", max_filters + 1)), Error::request_size);
}

TEST(Parser, ValueOf16Mebibytes) {
  const std::string plain(std::size_t{16} << 20, 'x');
  Parser parser;
  Request request;
  ASSERT_TRUE(parser.parse("1\t+\t1\t" + plain, request).ok());
  const std::string line = "1\t+\t2\t" + plain + "\x01\x40\t\x01\x41";
  ASSERT_TRUE(parser.parse(line, request).ok());
  EXPECT_EQ(request.insert.values[0].bytes, plain + '\0');
  EXPECT_EQ(request.insert.values[1].bytes, "\x01");
}

}  // namespace
}  // namespace hs::protocol
