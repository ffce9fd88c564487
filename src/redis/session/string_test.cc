#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "keys/items.h"
#include "redis/session/test_client.h"
#include "store/sample_tables.h"

namespace hs::redis {
namespace {

std::int64_t now_ms = 0;

// A container whose key has two parts, and whose value has two columns.
void add_table_of_two(store::MemoryDatabase& database) {
  database.add_table({"hs",
                      "two",
                      {{.name = "a", .nullable = false},
                       {.name = "b", .integer = true, .nullable = false},
                       {.name = "x"},
                       {.name = "y"}},
                      {{"PRIMARY", {0, 1}, true}}});
}

// A container whose key the server makes if it is 0.
void add_table_of_numbers(store::MemoryDatabase& database) {
  database.add_table(
      {"hs",
       "numbered",
       {{.name = "id", .integer = true, .nullable = false, .auto_increment = true}, {.name = "v"}},
       {{"PRIMARY", {0}, true}}});
}

// One whose values may have the separator in them, with a cas and an expiry.
void add_lasting_table(store::MemoryDatabase& database) {
  database.add_table({"hs",
                      "lasting",
                      {{.name = "k", .nullable = false},
                       {.name = "x"},
                       {.name = "y"},
                       {.name = "c", .integer = true, .nullable = false},
                       {.name = "e", .integer = true}},
                      {{"PRIMARY", {0}, true}}});
}

class RedisStringTest : public ::testing::Test {
 protected:
  RedisStringTest() {
    store::add_container_tables(server_.database);
    add_table_of_two(server_.database);
    add_table_of_numbers(server_.database);
    add_lasting_table(server_.database);
    auto source = std::make_shared<keys::ContainerSource>();
    EXPECT_TRUE(keys::read_source("handlersocket.containers", *source));
    source->note_mistake = [this](const auto& one) {
      noted_ += one.name + ": " + one.mistake + "\n";
    };
    server_.config->containers = source;
    now_ms = 1'000'000;
    server_.config->wall_ms = [] { return now_ms; };
    server_.start();
    client_ = std::make_unique<TestClient>(server_);
    add_container({"two", "hs", "two", "a b", "x,y", "0", "0", "0"});
  }
  // By way of rows as hashes, which need no container.
  void add_container(std::array<std::string_view, 8> row) {
    const std::string key = "handlersocket.containers:" + std::string(row[0]);
    EXPECT_EQ(say({"HSET", key, "db_schema", row[1], "db_table", row[2], "key_columns", row[3],
                   "value_columns", row[4], "flags", row[5], "cas_column", row[6],
                   "expire_time_column", row[7], "unique_idx_name_on_key", "PRIMARY"}),
              ":8\r\n");
    now_ms += 1000;
  }
  std::string say(std::initializer_list<std::string_view> words) { return client_->send(words); }

