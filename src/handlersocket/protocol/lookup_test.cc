#include "handlersocket/protocol/lookup.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "handlersocket/protocol/parser.h"

namespace hs::handlersocket {
namespace {

using namespace std::string_view_literals;

TEST(PlainLookup, HasItsIdItsKeyAndItsEnd) {
  std::array<store::Value, 4> key;
  const std::string_view input = "12\t=\t2\t42\tJan Novák\n1\t=\t1\t7\n";
  const PlainLookup found = plain_lookup(input, key);
  EXPECT_EQ(found.id, 12U);
  ASSERT_EQ(found.parts, 2U);
  EXPECT_EQ(key[0].bytes, "42");
  EXPECT_EQ(key[1].bytes, "Jan Novák");
  EXPECT_EQ(input.substr(found.end), "1\t=\t1\t7\n");
}

TEST(PlainLookup, IsNotSeenInAnythingElse) {
  std::array<store::Value, 2> key;
  for (const std::string_view input : {""sv,
                                       "\n"sv,
                                       "1"sv,
                                       "1\t"sv,
                                       "1\t=\t1\t7"sv,
                                       "1\t=\t1\n"sv,
                                       "1\t=\t0\n"sv,
                                       "1\t>\t1\t7\n"sv,
                                       "1\t=\t3\t7\t8\t9\n"sv,
                                       "1\t=\t1\t7\t10\t0\n"sv,
                                       "1\t=\t1\t\0\n"sv,
                                       "1\t=\t1\t\1I\n"sv,
                                       "1\t=\t1\t7\r\n"sv,
                                       "1\t=\t2\t7\n"sv,
                                       "P\t1\tdb\tt\ti\tc\n"sv,
                                       "\t=\t1\t7\n"sv,
                                       "1234567890\t=\t1\t7\n"sv,
                                       "1\t=\t1234567890\t7\n"sv,
                                       "-1\t=\t1\t7\n"sv,
                                       "1\t==\t1\t7\n"sv})
    EXPECT_EQ(plain_lookup(input, key).parts, 0U) << input;
}

// Every beginning of a find, and every find with one byte changed: it is seen only where the parser
// reads just the same.
TEST(PlainLookup, IsWhatTheParserReads) {
  const std::string whole = "3\t=\t2\tab\t7\n";
  for (std::size_t place = 0; place < whole.size(); ++place) {
    for (unsigned byte = 0; byte < 256; ++byte) {
      std::string input = whole;
      input[place] = static_cast<char>(byte);
      std::array<store::Value, 4> key;
      const PlainLookup found = plain_lookup(input, key);
      if (found.parts == 0) continue;
      Parser parser;
      Request request;
      const Status status = parser.parse(std::string_view(input).substr(0, found.end - 1), request);
      ASSERT_TRUE(status.ok()) << input;
      ASSERT_EQ(request.kind, Kind::find) << input;
      EXPECT_EQ(request.index_id, found.id) << input;
      ASSERT_EQ(request.selection.key.size(), found.parts) << input;
      for (std::size_t i = 0; i < found.parts; ++i)
        EXPECT_EQ(request.selection.key[i], key[i]) << input;
    }
  }
}

}  // namespace
}  // namespace hs::handlersocket
