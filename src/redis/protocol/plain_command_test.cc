#include "redis/protocol/plain_command.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "redis/protocol/request_reader.h"

namespace hs::redis {
namespace {

using namespace std::string_view_literals;

const std::string whole = "*3\r\n$4\r\nHGET\r\n$6\r\nuser:7\r\n$1\r\na\r\n";

TEST(PlainCommand, HasItsWordsAndItsSize) {
  std::array<std::string_view, 3> words;
  const std::string input = whole + "PING\r\n";
  const PlainCommand found = plain_command(input, words);
  ASSERT_EQ(found.words, 3U);
  EXPECT_EQ(found.size, whole.size());
  EXPECT_EQ(words[0], "HGET");
  EXPECT_EQ(words[1], "user:7");
  EXPECT_EQ(words[2], "a");
}

TEST(PlainCommand, IsNotSeenInAnythingElse) {
  std::array<std::string_view, 2> words;
  for (const std::string_view input :
       {""sv, "*"sv, "*1"sv, "*1\r"sv, "*0\r\n"sv, "*-1\r\n"sv, "GET a\r\n"sv, "*1\r\n$"sv,
        "*1\r\n$4\r\nPIN"sv, "*1\r\n$4\r\nPING"sv, "*1\r\n$4\r\nPING\r"sv, "*1\r\n$4\r\nPING\n\n"sv,
        "*1\r\n$5\r\nPING\r\n"sv, "*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n"sv,
        "*2\r\n$3\r\nGET\r\n$999999999\r\na\r\n"sv, "*1\r\n$9999999999\r\na\r\n"sv})
    EXPECT_EQ(plain_command(input, words).words, 0U) << input;
}

// Every beginning of a request, and every request with one byte changed: it is seen only where the reader
// reads just the same.
TEST(PlainCommand, IsWhatTheReaderReads) {
  const auto check = [](const std::string& input) {
    std::array<std::string_view, 4> words;
    const PlainCommand found = plain_command(input, words);
    if (found.words == 0) return;
    RequestReader reader;
    RequestProgress progress;
    ASSERT_EQ(reader.read(input, {}, progress), RequestReader::Found::request) << input;
    EXPECT_EQ(reader.size(), found.size) << input;
    ASSERT_EQ(reader.words().size(), found.words) << input;
    for (std::size_t i = 0; i < found.words; ++i) EXPECT_EQ(reader.words()[i], words[i]) << input;
  };
  for (std::size_t place = 0; place < whole.size(); ++place) {
    check(whole.substr(0, place));
    for (unsigned byte = 0; byte < 256; ++byte) {
      std::string input = whole;
      input[place] = static_cast<char>(byte);
      check(input);
    }
  }
}

}  // namespace
}  // namespace hs::redis