  std::string noted_;
  TestServer server_;
  std::unique_ptr<TestClient> client_;
};

TEST_F(RedisStringTest, NoValueIsMadeThatNoReplyHolds) {
  server_.max_request_size = std::size_t{100} << 20;
  const std::string whole(keys::most_value_bytes + 1, 'x');
  const std::string refused = "-ERR 1153 08S01 The row, the value or the reply is too large\r\n";
  EXPECT_EQ(say({"SET", "a", "one"}), "+OK\r\n");
  EXPECT_EQ(say({"SET", "a", whole}), refused);
  EXPECT_EQ(say({"SET", "a", whole, "XX", "GET"}), refused);
  EXPECT_EQ(say({"MSET", "b", "two", "a", whole}), refused);
  EXPECT_EQ(say({"MGET", "a", "b"}), "*2\r\n$3\r\none\r\n$-1\r\n");
}

TEST_F(RedisStringTest, AnItemIsAString) {
  EXPECT_EQ(say({"GET", "a"}), "$-1\r\n");
  EXPECT_EQ(say({"SET", "a", "one"}), "+OK\r\n");
  EXPECT_EQ(say({"GET", "a"}), "$3\r\none\r\n");
  EXPECT_EQ(say({"SET", "a", ""}), "+OK\r\n");
  EXPECT_EQ(say({"GET", "a"}), "$0\r\n\r\n");
  EXPECT_EQ(say({"SET", "a:b:c", "deep"}), "+OK\r\n");
  EXPECT_EQ(say({"MGET", "a:b:c", "none", "a"}), "*3\r\n$4\r\ndeep\r\n$-1\r\n$0\r\n\r\n");
  EXPECT_EQ(say({"HGET", "handlersocket.kv:a:b:c", "v"}), "$4\r\ndeep\r\n");
  EXPECT_EQ(say({"STRLEN", "a:b:c"}), ":4\r\n");
  EXPECT_EQ(say({"TYPE", "a"}), "+string\r\n");
  EXPECT_EQ(say({"TYPE", "none"}), "+none\r\n");
  EXPECT_EQ(say({"EXISTS", "a", "none", "a"}), ":2\r\n");
  EXPECT_EQ(say({"DEL", "a", "none", "a:b:c"}), ":2\r\n");
  EXPECT_EQ(say({"DEL", "a"}), ":0\r\n");
}

TEST_F(RedisStringTest, RowsAndItemsAreOfDifferentKinds) {
  const std::string wrong =
      "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";
  EXPECT_EQ(say({"GET", "handlersocket.kv:a"}), wrong);
  EXPECT_EQ(say({"SET", "handlersocket.kv:a", "x"}), wrong);
  EXPECT_EQ(say({"INCR", "handlersocket.kv:a"}), wrong);
  EXPECT_EQ(say({"HGET", "a", "v"}), wrong);
  EXPECT_EQ(say({"HSET", "a", "v", "x"}), wrong);
  EXPECT_EQ(say({"HGETALL", "two:a:1"}), wrong);
  EXPECT_EQ(say({"MGET", "handlersocket.kv:a"}), "*1\r\n$-1\r\n");
}

TEST_F(RedisStringTest, AValueOfSeveralColumns) {
  EXPECT_EQ(say({"SET", "two:a:1", "x|y|z"}), "+OK\r\n");
  EXPECT_EQ(say({"GET", "two:a:1"}), "$5\r\nx|y|z\r\n");
  EXPECT_EQ(say({"HMGET", "hs.two:a:1", "x", "y"}), "*2\r\n$1\r\nx\r\n$3\r\ny|z\r\n");
  EXPECT_EQ(say({"SET", "two:a:1", "x"}), "+OK\r\n");
  EXPECT_EQ(say({"HMGET", "hs.two:a:1", "x", "y"}), "*2\r\n$1\r\nx\r\n$-1\r\n");
  EXPECT_EQ(say({"GET", "two:a"}), "-ERR key has too few parts for its index\r\n");
  EXPECT_EQ(say({"SET", "two:a:1", "x", "EX", "5"}),
            "-ERR the key's container has no column for the expiry\r\n");
}

TEST_F(RedisStringTest, SetHasOptions) {
  EXPECT_EQ(say({"SET", "a", "1", "XX"}), "$-1\r\n");
  EXPECT_EQ(say({"SET", "a", "1", "NX"}), "+OK\r\n");
  EXPECT_EQ(say({"SET", "a", "2", "NX"}), "$-1\r\n");
  EXPECT_EQ(say({"SET", "a", "2", "NX", "GET"}), "$1\r\n1\r\n");
  EXPECT_EQ(say({"SET", "a", "3", "XX", "GET"}), "$1\r\n1\r\n");
  EXPECT_EQ(say({"SET", "a", "4", "IFEQ", "1"}), "$-1\r\n");
  EXPECT_EQ(say({"SET", "a", "4", "IFEQ", "3"}), "+OK\r\n");
  EXPECT_EQ(say({"GET", "a"}), "$1\r\n4\r\n");
  for (const auto& wrong : std::initializer_list<std::initializer_list<std::string_view>>{
           {"SET", "a", "1", "NX", "XX"},
           {"SET", "a", "1", "EX"},
           {"SET", "a", "1", "EX", "1", "KEEPTTL"},
           {"SET", "a", "1", "nope"}})
    EXPECT_EQ(say(wrong), "-ERR syntax error\r\n");
  EXPECT_EQ(say({"SET", "a", "1", "EX", "0"}), "-ERR invalid expire time in 'set' command\r\n");
  EXPECT_EQ(say({"SET", "a", "1", "PX", "x"}), "-ERR value is not an integer or out of range\r\n");
  EXPECT_EQ(say({"GETSET", "a", "5"}), "$1\r\n4\r\n");
  EXPECT_EQ(say({"GETDEL", "a"}), "$1\r\n5\r\n");
  EXPECT_EQ(say({"GETDEL", "a"}), "$-1\r\n");
  EXPECT_EQ(say({"SETNX", "a", "6"}), ":1\r\n");
  EXPECT_EQ(say({"SETNX", "a", "7"}), ":0\r\n");
  EXPECT_EQ(say({"MSET", "a", "1", "b", "2", "a", "3"}), "+OK\r\n");
  EXPECT_EQ(say({"MGET", "a", "b"}), "*2\r\n$1\r\n3\r\n$1\r\n2\r\n");
  EXPECT_EQ(say({"MSETNX", "c", "1", "b", "2"}), ":0\r\n");
  EXPECT_EQ(say({"GET", "c"}), "$-1\r\n");
  EXPECT_EQ(say({"MSETNX", "c", "1", "d", "2"}), ":1\r\n");
}

TEST_F(RedisStringTest, WhatHasExpiredIsNotThere) {
  EXPECT_EQ(say({"SET", "a", "1", "EX", "10"}), "+OK\r\n");
  EXPECT_EQ(say({"TTL", "a"}), ":10\r\n");
  now_ms += 4000;
  EXPECT_EQ(say({"PTTL", "a"}), ":6000\r\n");
  EXPECT_EQ(say({"SET", "a", "2", "KEEPTTL"}), "+OK\r\n");
  EXPECT_EQ(say({"INCR", "a"}), ":3\r\n");
  EXPECT_EQ(say({"APPEND", "a", "0"}), ":2\r\n");
  EXPECT_EQ(say({"PTTL", "a"}), ":6000\r\n");
  now_ms += 6000;
  EXPECT_EQ(say({"GET", "a"}), "$-1\r\n");
  EXPECT_EQ(say({"STRLEN", "a"}), ":0\r\n");
  EXPECT_EQ(say({"TTL", "a"}), ":-2\r\n");
  EXPECT_EQ(say({"EXISTS", "a"}), ":0\r\n");
  EXPECT_EQ(say({"TYPE", "a"}), "+none\r\n");
  EXPECT_EQ(say({"EXPIRE", "a", "10"}), ":0\r\n");
  EXPECT_EQ(say({"SET", "a", "3", "XX"}), "$-1\r\n");
  EXPECT_EQ(say({"HGET", "handlersocket.kv:a", "v"}), "$2\r\n30\r\n");
  EXPECT_EQ(say({"SET", "a", "3", "NX", "PX", "1500"}), "+OK\r\n");
  EXPECT_EQ(say({"PTTL", "a"}), ":2000\r\n");
  EXPECT_EQ(say({"PERSIST", "a"}), ":1\r\n");
  EXPECT_EQ(say({"PERSIST", "a"}), ":0\r\n");
  EXPECT_EQ(say({"TTL", "a"}), ":-1\r\n");
  EXPECT_EQ(say({"EXPIRE", "a", "10", "XX"}), ":0\r\n");
  EXPECT_EQ(say({"EXPIRE", "a", "10", "GT"}), ":0\r\n");
  EXPECT_EQ(say({"EXPIRE", "a", "10", "LT"}), ":1\r\n");
  EXPECT_EQ(say({"EXPIRE", "a", "5", "GT"}), ":0\r\n");
  EXPECT_EQ(say({"EXPIRE", "a", "20", "GT"}), ":1\r\n");
  EXPECT_EQ(say({"EXPIRE", "a", "20", "NX"}), ":0\r\n");
  EXPECT_EQ(say({"GETEX", "a", "PERSIST"}), "$1\r\n3\r\n");
  EXPECT_EQ(say({"TTL", "a"}), ":-1\r\n");
  EXPECT_EQ(say({"GETEX", "a", "EXAT", "1"}), "$1\r\n3\r\n");
  EXPECT_EQ(say({"HGET", "handlersocket.kv:a", "v"}), "$-1\r\n");
  EXPECT_EQ(say({"SET", "a", "4", "EX", "1"}), "+OK\r\n");
  now_ms += 1000;
  EXPECT_EQ(say({"DEL", "a"}), ":0\r\n");
  EXPECT_EQ(say({"HLEN", "handlersocket.kv:a"}), ":0\r\n");
  EXPECT_EQ(say({"SET", "a", "4"}), "+OK\r\n");
  EXPECT_EQ(say({"EXPIRE", "a", "-1"}), ":1\r\n");
  EXPECT_EQ(say({"EXISTS", "a"}), ":0\r\n");
}

TEST_F(RedisStringTest, AnExpiryIsSetAlone) {
  add_container({"lasting", "hs", "lasting", "k", "x,y", "0", "c", "e"});
  const std::string row = "*3\r\n$3\r\na|b\r\n$1\r\nc\r\n$1\r\n7\r\n";
  EXPECT_EQ(say({"HSET", "hs.lasting:1", "x", "a|b", "y", "c", "c", "7"}), ":3\r\n");
  EXPECT_EQ(say({"EXPIRE", "lasting:1", "10"}), ":1\r\n");
  EXPECT_EQ(say({"HMGET", "hs.lasting:1", "x", "y", "c"}), row);
  EXPECT_EQ(say({"PERSIST", "lasting:1"}), ":1\r\n");
  EXPECT_EQ(say({"GETEX", "lasting:1", "PX", "1500"}), "$5\r\na|b|c\r\n");
  EXPECT_EQ(say({"TTL", "lasting:1"}), ":2\r\n");
  EXPECT_EQ(say({"GETEX", "lasting:1", "PERSIST"}), "$5\r\na|b|c\r\n");
  EXPECT_EQ(say({"HMGET", "hs.lasting:1", "x", "y", "c"}), row);
  EXPECT_EQ(say({"EXPIRE", "lasting:1", "-1"}), ":1\r\n");
  EXPECT_EQ(say({"EXISTS", "hs.lasting:1"}), ":0\r\n");
  EXPECT_EQ(say({"EXPIRE", "two:a:1", "10"}), ":0\r\n");
  EXPECT_EQ(say({"SET", "two:a:1", "x"}), "+OK\r\n");
  EXPECT_EQ(say({"EXPIRE", "two:a:1", "10"}),
            "-ERR the key's container has no column for the expiry\r\n");
}

TEST_F(RedisStringTest, NumbersAndPartsOfStrings) {
  EXPECT_EQ(say({"INCR", "n"}), ":1\r\n");
  EXPECT_EQ(say({"DECRBY", "n", "5"}), ":-4\r\n");
  EXPECT_EQ(say({"INCRBYFLOAT", "n", "0.5"}), "$4\r\n-3.5\r\n");
  EXPECT_EQ(say({"INCRBYFLOAT", "n", "0x1p2"}), "$3\r\n0.5\r\n");
  EXPECT_EQ(say({"INCRBYFLOAT", "n", "1e-400"}), "$3\r\n0.5\r\n");
  for (const std::string_view endless : {"inf", "-inf", "+Infinity"}) {
    EXPECT_EQ(say({"INCRBYFLOAT", "n", endless}),
              "-ERR increment would produce NaN or Infinity\r\n");
  }
  for (const std::string_view wrong : {"nan", "1e5000", "", " 1", "1 ", "1,5", "--1"})
    EXPECT_EQ(say({"INCRBYFLOAT", "n", wrong}), "-ERR value is not a valid float\r\n");
  // More than a double holds.
  EXPECT_EQ(say({"INCRBYFLOAT", "large", "1.7e308"}).substr(0, 4), "$309");
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(say({"INCRBYFLOAT", "large", "1.7e308"}).substr(0, 4), "$309");
  EXPECT_EQ(say({"INCR", "n"}), "-ERR value is not an integer or out of range\r\n");
  EXPECT_EQ(say({"SET", "n", "9223372036854775807"}), "+OK\r\n");
  EXPECT_EQ(say({"INCR", "n"}), "-ERR increment or decrement would overflow\r\n");
  EXPECT_EQ(say({"SETRANGE", "s", "2", "abc"}), ":5\r\n");
  EXPECT_EQ(say({"GETRANGE", "s", "1", "-2"}), std::string("$3\r\n\0ab\r\n", 9));
  EXPECT_EQ(say({"GETRANGE", "s", "3", "1"}), "$0\r\n\r\n");
  EXPECT_EQ(say({"SETRANGE", "s", "-1", "a"}), "-ERR offset is out of range\r\n");
}

TEST_F(RedisStringTest, ItemsAreCopiedAndMoved) {
  EXPECT_EQ(say({"RENAME", "a", "b"}), "-ERR no such key\r\n");
  EXPECT_EQ(say({"SET", "a", "1", "EX", "10"}), "+OK\r\n");
  EXPECT_EQ(say({"RENAME", "a", "b"}), "+OK\r\n");
  EXPECT_EQ(say({"TTL", "b"}), ":10\r\n");
  EXPECT_EQ(say({"EXISTS", "a"}), ":0\r\n");
  EXPECT_EQ(say({"COPY", "b", "a"}), ":1\r\n");
  EXPECT_EQ(say({"COPY", "b", "a"}), ":0\r\n");
  EXPECT_EQ(say({"COPY", "b", "a", "REPLACE"}), ":1\r\n");
  EXPECT_EQ(say({"RENAMENX", "b", "a"}), ":0\r\n");
  EXPECT_EQ(say({"EXISTS", "a", "b"}), ":2\r\n");
  EXPECT_EQ(say({"RENAMENX", "b", "c"}), ":1\r\n");
  EXPECT_EQ(say({"RENAME", "c", "c"}), "+OK\r\n");
}

TEST_F(RedisStringTest, TransactionsHaveItems) {
  EXPECT_EQ(say({"SET", "a", "1"}), "+OK\r\n");
  EXPECT_EQ(say({"WATCH", "a"}), "+OK\r\n");
  EXPECT_EQ(say({"MULTI"}), "+OK\r\n");
  EXPECT_EQ(say({"INCR", "a"}), "+QUEUED\r\n");
  EXPECT_EQ(say({"MSET", "b", "2", "c", "3"}), "+QUEUED\r\n");
  EXPECT_EQ(say({"EXEC"}), "*2\r\n:2\r\n+OK\r\n");
  EXPECT_EQ(say({"WATCH", "a"}), "+OK\r\n");
  TestClient other(server_);
  EXPECT_EQ(other.send({"SET", "a", "9"}), "+OK\r\n");
  EXPECT_EQ(say({"MULTI"}), "+OK\r\n");
  EXPECT_EQ(say({"SET", "a", "0"}), "+QUEUED\r\n");
  EXPECT_EQ(say({"EXEC"}), "*-1\r\n");
  EXPECT_EQ(say({"GET", "a"}), "$1\r\n9\r\n");
}

TEST_F(RedisStringTest, ContainersThatChangeAreNoticed) {
  EXPECT_EQ(say({"SET", "s:a", "1"}), "+OK\r\n");
  add_container({"s", "handlersocket", "kv", "k", "v", "flags", "cas", "expires"});
  EXPECT_EQ(say({"GET", "s:a"}), "$-1\r\n");
  EXPECT_EQ(say({"SET", "s:a", "2"}), "+OK\r\n");
  EXPECT_EQ(say({"GET", "a"}), "$1\r\n2\r\n");
  EXPECT_EQ(say({"HSET", "handlersocket.containers:s", "value_columns", "nope"}), ":0\r\n");
  now_ms += 1000;
  EXPECT_EQ(say({"GET", "s:a"}),
            "-ERR the columns of the key's container are not those of its table\r\n");
  EXPECT_EQ(noted_,
            "s: its columns are not those of its table and its index, or have other types\n");
  EXPECT_EQ(say({"DEL", "handlersocket.containers:s"}), ":1\r\n");
  now_ms += 1000;
  EXPECT_EQ(say({"GET", "s:a"}), "$1\r\n1\r\n");
}

TEST_F(RedisStringTest, ItemsAreScanned) {
  EXPECT_EQ(say({"MSET", "a", "1", "s:1", "2", "s:2", "3", "s.x", "4"}), "+OK\r\n");
  EXPECT_EQ(say({"SET", "b", "1", "EX", "1"}), "+OK\r\n");
  EXPECT_EQ(say({"SET", "two:p:1", "x|y"}), "+OK\r\n");
  now_ms += 1000;
  const std::string all = "$1\r\na\r\n$3\r\ns.x\r\n$3\r\ns:1\r\n$3\r\ns:2\r\n";
  EXPECT_EQ(say({"KEYS", "*"}), "*4\r\n" + all);
  EXPECT_EQ(say({"SCAN", "0"}), "*2\r\n$1\r\n0\r\n*4\r\n" + all);
  EXPECT_EQ(say({"SCAN", "0", "TYPE", "string"}), "*2\r\n$1\r\n0\r\n*4\r\n" + all);
  EXPECT_EQ(say({"SCAN", "0", "TYPE", "hash"}), "*2\r\n$1\r\n0\r\n*0\r\n");
  EXPECT_EQ(say({"KEYS", "s:*"}), "*2\r\n$3\r\ns:1\r\n$3\r\ns:2\r\n");
  EXPECT_EQ(say({"KEYS", "b"}), "*0\r\n");
  EXPECT_EQ(say({"KEYS", "s:2"}), "*1\r\n$3\r\ns:2\r\n");
  EXPECT_EQ(say({"KEYS", "two:*"}), "*1\r\n$7\r\ntwo:p:1\r\n");
  EXPECT_EQ(say({"KEYS", "hs.two:*"}), "*1\r\n$10\r\nhs.two:p:1\r\n");
  const std::string page = say({"SCAN", "0", "COUNT", "2"});
  EXPECT_NE(page.find("*1\r\n$1\r\na\r\n"), std::string::npos) << page;  // b has expired
}

// A container may have got rows by SQL, or before there was another one.
TEST_F(RedisStringTest, AKeyThatNamesSomethingElseIsNotListed) {
  for (const std::string_view key :
       {"a", "two:x:1", "db.t:1", "t@i:1", "none:1", "b.c", "default:1"})
    EXPECT_EQ(say({"HSET", "handlersocket.kv:" + std::string(key), "v", "x", "cas", "1"}),
              ":2\r\n");
  const std::string keys = "*4\r\n$1\r\na\r\n$3\r\nb.c\r\n$9\r\ndefault:1\r\n$6\r\nnone:1\r\n";
  EXPECT_EQ(say({"KEYS", "*"}), keys);
  EXPECT_EQ(say({"SCAN", "0"}), "*2\r\n$1\r\n0\r\n" + keys);
  EXPECT_EQ(say({"MGET", "a", "b.c", "default:1", "none:1"}),
            "*4\r\n$1\r\nx\r\n$1\r\nx\r\n$1\r\nx\r\n$1\r\nx\r\n");
  EXPECT_EQ(say({"KEYS", "t*"}), "*0\r\n");
}

TEST_F(RedisStringTest, AMistakeOfAContainerIsToldOnce) {
  add_container({"bad", "handlersocket", "none", "k", "v", "0", "0", "0"});
  EXPECT_EQ(say({"GET", "a"}), "$-1\r\n");
  const std::string told = noted_;
  EXPECT_TRUE(told.starts_with("bad: "));
  add_container({"good", "handlersocket", "kv", "k", "v", "0", "0", "0"});
  EXPECT_EQ(say({"GET", "good:a"}), "$-1\r\n");
  // However often somebody asks within a second.
  for (const std::string_view table : {"kv", "none", "kv", "none"}) {
    EXPECT_EQ(say({"HSET", "handlersocket.containers:bad", "db_table", table}), ":0\r\n");
    EXPECT_EQ(say({"HS.RELOAD"}), "+OK\r\n");
    EXPECT_EQ(say({"GET", "bad:a"}).starts_with("-"), table == "none");
  }
  EXPECT_EQ(noted_, told);
}

TEST_F(RedisStringTest, NoNumberIsMadeForAKey) {
  add_container({"numbered", "hs", "numbered", "id", "v", "0", "0", "0"});
  const std::string refused = "-ERR 0 in an AUTO_INCREMENT column asks for a new number\r\n";
  EXPECT_EQ(say({"SET", "numbered:0", "x"}), refused);
  EXPECT_EQ(say({"SET", "numbered:0", "x", "NX"}), refused);
  EXPECT_EQ(say({"HSET", "hs.numbered:0", "v", "x"}), refused);
  EXPECT_EQ(say({"HSETNX", "hs.numbered:0", "v", "x"}), refused);
  EXPECT_EQ(say({"HINCRBY", "hs.numbered:0", "v", "1"}), refused);
  EXPECT_EQ(say({"SCAN", "0", "MATCH", "hs.numbered:*"}), "*2\r\n$1\r\n0\r\n*0\r\n");
}

TEST_F(RedisStringTest, AKeyIsRenamedToAnotherOneOfItsRow) {
  add_container({"same", "handlersocket", "kv", "k", "v", "flags", "cas", "expires"});
  EXPECT_EQ(say({"SET", "a", "1"}), "+OK\r\n");
  EXPECT_EQ(say({"RENAMENX", "a", "same:a"}), ":0\r\n");
  EXPECT_EQ(say({"RENAME", "a", "same:a"}), "+OK\r\n");
  EXPECT_EQ(say({"GET", "a"}), "$1\r\n1\r\n");
}

}  // namespace
}  // namespace hs::redis
