#include "redis/protocol/request_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace hs::redis {
namespace {

using Found = RequestReader::Found;
using Words = std::vector<std::string>;
using namespace std::string_literals;

// What a reader finds in bytes that come in pieces of the given size.
struct Result {
  std::vector<Words> requests;
  std::string mistake;
  std::string left;
};

Result read_in_pieces(std::string_view bytes, std::size_t piece, const RequestLimits& limits = {}) {
  RequestReader reader;
  RequestProgress progress;
  Result result;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    result.left += bytes.substr(at, piece);
    while (true) {
      const Found found = reader.read(result.left, limits, progress);
      if (found == Found::incomplete) break;
      if (found == Found::mistake) {
        result.mistake = reader.mistake();
        return result;
      }
      if (found == Found::request)
        result.requests.emplace_back(reader.words().begin(), reader.words().end());
      result.left.erase(0, reader.size());
    }
  }
  return result;
}

std::string mistake_of(std::string_view bytes, const RequestLimits& limits = {}) {
  return read_in_pieces(bytes, bytes.size(), limits).mistake;
}

TEST(RequestReaderTest, ReadsArraysCutAnywhere) {
  const std::string bytes =
      "*3\r\n$4\r\nHGET\r\n$6\r\ndb.t:1\r\n$1\r\na\r\n*1\r\n$4\r\nPING\r\n"
      "*2\r\n$4\r\nECHO\r\n$4\r\n\r\n\r\n\r\n*0\r\n*-1\r\n*2\r\n$4\r\nECHO\r\n$0\r\n\r\n";
  const std::vector<Words> expected{
      {"HGET", "db.t:1", "a"}, {"PING"}, {"ECHO", "\r\n\r\n"}, {"ECHO", ""}};
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    const Result result = read_in_pieces(bytes, piece);
    EXPECT_EQ(result.requests, expected) << piece;
    EXPECT_EQ(result.left, "");
    EXPECT_EQ(result.mistake, "");
  }
}

TEST(RequestReaderTest, ReadsInlineCommandsCutAnywhere) {
  const std::string bytes =
      "PING\r\n  set  'a b'\t\"\\x41\\n\\\"\" \n\r\necho '\\'' \"\"\r\nx\0y\n"s;
  const std::vector<Words> expected{
      {"PING"}, {"set", "a b", "A\n\""}, {"echo", "'", ""}, {"x\0y"s}};
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    const Result result = read_in_pieces(bytes, piece);
    EXPECT_EQ(result.requests, expected) << piece;
    EXPECT_EQ(result.left, "");
  }
}

TEST(RequestReaderTest, SaysWhatIsWrongAsRedisDoes) {
  EXPECT_EQ(mistake_of("*x\r\n"), "Protocol error: invalid multibulk length");
  EXPECT_EQ(mistake_of("*9223372036854775808\r\n"), "Protocol error: invalid multibulk length");
  EXPECT_EQ(mistake_of("*1048577\r\n"), "Protocol error: invalid multibulk length");
  EXPECT_EQ(mistake_of("*1\r\n*1\r\n"), "Protocol error: expected '$', got '*'");
  EXPECT_EQ(mistake_of("*1\r\n:1\r\n"), "Protocol error: expected '$', got ':'");
  for (const std::string_view length :
       {"-1", "x", "", "01", "+1", "9223372036854775807", "9223372036854775808", "536870913"}) {
    EXPECT_EQ(mistake_of("*1\r\n$" + std::string(length) + "\r\nabcd"),
              "Protocol error: invalid bulk length")
        << length;
  }
  EXPECT_EQ(mistake_of("*" + std::string(70'000, '1')),
            "Protocol error: too big mbulk count string");
  EXPECT_EQ(mistake_of("*1\r\n$" + std::string(70'000, '1')),
            "Protocol error: too big bulk count string");
  EXPECT_EQ(mistake_of(std::string(70'000, 'a')), "Protocol error: too big inline request");
  EXPECT_EQ(mistake_of(std::string(70'000, 'a') + "\n"), "Protocol error: too big inline request");
  for (const std::string_view line :
       {"a 'b\r\n", "a \"b\r\n", "a \"b\"c\r\n", "'a'b\n", "\"\\\"\n"})
    EXPECT_EQ(mistake_of(line), "Protocol error: unbalanced quotes in request") << line;
}

TEST(RequestReaderTest, TakesLittleBeforeALogIn) {
  const RequestLimits limits = RequestLimits::before_log_in();
  EXPECT_EQ(mistake_of("*11\r\n", limits), "Protocol error: unauthenticated multibulk length");
  EXPECT_EQ(mistake_of("*1\r\n$16385\r\n", limits), "Protocol error: unauthenticated bulk length");
}

TEST(RequestReaderTest, LimitsShortWordsToo) {
  const std::string request = "*1\r\n$50\r\n" + std::string(50, 'a') + "\r\n";
  EXPECT_EQ(mistake_of(request, {.most_bulk_bytes = 49}), "Protocol error: invalid bulk length");
}

// The second look begins where the first one has ended.
TEST(RequestReaderTest, LooksAtALongArrayOnce) {
  RequestReader reader;
  RequestProgress progress;
  std::string bytes = "*100000\r\n";
  for (int i = 0; i < 50'000; ++i) bytes += "$1\r\na\r\n";
  EXPECT_EQ(reader.read(bytes, {}, progress), Found::incomplete);
  EXPECT_EQ(progress.words, 50'000u);
  EXPECT_EQ(progress.at, bytes.size());
  // What was looked at is not looked at again: it may be anything.
  std::string changed = bytes;
  changed[9] = '?';
  EXPECT_EQ(reader.read(changed, {}, progress), Found::incomplete);
  for (int i = 0; i < 50'000; ++i) bytes += "$1\r\na\r\n";
  EXPECT_EQ(reader.read(bytes, {}, progress), Found::request);
  EXPECT_EQ(reader.words().size(), 100'000u);
  EXPECT_EQ(reader.size(), bytes.size());
  EXPECT_EQ(progress.words, 0u);
}

TEST(RequestReaderTest, KnowsHowManyBytesAreWholeRequests) {
  EXPECT_EQ(whole_requests(""), 0u);
  EXPECT_EQ(whole_requests("*1\r\n$4\r\nPIN"), 0u);
  EXPECT_EQ(whole_requests("*1\r\n$4\r\nPING\r\n*1\r\n"), 14u);
  EXPECT_EQ(whole_requests("PING\r\nPI"), 6u);
  EXPECT_EQ(whole_requests("*x\r\n*"), 5u);  // nothing more is needed to answer the mistake
}

}  // namespace
}  // namespace hs::redis
