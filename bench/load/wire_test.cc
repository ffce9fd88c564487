#include "load/wire.h"

#include <gtest/gtest.h>

#include <array>

#include "load/options.h"

namespace hs::bench {
namespace {

ValueTemplate template_of(std::string_view text) { return ValueTemplate::parse(text).value(); }

Options options_for(Protocol protocol) {
  Options options;
  options.protocol = protocol;
  options.update_values = {template_of("u{n}")};
  options.insert_values = {template_of("{key}"), template_of("user_{key:07}")};
  options.stored_key = {template_of("user:{key}")};
  options.stored_value = {template_of("v{key}")};
  return options;
}

std::string write(const Options& options, Action action, std::span<const std::uint64_t> keys) {
  Buffer out;
  make_wire(options)->write(out, action, keys);
  return std::string(out.view());
}

// Counts replies, and checks that the tally is the same however the bytes are cut.
Tally count(const Options& options, std::string_view replies) {
  Tally whole;
  make_wire(options)->counter()->feed(replies, whole);
  for (std::size_t piece = 1; piece < 9; ++piece) {
    Tally cut;
    const auto counter = make_wire(options)->counter();
    for (std::size_t at = 0; at < replies.size(); at += piece) {
      counter->feed(replies.substr(at, piece), cut);
    }
    EXPECT_EQ(cut.replies, whole.replies) << piece;
    EXPECT_EQ(cut.rows, whole.rows) << piece;
    EXPECT_EQ(cut.misses, whole.misses) << piece;
    EXPECT_EQ(cut.errors, whole.errors) << piece;
  }
  return whole;
}

constexpr std::array<std::uint64_t, 1> one{42};
constexpr std::array<std::uint64_t, 2> two{42, 7};

TEST(HandlerSocketWire, Writes) {
  Options options = options_for(Protocol::handlersocket);
  EXPECT_EQ(write(options, Action::find, one), "1\t=\t1\t42\n");
  EXPECT_EQ(write(options, Action::find, two), "1\t=\t1\t42\t2\t0\t@\t0\t2\t42\t7\n");
  EXPECT_EQ(write(options, Action::update, one), "2\t=\t1\t42\t1\t0\tU\tu1\n");
  EXPECT_EQ(write(options, Action::read_modify_write, one), "2\t=\t1\t42\t1\t0\tU?\tu1\n");
  EXPECT_EQ(write(options, Action::insert, one), "3\t+\t2\t42\tuser_0000042\n");
  EXPECT_EQ(write(options, Action::insert, two),
            "3\tinsert\t2\t2\t42\tuser_0000042\t7\tuser_0000007\n");
  EXPECT_EQ(write(options, Action::upsert, one),
            "3\tinsert\t1\t2\t42\tuser_0000042\telse\tupdate\t1\t1\t+\t1\n");
  options.limit = 10;
  EXPECT_EQ(write(options, Action::find, one), "1\t>=\t1\t42\t10\n");
}

TEST(HandlerSocketWire, OpensWhatItsWorkNeeds) {
  Options options = options_for(Protocol::handlersocket);
  options.secret = "s";
  options.mix = {.find = 50, .update = 50};
  Buffer out;
  EXPECT_EQ(make_wire(options)->greet(out), 3U);
  EXPECT_EQ(out.view(),
            "A\t1\ts\nP\t1\ttest\tuser\tPRIMARY\tuser_name,user_email,created\n"
            "P\t2\ttest\tuser\tPRIMARY\tuser_email\n");
}

TEST(HandlerSocketWire, CountsRepliesMissesAndErrors) {
  const Tally tally = count(options_for(Protocol::handlersocket),
                            "0\t3\ta\tb\tc\n0\t3\n2\t1\tstmtnum\n0\t3\t\t\t\n");
  EXPECT_EQ(tally.replies, 4U);
  EXPECT_EQ(tally.rows, 2U);
  EXPECT_EQ(tally.misses, 1U);
  EXPECT_EQ(tally.errors, 1U);
  EXPECT_EQ(tally.first_error, "2\t1\tstmtnum");
}

TEST(HandlerSocketWire, CountsTheRowsOfMultiGets) {
  Options options = options_for(Protocol::handlersocket);
  options.keys_per_find = 2;
  const Tally tally = count(options, "0\t3\ta\tb\tc\td\te\tf\n0\t3\n0\t3\ta\tb\tc\n");
  EXPECT_EQ(tally.replies, 3U);
  EXPECT_EQ(tally.rows, 3U);
  EXPECT_EQ(tally.misses, 1U);
}

TEST(HandlerSocketWire, ChecksValues) {
  Options options = options_for(Protocol::handlersocket);
  options.check = {template_of("user_{key:07}")};
  const auto counter = make_wire(options)->counter();
  Tally tally;
  counter->expect(Action::find, one);
  counter->feed("0\t3\tuser_0000042\tb\tc\n", tally);
  EXPECT_EQ(tally.errors, 0U);
  counter->expect(Action::find, one);
  counter->feed("0\t3\tuser_0000043\tb\tc\n", tally);
  EXPECT_EQ(tally.errors, 1U);
  counter->expect(Action::find, two);
  counter->feed("0\t3\tuser_0000042\tb\tc\tuser_0000007\tb\tc\n", tally);
  EXPECT_EQ(tally.errors, 1U);
  EXPECT_EQ(tally.replies, 3U);
}

TEST(HandlerSocketWire, ChecksMultiGetsWithRepeatedAndMissingKeys) {
  Options options = options_for(Protocol::handlersocket);
  options.check = {template_of("{key}")};
  const auto counter = make_wire(options)->counter();
  Tally tally;
  constexpr std::array<std::uint64_t, 4> keys{42, 42, 1000, 7};
  counter->expect(Action::find, keys);
  counter->feed("0\t3\t42\tb\tc\t7\tb\tc\n", tally);
  EXPECT_EQ(tally.errors, 0U);
  counter->expect(Action::find, keys);
  counter->feed("0\t3\t7\tb\tc\t42\tb\tc\n", tally);
  EXPECT_EQ(tally.errors, 1U);
  counter->expect(Action::find, keys);
  counter->feed("0\t3\t42\tb\tc\t8\tb\tc\n", tally);
  EXPECT_EQ(tally.errors, 2U);
}

TEST(MemcachedWire, Writes) {
  const Options options = options_for(Protocol::memcached);
  EXPECT_EQ(write(options, Action::find, two), "get user:42 user:7\r\n");
  EXPECT_EQ(write(options, Action::update, one), "set user:42 0 0 3\r\nv42\r\n");
}

TEST(MemcachedWire, Counts) {
  const Tally tally = count(options_for(Protocol::memcached),
                            "VALUE user:1 0 5\r\nEND\r\n\r\nEND\r\nEND\r\nERROR\r\nSTORED\r\n");
  EXPECT_EQ(tally.replies, 4U);
  EXPECT_EQ(tally.rows, 1U);
  EXPECT_EQ(tally.misses, 1U);
  EXPECT_EQ(tally.errors, 1U);
}

TEST(MemcachedMetaWire, Writes) {
  const Options options = options_for(Protocol::memcached_meta);
  EXPECT_EQ(write(options, Action::find, one), "mg user:42 v\r\n");
  EXPECT_EQ(write(options, Action::update, one), "ms user:42 3\r\nv42\r\n");
}

TEST(MemcachedMetaWire, Counts) {
  const Tally tally = count(options_for(Protocol::memcached_meta),
                            "VA 4\r\nEN\r\n\r\nEN\r\nVA 0 k1\r\n\r\nHD\r\nCLIENT_ERROR no\r\n");
  EXPECT_EQ(tally.replies, 5U);
  EXPECT_EQ(tally.rows, 2U);
  EXPECT_EQ(tally.misses, 1U);
  EXPECT_EQ(tally.errors, 1U);
  EXPECT_EQ(tally.first_error, "CLIENT_ERROR no");
}

TEST(RedisWire, Writes) {
  const Options options = options_for(Protocol::redis);
  EXPECT_EQ(write(options, Action::find, one), "*2\r\n$3\r\nGET\r\n$7\r\nuser:42\r\n");
  EXPECT_EQ(write(options, Action::find, two),
            "*3\r\n$4\r\nMGET\r\n$7\r\nuser:42\r\n$6\r\nuser:7\r\n");
  EXPECT_EQ(write(options, Action::update, one),
            "*3\r\n$3\r\nSET\r\n$7\r\nuser:42\r\n$3\r\nv42\r\n");
}

TEST(RedisHashWire, Writes) {
  Options options = options_for(Protocol::redis_hash);
  options.columns = "a,bc";
  options.stored_value = {*ValueTemplate::parse("v{key}\tw")};
  EXPECT_EQ(write(options, Action::find, one),
            "*4\r\n$5\r\nHMGET\r\n$7\r\nuser:42\r\n$1\r\na\r\n$2\r\nbc\r\n");
  EXPECT_EQ(write(options, Action::update, one),
            "*6\r\n$4\r\nHSET\r\n$7\r\nuser:42\r\n$1\r\na\r\n$3\r\nv42\r\n$2\r\nbc\r\n$1\r\nw\r\n");
}

TEST(RedisHashWire, ReadsAll) {
  Options options = options_for(Protocol::redis_hash);
  options.columns = "*";
  EXPECT_EQ(write(options, Action::find, one), "*2\r\n$7\r\nHGETALL\r\n$7\r\nuser:42\r\n");
  const Tally tally = count(options, "*4\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$0\r\n\r\n*0\r\n");
  EXPECT_EQ(tally.replies, 2U);
  EXPECT_EQ(tally.rows, 4U);
  EXPECT_EQ(tally.misses, 1U);
}

TEST(RedisWire, Counts) {
  const Tally tally = count(options_for(Protocol::redis),
                            "$3\r\n$1\r\r\n$-1\r\n+OK\r\n-ERR no\r\n*2\r\n$1\r\na\r\n$-1\r\n");
  EXPECT_EQ(tally.replies, 5U);
  EXPECT_EQ(tally.rows, 2U);
  EXPECT_EQ(tally.misses, 2U);
  EXPECT_EQ(tally.errors, 1U);
  EXPECT_EQ(tally.first_error, "-ERR no");
}

std::string frame(char kind, std::string_view message) {
  return std::string{static_cast<char>(message.size() + 1), '\0', '\0', '\0', kind} +
         std::string(message);
}

TEST(MysqlxWire, Writes) {
  Options options = options_for(Protocol::mysqlx);
  // Statement 1. Its argument is a scalar of type 2, with the number in field 3. No names of
  // columns are asked for.
  EXPECT_EQ(write(options, Action::find, one),
            frame(41, "\x08\x01\x12\x08\x08\x01\x12\x04\x08\x02\x18\x2a\x18\x01"));
  // Statement 2. A scalar of type 8 is a string in field 9, with the bytes in field 1.
  EXPECT_EQ(write(options, Action::update, one),
            frame(41,
                  "\x08\x02\x12\x0c\x08\x01\x12\x08\x08\x08\x4a\x04\x0a\x02u1"
                  "\x12\x08\x08\x01\x12\x04\x08\x02\x18\x2a\x18\x01"));
  // Each byte holds seven bits, the lowest first.
  constexpr std::array<std::uint64_t, 1> large{300};
  EXPECT_EQ(write(options, Action::find, large),
            frame(41, "\x08\x01\x12\x09\x08\x01\x12\x05\x08\x02\x18\xac\x02\x18\x01"));
}

TEST(MysqlxWire, LogsInAndPrepares) {
  Options options = options_for(Protocol::mysqlx);
  options.columns = "a,b";
  Buffer out;
  options.user = "root";
  options.password = "s";
  EXPECT_EQ(make_wire(options)->greet(out), 2U);
  const std::string_view bytes = out.view();
  EXPECT_TRUE(bytes.starts_with(frame(4, std::string_view("\x0a\x05PLAIN\x12\x07\0root\0s", 16))));
  EXPECT_TRUE(bytes.ends_with("SELECT a,b FROM test.user WHERE user_id = ?"));
  options.keys_per_find = 3;
  out.clear();
  make_wire(options)->greet(out);
  EXPECT_TRUE(out.view().ends_with(" WHERE user_id IN (?,?,?)"));
}

TEST(MysqlxWire, Counts) {
  const std::string found = frame(12, "column") + frame(13, "row") + frame(14, "") + frame(17, "");
  const std::string missed =
      frame(11, "notice") + frame(12, "column") + frame(14, "") + frame(17, "");
  const Tally tally = count(options_for(Protocol::mysqlx),
                            frame(0, "") + found + missed + found + frame(1, "no such table"));
  EXPECT_EQ(tally.replies, 5U);
  EXPECT_EQ(tally.rows, 2U);
  EXPECT_EQ(tally.misses, 1U);
  EXPECT_EQ(tally.errors, 1U);
  EXPECT_EQ(tally.first_error, "no such table");
}

TEST(ValueTemplate, RefusesWhatItDoesNotKnow) {
  EXPECT_FALSE(ValueTemplate::parse("{other}").has_value());
  EXPECT_FALSE(ValueTemplate::parse("{key").has_value());
  EXPECT_FALSE(ValueTemplate::parse("{key:x}").has_value());
  EXPECT_FALSE(ValueTemplate::parse("{key:21}").has_value());
  EXPECT_TRUE(ValueTemplate::parse("").has_value());
}

}  // namespace
}  // namespace hs::bench
