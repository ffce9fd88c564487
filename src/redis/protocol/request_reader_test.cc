#include "redis/protocol/request_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
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

std::string array_of(const Words& words) {
  std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words)
    bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  return bytes;
}

// A reader that is told of each request that it has a key, and the words of the request that it has read last. It is
// compared with one that is told of none.
class KeepingReader {
 public:
  // The input ends behind the request, so that nobody reads on.
  std::uint64_t read(const std::string& bytes, const RequestLimits& limits = {}) {
    const std::unique_ptr<char[]> input(new char[bytes.size()]);
    std::ranges::copy(bytes, input.get());
    const std::string_view view(input.get(), bytes.size());
    RequestProgress progress;
    const Found found = reader_.read(view, limits, progress);
    if (found == Found::request) reader_.keep_if_repeated();
    RequestReader other;
    RequestProgress of_other;
    EXPECT_EQ(found, other.read(view, limits, of_other)) << bytes;
    if (found != Found::request) return 0;
    EXPECT_EQ(reader_.words(), other.words()) << bytes;
    EXPECT_EQ(reader_.size(), other.size()) << bytes;
    return reader_.repeated();
  }
  void give_back() { reader_.give_back(); }

 private:
  RequestReader reader_;
};

std::string hmget(const std::string& key, const std::string& field = "name") {
  return array_of({"HMGET", key, field, "email"});
}

TEST(RepeatedRequestTest, IsKeptTheSecondTime) {
  KeepingReader reader;
  EXPECT_EQ(reader.read(hmget("db.t:1")), 0u);
  const std::uint64_t kept = reader.read(hmget("db.t:22"));
  EXPECT_NE(kept, 0u);
  for (const std::size_t size : {0, 1, 9, 10, 99})
    EXPECT_EQ(reader.read(hmget(std::string(size, 'k'))), kept) << size;
  reader.give_back();
  EXPECT_EQ(reader.read(hmget("db.t:1")), kept);
}

TEST(RepeatedRequestTest, IsAnotherOneIfAnythingButTheKeyDiffers) {
  const std::vector<std::string> others{array_of({"hmget", "k", "name", "email"}),
                                        hmget("k", "nama"),
                                        hmget("k", "names"),
                                        array_of({"HMGET", "k", "name", "emaik"}),
                                        hmget("k") + "PING",
                                        array_of({"HMGET", "k", "name"}),
                                        array_of({"HMGET", "k"}),
                                        hmget(std::string(100, 'k')),
                                        "HMGET k name email\r\n",
                                        "*04\r\n" + hmget("k").substr(4),
                                        "PING\r\n"};
  for (const std::string& other : others) {
    KeepingReader reader;
    reader.read(hmget("a"));
    const std::uint64_t kept = reader.read(hmget("b"));
    const std::uint64_t number = reader.read(other);
    EXPECT_EQ(number == kept, other.starts_with(hmget("k"))) << other;
    reader.read(hmget("c"));
    reader.read(hmget("d"));
  }
}

TEST(RepeatedRequestTest, EachKeptOneHasANumberOfItsOwn) {
  KeepingReader reader;
  reader.read(hmget("a"));
  const std::uint64_t first = reader.read(hmget("b"));
  reader.read(array_of({"GET", "a"}));
  const std::uint64_t second = reader.read(array_of({"GET", "b"}));
  reader.read(hmget("c"));
  const std::uint64_t third = reader.read(hmget("d"));
  EXPECT_NE(first, 0u);
  EXPECT_NE(second, 0u);
  EXPECT_NE(second, first);
  EXPECT_NE(third, second);
  EXPECT_NE(third, first);
}

TEST(RepeatedRequestTest, MayBeCutAnywhere) {
  KeepingReader reader;
  reader.read(hmget("a"));
  const std::uint64_t kept = reader.read(hmget("b"));
  const std::string next = hmget("key");
  for (std::size_t size = 0; size < next.size(); ++size) {
    EXPECT_EQ(reader.read(next.substr(0, size)), 0u) << size;
    reader.read(hmget("a"));
    reader.read(hmget("b"));
  }
  EXPECT_NE(reader.read(next), 0u);
  EXPECT_NE(kept, 0u);
}

TEST(RepeatedRequestTest, HasLimits) {
  KeepingReader reader;
  const auto long_one = [](std::size_t words, std::size_t bytes) {
    Words all(words, "f");
    all.front() = "HMGET";
    all.back() = std::string(bytes, 'f');
    return array_of(all);
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(reader.read(long_one(17, 1)), 0u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(reader.read(long_one(4, 512)), 0u);
  reader.read(long_one(16, 9));
  EXPECT_NE(reader.read(long_one(16, 9)), 0u);
  // A client that has not logged in may have fewer words.
  reader.read(long_one(16, 9), RequestLimits::before_log_in());
  reader.read(hmget("a"));
  EXPECT_NE(reader.read(hmget("b")), 0u);
  reader.read(hmget(std::string(50, 'k')), {.most_bulk_bytes = 49});
}

// Also if the last request of a pass is one that repeats another.
TEST(RepeatedRequestTest, TheMemoryOfALargeRequestIsGivenBack) {
  RequestReader reader;
  RequestProgress progress;
  ASSERT_EQ(reader.read(array_of(Words(10'000, "w")), {}, progress), Found::request);
  const std::string short_one = hmget("a");
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(reader.read(short_one, {}, progress), Found::request);
    reader.keep_if_repeated();
  }
  EXPECT_NE(reader.repeated(), 0u);
  const std::string another = array_of({"PING"});
  ASSERT_EQ(reader.read(another, {}, progress), Found::request);
  EXPECT_GE(reader.words().capacity(), 10'000u);
  ASSERT_EQ(reader.read(short_one, {}, progress), Found::request);
  reader.give_back();
  ASSERT_EQ(reader.read(another, {}, progress), Found::request);
  EXPECT_LT(reader.words().capacity(), 10'000u);
}

TEST(RepeatedRequestTest, StaysWhenOthersCome) {
  KeepingReader reader;
  reader.read(hmget("a"));
  const std::uint64_t kept = reader.read(hmget("b"));
  for (const std::string& other : {std::string(), std::string("*2"), std::string("PING\r\n"),
                                   array_of({"GET", "k"}), array_of({"HMGET", "k", "f"})}) {
    EXPECT_EQ(reader.read(other), 0u) << other;
    EXPECT_EQ(reader.read(hmget("c")), kept) << other;
  }
}

TEST(RepeatedRequestTest, CommandsInTurnAreNotKept) {
  KeepingReader reader;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(reader.read(array_of({"GET", "k"})), 0u);
    EXPECT_EQ(reader.read(array_of({"TTL", "k"})), 0u);
  }
}

TEST(RepeatedRequestTest, NothingIsKeptOfARequestThatHasNoKey) {
  RequestReader reader;
  RequestProgress progress;
  const std::string bytes = array_of({"AUTH", "user", "password"});
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(reader.read(bytes, {}, progress), Found::request);
    EXPECT_EQ(reader.repeated(), 0u);
    EXPECT_EQ(reader.words()[2].data(), bytes.data() + bytes.find("password"));
  }
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
