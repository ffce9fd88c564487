// What a line means is in the test vectors (vectors_test.cc). These are the parser's other
// promises.
#include "handlersocket/protocol/parser.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "handlersocket/protocol/test_describe.h"

namespace hs::handlersocket {
namespace {

using namespace std::string_view_literals;

// What such a count is answered depends on the index, so it is none of the vectors.
TEST(Parser, ACountMayBeGreaterThanAnyLine) {
  Parser parser;
  Request request;
  EXPECT_EQ(parser.parse("1\t=\t4294967296\tv", request), status_of(Mistake::klen));
  EXPECT_EQ(parser.key_count(), std::uint64_t{1} << 32);
  EXPECT_EQ(parser.parse("1\t=\t18446744073709551615\tv", request), status_of(Mistake::klen));
  EXPECT_EQ(parser.key_count(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parser.parse("1\t=\t18446744073709551616\tv", request), status_of(Mistake::klen));
  EXPECT_EQ(parser.key_count(), 0U);
}

TEST(Parser, CountsTokensBehindAnInsertsValues) {
  Parser parser;
  Request request;
  ASSERT_TRUE(parser.parse("1\t+\t1\ta\tb\t\t\x01", request).ok());
  EXPECT_EQ(request.surplus, 3U);
  ASSERT_TRUE(parser.parse("1\t+\t1\ta", request).ok());
  EXPECT_EQ(request.surplus, 0U);
}

// What the session needs to know about a request with a mistake.
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
           Told{"7\t=\t1\tv\t\t\tD", true, true, Kind::modify},
           Told{"7\t=\t1\tv\t1\t0\tFF\tD", true, false, Kind::find},
           Told{"7\t=\t1\tv\t1\t0\t", true, false, Kind::find},
           Told{"7\t=\t1\tv\t1\t0\tD", true, true, Kind::modify},
           Told{"7\t=\t1\tv\t1\t0\tZ", true, true, Kind::modify},
           Told{"7\t=\t1\tv\t1\t0\tU\ta\x01", true, true, Kind::modify},
           Told{"7\t=\t1\tv\t1\t0\tset\t1\t0", true, true, Kind::modify},
           Told{"7\t=\t1\tv\t1\tset\t1\t0\t=\t1\t2", true, true, Kind::modify},
           Told{"7\t=\t1\tv\t1\t0\tseT", true, true, Kind::modify},
           Told{"7\tinsert", true, true, Kind::insert_rows},
           Told{"7\tinsert\t1\t1\ta\telse", true, true, Kind::insert_rows},
           Told{"7\tinser\t1\t1\ta", true, false, Kind::find},
           Told{"7\tS\t1\tv", true, false, Kind::find},
           Told{"7x\t+\t1\tv", false, false, Kind::find},
           Told{"P\t7", false, false, Kind::open_index},
           Told{"A\t1", false, false, Kind::auth},
           Told{"L\td\tt", false, false, Kind::list},
           Told{"echo\tx", false, false, Kind::echo},
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

// Nothing of one line appears in the request of the next line.
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

TEST(Parser, ReadsHello) {
  Parser parser;
  Request request;
  const auto parsed = [&](std::string_view line) {
    return describe(parser.parse(line, request), request);
  };
  EXPECT_EQ(parsed("H"), "hello");
  EXPECT_EQ(parsed("H\ttexts"), "hello texts");
  EXPECT_EQ(parsed("H\tnames\tof later\t\0\ttexts"sv), "hello texts names");
  EXPECT_EQ(parsed("HH"), "error cmd");
  Meets meets{};
  EXPECT_FALSE(parser.parse_in_group("H", request, meets).ok());
}

TEST(Parser, ReadsWhatIsAskedOfTheServer) {
  Parser parser;
  Request request;
  const auto parsed = [&](std::string_view line) {
    return describe(parser.parse(line, request), request);
  };
  EXPECT_EQ(parsed("H\twarnings"), "hello warnings");
  EXPECT_EQ(parsed("L"), "list");
  EXPECT_EQ(parsed("L\t"), "list ''");
  EXPECT_EQ(parsed("L\td"), "list 'd'");
  EXPECT_EQ(parsed("L\td\tt\1I"), "list 'd''t\\x01I'");
  EXPECT_EQ(parsed("L\td\tt\ti"), "error cmd");
  EXPECT_EQ(parsed("W"), "warnings");
  EXPECT_EQ(parsed("W\t"), "error cmd");
  EXPECT_EQ(parsed("echo\ta\1Ib"), "echo 'a\\x09b'");
  EXPECT_EQ(parsed("echo\t"), "echo ''");
  EXPECT_EQ(parsed("echo\t\0"sv), "echo NULL");
  EXPECT_EQ(parsed("echo\t\1"), "error escape");
  EXPECT_EQ(parsed("echo"), "error cmd");
  EXPECT_EQ(parsed("echo\ta\tb"), "error cmd");
  EXPECT_EQ(parsed("echos\ta"), "error cmd");
  parser.escape_names(true);
  EXPECT_EQ(parsed("L\td\tt\1I"), "list 'd''t\\x09'");
  EXPECT_EQ(parsed("L\td\1"), "error escape");
  Meets meets{};
  for (const char* const line : {"L", "W", "echo\ta"})
    EXPECT_EQ(parser.parse_in_group(line, request, meets), status_of(Mistake::cmd)) << line;
}

TEST(Parser, NamesAreEscapedIfTheClientHasSaidSo) {
  Parser parser;
  Request request;
  const auto parsed = [&](std::string_view line) {
    return describe(parser.parse(line, request), request);
  };
  constexpr auto line = "P\t1\td\tt\1I\t\0\tc\1I,\1A"sv;
  EXPECT_EQ(parsed(line), "open 1 'd''t\\x01I''\\x00''c\\x01I,\\x01A'''");
  parser.escape_names(true);
  EXPECT_EQ(parsed(line), "open 1 'd''t\\x09''\\x00''c\\x09,\\x01'''");
  EXPECT_EQ(parsed("P\t1\td\tt\1"), "error escape");
  EXPECT_EQ(parsed("P\t1\td\tt\t\t*\tf"), "open 1 'd''t'''*'f'");
}

TEST(Parser, ReadsAssignments) {
  Parser parser;
  Request request;
  const auto parsed = [&](std::string_view line) {
    return describe(parser.parse(line, request), request);
  };
  EXPECT_EQ(parsed("1\t=\t1\tv\t1\t0\tset\t1\t2\t=\ta\x01\x49"),
            "modify 1 =('v') assign 2='a\\x09'");
  EXPECT_EQ(parsed("1\t=\t1\tv\tset?\t3\t0\tnow\t\t1\tdefault\tx\t0\tmax\t\0"sv),
            "modify 1 =('v') assign rows_before 0now'' 1default'x' 0maxNULL");
  EXPECT_EQ(parsed("1\t=\t1\tv\t1\tset!\t2\t0\t+[\t1\t\0\t9\t1\t-[\t2\t0\t\0"sv),
            "modify 1 =('v') assign rows_after 0+['1'(NULL '9') 1-['2'('0' NULL)");
  EXPECT_EQ(parsed("1\t=\t1\tv\t1\t0\tset\t9\t0\t+\t1\t0\t-\t1\t0\tappend\t1\t0\tprepend\t1"
                   "\t0\tmin\t1\t0\tmax\t1\t0\t&\t1\t0\t|\t1\t0\t^\t1"),
            "modify 1 =('v') assign 0+'1' 0-'1' 0append'1' 0prepend'1' 0min'1' 0max'1' 0&'1' 0|'1'"
            " 0^'1'");
  EXPECT_EQ(parsed("1\t=\t1\tv\t1\t0\tU!\ta"), "modify 1 =('v') update rows_after('a')");
  EXPECT_EQ(parsed("1\t=\t1\tv\t1\t0\tU\ta"), "modify 1 =('v') update('a')");
}

TEST(Parser, ReadsInsertsOfRows) {
  Parser parser;
  Request request;
  const auto parsed = [&](std::string_view line) {
    return describe(parser.parse(line, request), request);
  };
  EXPECT_EQ(parsed("1\tinsert\t1\t1\ta\x01\x49"), "insert rows 1 ('a\\x09')");
  EXPECT_EQ(parsed("1\tinsert\t2\t2\ta\t\0\t\tb"sv), "insert rows 1 ('a' NULL)('' 'b')");
  EXPECT_EQ(parsed("1\tinsert\t1\t1\ta\telse\tfail"), "insert rows 1 ('a')");
  EXPECT_EQ(parsed("1\tinsert\t1\t1\ta\telse\tignore"), "insert rows 1 ('a') else ignore");
  EXPECT_EQ(parsed("1\tinsert\t1\t1\ta\telse\treplace"), "insert rows 1 ('a') else replace");
  EXPECT_EQ(parsed("1\tinsert\t1\t1\ta\telse\tupdate\t2\t0\tnew\t\t1\t+[\t1\t0\t9"),
            "insert rows 1 ('a') else update 0new'' 1+['1'('0' '9')");
  EXPECT_EQ(parsed("1\tinsert\t1\t1\ta\telse\tupdate\t1\t0\t=\tb\tF\t<\t2\tc\tF\t!=\t0\t\0"sv),
            "insert rows 1 ('a') else update 0='b' skip unless 2<'c' skip unless 0!=NULL");
  EXPECT_EQ(parsed("1\tinsert\t1\t1\tb"), "insert rows 1 ('b')");
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
  EXPECT_EQ(parsed("1\t+\t" + too_many + repeated("\t", max_values + 1)),
            status_of(Mistake::request_size));

  EXPECT_TRUE(
      parsed("1\tinsert\t2\t" + std::to_string(max_values / 2) + repeated("\t", max_values)).ok());
  EXPECT_EQ(request.insert_rows.values.size(), max_values);
  EXPECT_EQ(parsed("1\tinsert\t" + too_many + "\t1" + repeated("\t", max_values + 1)),
            status_of(Mistake::request_size));
  EXPECT_EQ(parsed("1\tinsert\t18446744073709551615\t18446744073709551615\ta\tb"),
            status_of(Mistake::klen));

  const std::string find = "1\t=\t1\tk\t1\t0";
  const std::string but_one = std::to_string(max_values - 1);
  EXPECT_TRUE(parsed(find + "\t@\t0\t" + but_one + repeated("\t", max_values - 1)).ok());
  EXPECT_EQ(request.selection.in.values.size(), max_values - 1);
  EXPECT_EQ(parsed(find + "\t@\t0\t" + most + repeated("\t", max_values)),
            status_of(Mistake::request_size));
  EXPECT_TRUE(parsed(find + "\tU" + repeated("\t", max_values - 1)).ok());
  EXPECT_EQ(parsed(find + "\tU" + repeated("\t", max_values)), status_of(Mistake::request_size));

  const auto assigned = [&](std::size_t count) {
    return find + "\tset\t" + std::to_string(count) + repeated("\t0\t+[\t1\t2\t3", count);
  };
  const std::string most_assigned = assigned(max_assignments);
  EXPECT_TRUE(parsed(most_assigned).ok());
  EXPECT_EQ(request.change.assignments.back().bounds[1].bytes, "3");
  EXPECT_EQ(parsed(assigned(max_assignments + 1)), status_of(Mistake::request_size));

  EXPECT_TRUE(parsed(find + repeated("\tF\t=\t0\tv", max_filters)).ok());
  EXPECT_EQ(request.selection.filters.size(), max_filters);
  EXPECT_EQ(parsed(find + repeated("\tF\t=\t0\tv", max_filters + 1)),
            status_of(Mistake::request_size));
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
}  // namespace hs::handlersocket
