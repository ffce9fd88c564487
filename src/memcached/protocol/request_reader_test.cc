#include "memcached/protocol/request_reader.h"

#include <gtest/gtest.h>

#include <string>

#include "memcached/protocol/binary_packet.h"
#include "memcached/protocol/test_packet.h"

namespace hs::memcached {
namespace {

using Found = RequestReader::Found;

// What the reader makes of some bytes, in words.
std::string read(std::string_view input, RequestLimits limits = {}, bool is_binary = false) {
  RequestReader reader;
  switch (reader.read(input, is_binary, limits)) {
    case Found::incomplete: return "incomplete";
    case Found::ends: return "ends";
    case Found::request: break;
  }
  const Request& request = reader.request();
  std::string text;
  if (request.action == Action::mistake) append_text(request.mistake, text);
  if (reader.thrown_away() != 0) text += " throws " + std::to_string(reader.thrown_away());
  if (reader.ends()) text += " ends";
  const std::size_t left = input.size() - reader.size();
  if (left != reader.thrown_away()) text += " leaves " + std::to_string(left);
  return text;
}

Request request_of(RequestReader& reader, std::string_view input, bool is_binary = false) {
  EXPECT_EQ(reader.read(input, is_binary, {}), Found::request) << input;
  EXPECT_EQ(reader.request().mistake, Status{}) << input;
  EXPECT_EQ(reader.size(), input.size()) << input;
  return reader.request();
}

TEST(MemcachedRequestReaderTest, ALineIsWholeAtItsEnd) {
  EXPECT_EQ(read(""), "incomplete");
  EXPECT_EQ(read("get a"), "incomplete");
  EXPECT_EQ(read("get a\r"), "incomplete");
  EXPECT_EQ(read("get a\r\n"), "");
  EXPECT_EQ(read("get a\nget b\n"), " leaves 6");
  EXPECT_EQ(read("set a 0 0 3\r\nabc\r"), "incomplete");
  EXPECT_EQ(read("set a 0 0 3\r\nabc\r\n"), "");
  EXPECT_EQ(read("set a 0 0 0\r\n\r\n"), "");
}

TEST(MemcachedRequestReaderTest, ALongLineIsAGetOrNothing) {
  const std::string many(3000, 'x');
  EXPECT_EQ(read(many), "ends");
  EXPECT_EQ(read("set " + many), "ends");
  EXPECT_EQ(read("get " + many), "incomplete");
  EXPECT_EQ(read("get " + many + "\r\n"), "CLIENT_ERROR bad command line format");
  std::string keys;
  for (int i = 0; i < 1000; ++i) keys += " key" + std::to_string(i);
  EXPECT_EQ(read("get" + keys + "\r\n"), "");
  EXPECT_EQ(read("gats 5" + keys + "\r\n"), "");
  EXPECT_EQ(read("get " + std::string(RequestReader::most_bytes_of_keys, 'x')), "ends");
}

TEST(MemcachedRequestReaderTest, MistakesAreInMemcachedsWords) {
  EXPECT_EQ(read("\r\n"), "CLIENT_ERROR bad command line format");
  EXPECT_EQ(read("GET a\r\n"), "ERROR");
  EXPECT_EQ(read(" get a\r\n"), "ERROR");
  EXPECT_EQ(read("get\r\n"), "CLIENT_ERROR bad command line format");
  EXPECT_EQ(read("get a " + std::string(251, 'k') + "\r\n"),
            "CLIENT_ERROR bad command line format");
  EXPECT_EQ(read("get " + std::string(250, 'k') + "\r\n"), "");
  EXPECT_EQ(read("incr a -1\r\n"), "CLIENT_ERROR invalid numeric delta argument");
  EXPECT_EQ(read("incr a 18446744073709551616\r\n"), "CLIENT_ERROR invalid numeric delta argument");
  EXPECT_EQ(read("touch a x\r\n"), "CLIENT_ERROR invalid exptime argument");
  EXPECT_EQ(read("verbosity x\r\n"), "CLIENT_ERROR bad command line format");
  EXPECT_EQ(read("verbosity 1 2\r\n"), "");
  EXPECT_EQ(read("gat x a\r\n"), "CLIENT_ERROR invalid exptime argument");
}

TEST(MemcachedRequestReaderTest, TheValueBehindAMistakeIsNoCommand) {
  EXPECT_EQ(read("set a x 0 3\r\n"), "CLIENT_ERROR bad command line format throws 5 leaves 0");
  EXPECT_EQ(read("set a x 0 3\r\nabc\r\n"), "CLIENT_ERROR bad command line format throws 5");
  EXPECT_EQ(read("set a 0 0 x\r\nabc\r\n"), "CLIENT_ERROR bad command line format leaves 5");
  EXPECT_EQ(read("set a 0 0 -1\r\nabc\r\n"), "CLIENT_ERROR bad command line format leaves 5");
  EXPECT_EQ(read("set a 0 0 3\r\nabcd\r\n"), "CLIENT_ERROR bad data chunk leaves 1");
  EXPECT_EQ(read("ms a 3 Z\r\nabc\r\n"), "CLIENT_ERROR invalid flag throws 5");
  EXPECT_EQ(read("ms a 3 ?\r\nabc\r\n"), "CLIENT_ERROR bad command line format throws 5");
  EXPECT_EQ(read("set a 0 0 11\r\n", {.most_value_bytes = 10}),
            "SERVER_ERROR object too large for cache throws 13 leaves 0");
}

TEST(MemcachedRequestReaderTest, TextHasNumbersAndNoreply) {
  RequestReader reader;
  Request request = request_of(reader, "set key 7 -1 3 noreply\r\nabc\r\n");
  EXPECT_EQ(request.action, Action::set);
  EXPECT_EQ(request.key, "key");
  EXPECT_EQ(request.value, "abc");
  EXPECT_EQ(request.flags, 7U);
  EXPECT_EQ(request.exptime, -1);
  EXPECT_TRUE(request.is_quiet);
  request = request_of(reader, "cas key 4294967297 0 1 18446744073709551615\r\nx\r\n");
  EXPECT_EQ(request.flags, 1U);
  EXPECT_EQ(request.compared, 18446744073709551615U);
  EXPECT_FALSE(request.is_quiet);
  request = request_of(reader, "decr key 5\r\n");
  EXPECT_EQ(request.action, Action::decrement);
  EXPECT_EQ(request.delta, 5U);
  request = request_of(reader, "gats 10 a  b\r\n");
  EXPECT_EQ(request.exptime, 10);
  EXPECT_EQ(request.key, "a");
  EXPECT_EQ(take_word(request.more_keys), "b");
  EXPECT_EQ(take_word(request.more_keys), "");
  request = request_of(reader, "delete a 0 noreply\r\n");
  EXPECT_TRUE(request.is_quiet);
  request = request_of(reader, "flush_all 10 noreply\r\n");
  EXPECT_EQ(request.exptime, 10);
}

TEST(MemcachedRequestReaderTest, MetaHasFlags) {
  RequestReader reader;
  Request request = request_of(reader, "mg YWI= b v k T30 Oab\r\n");
  EXPECT_EQ(request.action, Action::touch_and_get);
  EXPECT_EQ(request.key, "ab");
  EXPECT_EQ(request.written_key, "YWI=");
  EXPECT_EQ(request.exptime, 30);
  EXPECT_TRUE(request.shows_value);
  EXPECT_EQ(request.meta_flags.size(), 5U);
  request = request_of(reader, "ms a 2 MP N10 F3\r\nxy\r\n");
  EXPECT_EQ(request.action, Action::prepend);
  EXPECT_TRUE(request.creates);
  EXPECT_EQ(request.exptime_of_new, 10);
  EXPECT_EQ(request.flags, 3U);
  request = request_of(reader, "ma a MDecr D3 J4 N0 q\r\n");
  EXPECT_EQ(request.action, Action::decrement);
  EXPECT_EQ(request.delta, 3U);
  EXPECT_EQ(request.initial, 4U);
  EXPECT_TRUE(request.creates && request.is_quiet);
  EXPECT_EQ(read("mg\r\n"), "CLIENT_ERROR bad command line format");
  EXPECT_EQ(read("mg a v v\r\n"), "CLIENT_ERROR duplicate flag");
  EXPECT_EQ(read("ma a v v\r\n"), "CLIENT_ERROR invalid or duplicate flag");
  EXPECT_EQ(read("mg a ?\r\n"), "CLIENT_ERROR bad command line format");
  EXPECT_EQ(read("mg a N30\r\n"), "CLIENT_ERROR invalid flag");
  EXPECT_EQ(read("mg YWI b\r\n"), "CLIENT_ERROR error decoding key");
  EXPECT_EQ(read("mg a Tx\r\n"), "CLIENT_ERROR bad token in command line format");
  EXPECT_EQ(read("mg a O" + std::string(32, '1') + "\r\n"), "CLIENT_ERROR opaque token too long");
  EXPECT_EQ(read("ms a 1 MX\r\n1\r\n"), "CLIENT_ERROR invalid mode for ms M token throws 3");
  EXPECT_EQ(read("mx a\r\n"), "ERROR");
  EXPECT_EQ(read("m\r\n"), "CLIENT_ERROR bad command line format");
  EXPECT_EQ(read("x\r\n"), "CLIENT_ERROR bad command line format");
}

TEST(MemcachedRequestReaderTest, ALogInIsASet) {
  const RequestLimits limits{.most_value_bytes = 100, .must_log_in = true};
  EXPECT_EQ(read("get a\r\n", limits), "CLIENT_ERROR unauthenticated");
  EXPECT_EQ(read("set a 0 0 9\r\nuser pass\r\n", limits), "");
  EXPECT_EQ(read("set a 0 0 101\r\n", limits), "CLIENT_ERROR unauthenticated ends");
  EXPECT_EQ(read("add a 0 0 1\r\nx\r\n", limits), "CLIENT_ERROR unauthenticated ends leaves 3");
  EXPECT_EQ(read(std::string(3000, 'x'), limits), "ends");
  RequestReader reader;
  ASSERT_EQ(reader.read("set a 0 0 8\r\nuser a b\r\n", false, limits), Found::request);
  Credentials credentials;
  ASSERT_TRUE(read_credentials(reader.request(), credentials));
  EXPECT_EQ(credentials.user, "user");
  EXPECT_EQ(credentials.password, "a b");
}

TEST(MemcachedRequestReaderTest, ABinaryPacketHasAHeader) {
  RequestReader reader;
  const std::string set = packet(0x01, "key", std::string("\0\0\0\5\0\0\0\7", 8), "abc", 9, 0xfeed);
  const Request request = request_of(reader, set, true);
  EXPECT_EQ(request.action, Action::set);
  EXPECT_EQ(request.key, "key");
  EXPECT_EQ(request.value, "abc");
  EXPECT_EQ(request.flags, 5U);
  EXPECT_EQ(request.exptime, 7);
  EXPECT_EQ(request.compared, 9U);
  EXPECT_EQ(request.opaque, 0xfeedU);
  EXPECT_EQ(read(set.substr(0, 30), {}, true), "incomplete");
  EXPECT_EQ(read(set.substr(0, 3), {}, true), "incomplete");
  EXPECT_EQ(read("get a\r\n", {}, true), "ends");
  EXPECT_EQ(read(packet(0x77, "key"), {}, true), "ERROR throws 3");
  EXPECT_EQ(read(packet(0x00, ""), {}, true), "CLIENT_ERROR Invalid arguments ends");
  EXPECT_EQ(read(packet(0x00, std::string(251, 'k')), {}, true),
            "CLIENT_ERROR Invalid arguments ends leaves 251");
  EXPECT_EQ(read(packet(0x01, "a", "", "v"), {}, true),
            "CLIENT_ERROR Invalid arguments ends leaves 2");
  EXPECT_EQ(
      read(packet(0x01, "a", std::string(8, '\0'), "valuevalue1"), {.most_value_bytes = 10}, true),
      "SERVER_ERROR object too large for cache throws 20");
  const RequestLimits limits{.must_log_in = true};
  EXPECT_EQ(read(packet(0x00, "a"), limits, true), "CLIENT_ERROR unauthenticated ends leaves 1");
  EXPECT_EQ(read(packet(0x0b, ""), limits, true), "");
}

TEST(MemcachedRequestReaderTest, PlainNamesAUserAndAPassword) {
  RequestReader reader;
  const std::string plain = packet(0x21, "PLAIN", "", std::string("as\0user\0pass", 12));
  ASSERT_EQ(reader.read(plain, true, {.must_log_in = true}), Found::request);
  Credentials credentials;
  ASSERT_TRUE(read_credentials(reader.request(), credentials));
  EXPECT_EQ(credentials.user, "user");
  EXPECT_EQ(credentials.password, "pass");
  const std::string other = packet(0x21, "SCRAM", "", "x");
  ASSERT_EQ(reader.read(other, true, {}), Found::request);
  EXPECT_FALSE(read_credentials(reader.request(), credentials));
}

}  // namespace
}  // namespace hs::memcached
