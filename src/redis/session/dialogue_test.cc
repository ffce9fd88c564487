#include "redis/session/dialogue.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "redis/session/test_client.h"
#include "store/memory_caller.h"

namespace hs::redis {
namespace {

using namespace std::string_literals;

// db.t has a number as its key, db.k2 two parts; both have a unique index besides.
void add_tables(store::MemoryDatabase& database) {
  database.add_table({"db",
                      "t",
                      {{.name = "id", .integer = true, .nullable = false},
                       {.name = "a"},
                       {.name = "n", .integer = true},
                       {.name = "must", .nullable = false},
                       {.name = "u"}},
                      {{"PRIMARY", {0}, true}, {"by_u", {4}, true}, {"by_a", {1}}}});
  database.add_table({"db",
                      "k2",
                      {{.name = "x", .nullable = false},
                       {.name = "y", .integer = true, .nullable = false},
                       {.name = "v"}},
                      {{"PRIMARY", {0, 1}, true}}});
}

class RedisDialogueTest : public ::testing::Test {
 protected:
  RedisDialogueTest() { add_tables(server_.database); }

  std::string say(std::initializer_list<std::string_view> words) { return client().send(words); }
  TestClient& client() {
    if (client_ == nullptr) {
      server_.start();
      client_ = std::make_unique<TestClient>(server_);
    }
    return *client_;
  }

  TestServer server_;
  std::unique_ptr<TestClient> client_;
};

TEST_F(RedisDialogueTest, ARowIsAHash) {
  EXPECT_EQ(say({"HSET", "db.t:1", "a", "one", "n", "5"}), ":2\r\n");
  EXPECT_EQ(say({"HSET", "db.t:1", "a", "uno", "u", "x"}), ":1\r\n");
  EXPECT_EQ(say({"HGET", "db.t:1", "a"}), "$3\r\nuno\r\n");
  EXPECT_EQ(say({"HGET", "db.t:1", "nope"}), "$-1\r\n");
  EXPECT_EQ(say({"HGET", "db.t:1", "a,n"}), "$-1\r\n");
  EXPECT_EQ(say({"HGET", "db.t:2", "a"}), "$-1\r\n");
  EXPECT_EQ(say({"HMGET", "db.t:1", "n", "nope", "a", "n", "id"}),
            "*5\r\n$1\r\n5\r\n$-1\r\n$3\r\nuno\r\n$1\r\n5\r\n$1\r\n1\r\n");
  EXPECT_EQ(say({"HMGET", "db.t:2", "n", "nope"}), "*2\r\n$-1\r\n$-1\r\n");
  EXPECT_EQ(say({"HGETALL", "db.t:1"}),
            "*10\r\n$2\r\nid\r\n$1\r\n1\r\n$1\r\na\r\n$3\r\nuno\r\n$1\r\nn\r\n$1\r\n5\r\n"
            "$4\r\nmust\r\n$0\r\n\r\n$1\r\nu\r\n$1\r\nx\r\n");
  EXPECT_EQ(say({"HGETALL", "db.t:2"}), "*0\r\n");
  EXPECT_EQ(say({"HDEL", "db.t:1", "a", "u", "u", "nope"}), ":2\r\n");
  EXPECT_EQ(say({"HDEL", "db.t:1", "a"}), ":0\r\n");
  EXPECT_EQ(say({"HDEL", "db.t:2", "a"}), ":0\r\n");
  EXPECT_EQ(say({"HKEYS", "db.t:1"}), "*3\r\n$2\r\nid\r\n$1\r\nn\r\n$4\r\nmust\r\n");
  EXPECT_EQ(say({"HVALS", "db.t:1"}), "*3\r\n$1\r\n1\r\n$1\r\n5\r\n$0\r\n\r\n");
  EXPECT_EQ(say({"HLEN", "db.t:1"}), ":3\r\n");
  EXPECT_EQ(say({"HLEN", "db.t:2"}), ":0\r\n");
  EXPECT_EQ(say({"HEXISTS", "db.t:1", "n"}), ":1\r\n");
  EXPECT_EQ(say({"HEXISTS", "db.t:1", "a"}), ":0\r\n");
  EXPECT_EQ(say({"HSTRLEN", "db.t:1", "n"}), ":1\r\n");
  EXPECT_EQ(say({"HSTRLEN", "db.t:1", "nope"}), ":0\r\n");
  EXPECT_EQ(say({"HMSET", "db.t:1", "a", "x"}), "+OK\r\n");
  EXPECT_EQ(say({"TYPE", "db.t:1"}), "+hash\r\n");
  EXPECT_EQ(say({"TYPE", "db.t:2"}), "+none\r\n");
}

TEST_F(RedisDialogueTest, AnswersInResp3) {
  const std::string hello = say({"HELLO", "3", "SETNAME", "me"});
  EXPECT_EQ(hello.substr(0, 4), "%7\r\n");
  EXPECT_NE(hello.find("$5\r\nproto\r\n:3\r\n$2\r\nid\r\n:7\r\n"), std::string::npos);
  EXPECT_EQ(say({"CLIENT", "GETNAME"}), "$2\r\nme\r\n");
  EXPECT_EQ(say({"HSET", "db.t:1", "a", "one"}), ":1\r\n");
  EXPECT_EQ(say({"HMGET", "db.t:1", "a", "n"}), "*2\r\n$3\r\none\r\n_\r\n");
  EXPECT_EQ(say({"HGETALL", "db.t:1"}),
            "%3\r\n$2\r\nid\r\n$1\r\n1\r\n$1\r\na\r\n$3\r\none\r\n$4\r\nmust\r\n$0\r\n\r\n");
  EXPECT_EQ(say({"HGETALL", "db.t:2"}), "%0\r\n");
  EXPECT_EQ(say({"RESET"}), "+RESET\r\n");
  EXPECT_EQ(say({"HGET", "db.t:1", "n"}), "$-1\r\n");
  EXPECT_EQ(say({"HELLO", "4"}), "-NOPROTO unsupported protocol version\r\n");
  EXPECT_EQ(say({"HELLO", "x"}), "-ERR Protocol version is not an integer or out of range\r\n");
  EXPECT_EQ(say({"HELLO", "2", "FOO"}), "-ERR Syntax error in HELLO option 'FOO'\r\n");
}

TEST_F(RedisDialogueTest, KeysHaveParts) {
  EXPECT_EQ(say({"HSET", "db.k2:a%3Ab:7", "v", "x"}), ":1\r\n");
  EXPECT_EQ(say({"HGETALL", "db.k2:a%3ab:7"}),
            "*6\r\n$1\r\nx\r\n$3\r\na:b\r\n$1\r\ny\r\n$1\r\n7\r\n$1\r\nv\r\n$1\r\nx\r\n");
  EXPECT_EQ(say({"HGET", "db.k2:a", "v"}), "-ERR key has too few parts for its index\r\n");
  EXPECT_EQ(say({"HGET", "db.t", "a"}), "-ERR key has too few parts for its index\r\n");
  EXPECT_EQ(say({"HGET", "db.t:01", "a"}),
            "-ERR key part is not the one spelling of a number, a date or a time\r\n");
  EXPECT_EQ(say({"HGET", "t:1", "a"}),
            "-ERR key names no database, and handlersocket_default_database is not set\r\n");
  EXPECT_EQ(say({"HGET", "db.t@by_a:1", "a"}), "-ERR index of the key is not unique\r\n");
  EXPECT_EQ(say({"HGET", "db.none:1", "a"}).substr(0, 15), "-ERR 1146 42S02");
  EXPECT_EQ(say({"HGET", "db.t@none:1", "a"}).substr(0, 15), "-ERR 1176 42000");
  EXPECT_EQ(say({"HSET", "db.t:1", "u", "me"}), ":1\r\n");
  EXPECT_EQ(say({"HGET", "db.t@by_u:me", "id"}), "$1\r\n1\r\n");
  EXPECT_EQ(say({"HSET", "db.t@by_u:me", "a", "z", "id", "1"}), ":1\r\n");
}

TEST_F(RedisDialogueTest, ADefaultDatabaseNeedNotBeNamed) {
  server_.config->default_database = "db";
  EXPECT_EQ(say({"HSET", "t:1", "a", "one"}), ":1\r\n");
  EXPECT_EQ(say({"HGET", "db.t:1", "a"}), "$3\r\none\r\n");
}

TEST_F(RedisDialogueTest, RefusesWhatAColumnCannotBe) {
  EXPECT_EQ(say({"HSET", "db.t:1", "nope", "x"}), "-ERR no column 'nope' in table 'db.t'\r\n");
  EXPECT_EQ(say({"HSET", "db.t:1", "id", "2"}),
            "-ERR column 'id' is a part of the key and cannot be changed\r\n");
  EXPECT_EQ(say({"HSET", "db.t:1", "id", "1"}), ":1\r\n");
  EXPECT_EQ(say({"HSET", "db.t:1", "id", "1"}), ":0\r\n");
  EXPECT_EQ(say({"HDEL", "db.t:9", "must"}), ":0\r\n");
  EXPECT_EQ(say({"HDEL", "db.t:1", "must"}), "-ERR 1048 23000 Column 'must' cannot be null\r\n");
  EXPECT_EQ(say({"HDEL", "db.t:1", "id"}),
            "-ERR column 'id' is a part of the key and cannot be changed\r\n");
  EXPECT_EQ(say({"HSET", "db.t:1", "n", "x"}).substr(0, 15), "-ERR 1366 HY000");
  EXPECT_EQ(say({"HSET", "db.t:1", "a"}), "-ERR wrong number of arguments for 'hset' command\r\n");
  EXPECT_EQ(say({"HSET", "db.t:1", "a", "1", "n"}),
            "-ERR wrong number of arguments for 'hset' command\r\n");
  EXPECT_EQ(say({"HSET", "db.t:1", "u", "x"}), ":1\r\n");
  EXPECT_EQ(say({"HSET", "db.t:2", "u", "x"}).substr(0, 15), "-ERR 1062 23000");
  EXPECT_EQ(say({"HSETNX", "db.t:2", "u", "x"}).substr(0, 15), "-ERR 1062 23000");
  EXPECT_EQ(say({"EXISTS", "db.t:2"}), ":0\r\n");
}

TEST_F(RedisDialogueTest, SetsWhatIsNull) {
  EXPECT_EQ(say({"HSETNX", "db.t:1", "a", "one"}), ":1\r\n");
  EXPECT_EQ(say({"HSETNX", "db.t:1", "a", "two"}), ":0\r\n");
  EXPECT_EQ(say({"HSETNX", "db.t:1", "n", "2"}), ":1\r\n");
  EXPECT_EQ(say({"HMGET", "db.t:1", "a", "n"}), "*2\r\n$3\r\none\r\n$1\r\n2\r\n");
}

TEST_F(RedisDialogueTest, AddsNumbers) {
  EXPECT_EQ(say({"HINCRBY", "db.t:1", "n", "5"}), ":5\r\n");
  EXPECT_EQ(say({"HINCRBY", "db.t:1", "n", "-7"}), ":-2\r\n");
  EXPECT_EQ(say({"HINCRBY", "db.t:1", "a", "3"}), ":3\r\n");
  EXPECT_EQ(say({"HINCRBY", "db.t:1", "a", "3"}), ":6\r\n");
  EXPECT_EQ(say({"HINCRBYFLOAT", "db.t:1", "a", "0.5"}), "$3\r\n6.5\r\n");
  EXPECT_EQ(say({"HINCRBY", "db.t:1", "a", "3"}), "-ERR hash value is not an integer\r\n");
  EXPECT_EQ(say({"HINCRBY", "db.t:1", "n", "x"}),
            "-ERR value is not an integer or out of range\r\n");
  EXPECT_EQ(say({"HINCRBYFLOAT", "db.t:1", "n", "x"}), "-ERR value is not a valid float\r\n");
  EXPECT_EQ(say({"HSET", "db.t:1", "n", "9223372036854775807", "u", "z"}), ":1\r\n");
  EXPECT_EQ(say({"HINCRBY", "db.t:1", "n", "1"}), "-ERR increment or decrement would overflow\r\n");
  EXPECT_EQ(say({"HINCRBYFLOAT", "db.t:1", "u", "1"}), "-ERR hash value is not a float\r\n");
  EXPECT_EQ(say({"HINCRBYFLOAT", "db.t:1", "n", "0.5"}),
            "-ERR column 'n' holds whole numbers only\r\n");
  EXPECT_EQ(say({"HINCRBY", "db.t:1", "nope", "1"}), "-ERR no column 'nope' in table 'db.t'\r\n");
  EXPECT_EQ(say({"HINCRBYFLOAT", "db.t:2", "a", "1.50"}), "$3\r\n1.5\r\n");
}

TEST_F(RedisDialogueTest, CountsAndDeletesRows) {
  for (const std::string_view key : {"db.t:1", "db.t:2", "db.k2:a:1"})
    client().send({"HSET", key, key[3] == 't' ? "a" : "v", "x"});
  EXPECT_EQ(say({"EXISTS", "db.t:1", "db.t:1", "db.t:3", "db.k2:a:1"}), ":3\r\n");
  EXPECT_EQ(say({"TOUCH", "db.t:1", "db.t:3"}), ":1\r\n");
  EXPECT_EQ(say({"DEL", "db.t:1", "db.k2:a:1", "db.t:9"}), ":2\r\n");
  EXPECT_EQ(say({"DEL", "db.t:2", "db.none:1"}).substr(0, 9), "-ERR 1146");
  EXPECT_EQ(say({"UNLINK", "db.t:2"}), ":1\r\n");
}

TEST_F(RedisDialogueTest, ATransactionIsDoneWhollyOrNotAtAll) {
  EXPECT_EQ(say({"MULTI"}), "+OK\r\n");
  EXPECT_EQ(say({"HSET", "db.t:1", "a", "one"}), "+QUEUED\r\n");
  EXPECT_EQ(say({"HGET", "db.t:1", "a"}), "+QUEUED\r\n");
  EXPECT_EQ(say({"PING"}), "+QUEUED\r\n");
  EXPECT_EQ(say({"EXEC"}), "*3\r\n:1\r\n$3\r\none\r\n+PONG\r\n");
  EXPECT_EQ(say({"EXEC"}), "-ERR EXEC without MULTI\r\n");
  client().send({"MULTI"});
  client().send({"HSET", "db.t:1", "a", "two"});
  client().send({"HSET", "db.t:1", "nope", "two"});
  EXPECT_EQ(say({"EXEC"}),
            "-EXECABORT Transaction discarded because of command 2, 'hset': "
            "ERR no column 'nope' in table 'db.t'\r\n");
  EXPECT_EQ(say({"HGET", "db.t:1", "a"}), "$3\r\none\r\n");
  client().send({"MULTI"});
  client().send({"HSET", "db.t:1", "a", "two"});
  EXPECT_EQ(say({"DISCARD"}), "+OK\r\n");
  EXPECT_EQ(say({"DISCARD"}), "-ERR DISCARD without MULTI\r\n");
  EXPECT_EQ(say({"HGET", "db.t:1", "a"}), "$3\r\none\r\n");
}

TEST_F(RedisDialogueTest, AWatchedRowHasToBeAsItWas) {
  client().send({"HSET", "db.t:1", "a", "one"});
  TestClient other(server_);
  EXPECT_EQ(say({"WATCH", "db.t:1", "db.t:2"}), "+OK\r\n");
  client().send({"MULTI"});
  client().send({"HSET", "db.t:1", "a", "two"});
  EXPECT_EQ(say({"EXEC"}), "*1\r\n:0\r\n");
  for (const std::string_view key : {"db.t:1", "db.t:2"}) {
    EXPECT_EQ(say({"WATCH", "db.t:1", "db.t:2"}), "+OK\r\n");
    client().send({"MULTI"});
    client().send({"HSET", "db.t:1", "a", "three"});
    other.send({"HSET", key, "n", "7"});
    EXPECT_EQ(say({"EXEC"}), "*-1\r\n");
    EXPECT_EQ(say({"HGET", "db.t:1", "a"}), "$3\r\ntwo\r\n");
  }
  // A change to what was there before is none.
  EXPECT_EQ(say({"WATCH", "db.t:1"}), "+OK\r\n");
  other.send({"HSET", "db.t:1", "n", "8"});
  other.send({"HSET", "db.t:1", "n", "7"});
  client().send({"MULTI"});
  EXPECT_EQ(say({"EXEC"}), "*0\r\n");
  for (const std::string_view end : {"UNWATCH", "RESET"}) {
    EXPECT_EQ(say({"WATCH", "db.t:1"}), "+OK\r\n");
    other.send({"HINCRBY", "db.t:1", "n", "1"});
    client().send({end});
    client().send({"MULTI"});
    EXPECT_EQ(say({"EXEC"}), "*0\r\n");
  }
  client().send({"MULTI"});
  EXPECT_EQ(say({"WATCH", "db.t:1"}), "-ERR WATCH inside MULTI is not allowed\r\n");
  EXPECT_EQ(say({"EXEC"}), "-EXECABORT Transaction discarded because of previous errors.\r\n");
}

TEST_F(RedisDialogueTest, WhatIsRefusedSpoilsATransaction) {
  for (const auto& refused : {TestClient::packed({"nonsense"}), TestClient::packed({"HGET", "x"}),
                              TestClient::packed({"LPUSH", "a", "b"}),
                              TestClient::packed({"MULTI"}), TestClient::packed({"HELLO", "3"})}) {
    EXPECT_EQ(client()
                  .send(TestClient::packed({"MULTI"}) + refused +
                        TestClient::packed({"HSET", "db.t:1", "a", "one"}))
                  .substr(0, 6),
              "+OK\r\n-");
    EXPECT_EQ(say({"EXEC"}), "-EXECABORT Transaction discarded because of previous errors.\r\n");
    EXPECT_EQ(say({"EXISTS", "db.t:1"}), ":0\r\n");
  }
  // Also a MULTI that is refused itself.
  client().send(TestClient::packed({"MULTI", "x"}) +
                TestClient::packed({"HSET", "db.t:1", "a", "one"}));
  EXPECT_EQ(say({"EXEC"}), "-EXECABORT Transaction discarded because of previous errors.\r\n");
  EXPECT_EQ(say({"EXISTS", "db.t:1"}), ":0\r\n");
}

TEST_F(RedisDialogueTest, APassThatIsExecutedAgainFindsTheTransaction) {
  client();
  server_.worker_store->faults().broken_in = 1;
  EXPECT_EQ(client().send(
                TestClient::packed({"MULTI"}) + TestClient::packed({"HSET", "db.t:1", "a", "one"}) +
                TestClient::packed({"HINCRBY", "db.t:1", "n", "1"}) + TestClient::packed({"EXEC"}) +
                TestClient::packed({"MULTI"}) + TestClient::packed({"EXEC"})),
            "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:1\r\n:1\r\n+OK\r\n*0\r\n");
}

TEST_F(RedisDialogueTest, AFailedCommitIsTheAnswer) {
  client();
  server_.worker_store->faults().next_commit = Status(Error::too_large, 1197);
  EXPECT_EQ(say({"HSET", "db.t:1", "a", "one"}).substr(0, 15), "-ERR 1197 HY000");
  EXPECT_EQ(say({"EXISTS", "db.t:1"}), ":0\r\n");
}

// What has no reply may have been seen by those behind it.
TEST_F(RedisDialogueTest, AFailedCommitTakesBackWhatWasReadBehindAChangeWithoutReply) {
  client();
  server_.worker_store->faults().next_commit = Status(Error::too_large, 1197);
  const std::string replies = client().send(TestClient::packed({"CLIENT", "REPLY", "SKIP"}) +
                                            TestClient::packed({"HSET", "db.t:1", "a", "one"}) +
                                            TestClient::packed({"HGET", "db.t:1", "a"}));
  EXPECT_EQ(replies.substr(0, 15), "-ERR 1197 HY000");
  EXPECT_EQ(say({"EXISTS", "db.t:1"}), ":0\r\n");
}

// What it has seen is not there, so no transaction would ever find it unchanged.
TEST_F(RedisDialogueTest, AFailedCommitTakesBackWhatWasWatchedBehindAChange) {
  const std::string change = TestClient::packed({"HINCRBY", "db.t:1", "n", "1"});
  const std::string unit = TestClient::packed({"MULTI"}) + change + TestClient::packed({"EXEC"});
  const auto watch_behind_a_change = [&] {
    EXPECT_EQ(say({"WATCH", "db.t:2"}), "+OK\r\n");
    server_.worker_store->faults().next_commit = Status(Error::too_large, 1197);
    EXPECT_EQ(client().send(change + TestClient::packed({"WATCH", "db.t:1"})).find('+'),
              std::string::npos);
  };
  watch_behind_a_change();
  EXPECT_EQ(client().send(unit), "+OK\r\n+QUEUED\r\n*1\r\n:1\r\n");
  watch_behind_a_change();
  TestClient(server_).send({"HSET", "db.t:2", "a", "x"});
  EXPECT_EQ(client().send(unit), "+OK\r\n+QUEUED\r\n*-1\r\n");
}

TEST_F(RedisDialogueTest, ALargeTransactionGoesToAnotherThread) {
  std::string request = TestClient::packed({"MULTI"});
  std::string queued = "+OK\r\n";
  std::string done = "*200\r\n";
  for (int i = 0; i < 200; ++i) {
    request += TestClient::packed({"HSET", "db.t:" + std::to_string(i), "a", "x"});
    queued += "+QUEUED\r\n";
    done += ":1\r\n";
  }
  request += TestClient::packed({"EXEC"}) + TestClient::packed({"EXEC"});
  EXPECT_EQ(client().send(request), queued + done + "-ERR EXEC without MULTI\r\n");
  EXPECT_EQ(server_.counters.get(Counter::writes_aside), 1u);
}

TEST_F(RedisDialogueTest, ManyKeysAreCountedInSeveralTurns) {
  server_.passes.max_pass_steps = 10;
  client().send({"HSET", "db.t:5", "a", "x"});
  std::string request = "*101\r\n$6\r\nEXISTS\r\n";
  for (int i = 0; i < 100; ++i) {
    const std::string key = "db.t:" + std::to_string(i % 10);
    request += "$" + std::to_string(key.size()) + "\r\n" + key + "\r\n";
  }
  EXPECT_EQ(client().send(request + TestClient::packed({"PING"})), ":10\r\n+PONG\r\n");
  EXPECT_GT(client().turns, 5);
}

// Whoever was left out comes first in the next pass: a few such clients would keep all others out.
TEST_F(RedisDialogueTest, ACountOfManyKeysThatHasHadItsShareWasNotLeftOut) {
  server_.passes.max_pass_steps = 10;
  std::string request = "*101\r\n$6\r\nEXISTS\r\n";
  for (int i = 0; i < 100; ++i) request += "$6\r\ndb.t:5\r\n";
  EXPECT_EQ(client().send(request), ":0\r\n");
  EXPECT_GT(client().turns, 5);
  EXPECT_EQ(client().turns_left_out, 0);
}

TEST_F(RedisDialogueTest, ACountOfManyKeysForgetsAChangeWhoseCommitHasFailed) {
  server_.passes.max_pass_steps = 40;
  client().send({"PING"});
  std::string request = "*101\r\n$6\r\nEXISTS\r\n";
  for (int i = 0; i < 100; ++i) request += "$6\r\ndb.t:5\r\n";
  server_.worker_store->faults().next_commit = Status(Error::too_large, 1197);
  const std::string replies =
      client().send(TestClient::packed({"HSET", "db.t:5", "a", "x"}) + request);
  EXPECT_EQ(replies.substr(0, 15), "-ERR 1197 HY000");
  EXPECT_TRUE(replies.ends_with("\r\n:0\r\n")) << replies;
}

TEST_F(RedisDialogueTest, ManyKeysAreDeletedByAnotherThread) {
  std::string request = "*101\r\n$3\r\nDEL\r\n";
  for (int i = 0; i < 100; ++i) {
    const std::string key = "db.t:" + std::to_string(i);
    request += "$" + std::to_string(key.size()) + "\r\n" + key + "\r\n";
  }
  client().send({"HSET", "db.t:7", "a", "x"});
  EXPECT_EQ(client().send(request), ":1\r\n");
  EXPECT_EQ(server_.counters.get(Counter::writes_aside), 1u);
}

TEST_F(RedisDialogueTest, UnknownCommandsAreAnsweredAsRedisDoes) {
  EXPECT_EQ(say({"foo", "a", "b"}),
            "-ERR unknown command 'foo', with args beginning with: 'a' 'b' \r\n");
  EXPECT_EQ(say({"LPUSH", "a", "b"}), "-ERR command 'LPUSH' is not there, see docs/redis.md\r\n");
  EXPECT_EQ(say({"HGET", "a"}), "-ERR wrong number of arguments for 'hget' command\r\n");
}

TEST_F(RedisDialogueTest, TalksAboutTheConnection) {
  EXPECT_EQ(say({"PING"}), "+PONG\r\n");
  EXPECT_EQ(say({"PING", "x"}), "$1\r\nx\r\n");
  EXPECT_EQ(say({"ECHO", "x\r\n"}), "$3\r\nx\r\n\r\n");
  EXPECT_EQ(say({"SELECT", "0"}), "+OK\r\n");
  EXPECT_EQ(say({"SELECT", "1"}), "-ERR DB index is out of range\r\n");
  EXPECT_EQ(say({"CLIENT", "ID"}), ":7\r\n");
  EXPECT_EQ(say({"CLIENT", "SETNAME", "a b"}),
            "-ERR Client names cannot contain spaces, newlines or special characters.\r\n");
  EXPECT_EQ(say({"CLIENT", "SETINFO", "LIB-NAME", "x"}), "+OK\r\n");
  EXPECT_EQ(say({"CLIENT", "TRACKING", "ON"}).substr(0, 5), "-ERR ");
  EXPECT_EQ(say({"CLIENT", "MAINT_NOTIFICATIONS", "ON"}).substr(0, 5), "-ERR ");
  EXPECT_EQ(say({"CLUSTER", "INFO"}), "-ERR This instance has cluster support disabled\r\n");
  EXPECT_EQ(say({"CONFIG", "GET", "max*", "save"}),
            "*6\r\n$9\r\nmaxmemory\r\n$1\r\n0\r\n$16\r\nmaxmemory-policy\r\n$10\r\nnoeviction\r\n"
            "$4\r\nsave\r\n$0\r\n\r\n");
  EXPECT_NE(say({"INFO"}).find("\r\nrole:master\r\n"), std::string::npos);
  EXPECT_EQ(say({"INFO", "server"}).find("role:master"), std::string::npos);
  EXPECT_EQ(say({"COMMAND", "GETKEYS", "DEL", "a", "b"}), "*2\r\n$1\r\na\r\n$1\r\nb\r\n");
  EXPECT_EQ(say({"COMMAND", "INFO", "nope"}), "*1\r\n*-1\r\n");
  EXPECT_EQ(say({"QUIT"}), "+OK\r\n");
  EXPECT_TRUE(client().closed());
}

TEST_F(RedisDialogueTest, RepliesCanBeLeftOut) {
  EXPECT_EQ(client().send(TestClient::packed({"CLIENT", "REPLY", "SKIP"}) +
                          TestClient::packed({"PING"}) + TestClient::packed({"ECHO", "a"})),
            "$1\r\na\r\n");
  EXPECT_EQ(client().send(TestClient::packed({"CLIENT", "REPLY", "OFF"}) +
                          TestClient::packed({"HSET", "db.t:1", "a", "x"}) +
                          TestClient::packed({"nonsense"}) +
                          TestClient::packed({"CLIENT", "REPLY", "ON"}) +
                          TestClient::packed({"EXISTS", "db.t:1"})),
            "+OK\r\n:1\r\n");
}

TEST_F(RedisDialogueTest, AMistakeOfTheProtocolEndsTheConnection) {
  EXPECT_EQ(client().send("PING\r\n*1\r\n:1\r\nPING\r\n"),
            "+PONG\r\n-ERR Protocol error: expected '$', got ':'\r\n");
  EXPECT_TRUE(client().closed());
}

TEST_F(RedisDialogueTest, ABrowserIsNotAnswered) {
  EXPECT_EQ(client().send("POST / HTTP/1.1\r\nHost: x\r\n\r\nHSET db.t:1 a x\r\n"), "");
  EXPECT_TRUE(client().closed());
}

TEST_F(RedisDialogueTest, ATooLargeRequestIsRefused) {
  server_.max_request_size = 1000;
  EXPECT_EQ(client().send("*1\r\n$1001\r\n"), "-ERR Protocol error: invalid bulk length\r\n");
  client_ = std::make_unique<TestClient>(server_);
  std::string request = "*3\r\n";
  for (int i = 0; i < 2; ++i) request += "$900\r\n" + std::string(900, 'a') + "\r\n";
  EXPECT_EQ(client().send(request),
            "-ERR request is larger than handlersocket_max_request_size allows\r\n");
  EXPECT_TRUE(client().closed());
}

TEST_F(RedisDialogueTest, EveryCutOfADialogueGivesTheSameReplies) {
  const std::string requests =
      TestClient::packed({"HSET", "db.t:1", "a", "one", "n", "5"}) + "HGET db.t:1 a\r\n" +
      TestClient::packed({"MULTI"}) + TestClient::packed({"HINCRBY", "db.t:1", "n", "1"}) +
      TestClient::packed({"HMGET", "db.t:1", "n", "a"}) + TestClient::packed({"EXEC"}) +
      TestClient::packed({"DEL", "db.t:1", "db.t:2"}) + TestClient::packed({"HGETALL", "db.t:1"});
  const std::string whole = client().send(requests);
  EXPECT_NE(whole.find("*2\r\n:6\r\n"), std::string::npos);
  for (std::size_t cut = 1; cut < requests.size(); ++cut) {
    client_ = std::make_unique<TestClient>(server_);
    std::string replies = client().send(requests.substr(0, cut));
    replies += client().send(requests.substr(cut));
    EXPECT_EQ(replies, whole) << cut;
  }
}

// One account, which may read a table.
class OneAccount final : public store::Authenticator {
 public:
  OneAccount() { caller_->grant("db", "t", store::Rights::read); }
  store::LogIn log_in(const store::Credentials& who) const override {
    if (who.user != "ann" || who.password != "sesame")
      return {.status = Status(Error::wrong_log_in, 1045), .caller = nullptr};
    return {.status = {}, .caller = caller_};
  }

 private:
  const std::shared_ptr<store::MemoryCaller> caller_ = std::make_shared<store::MemoryCaller>();
};

class RedisLogInTest : public RedisDialogueTest {
 protected:
  RedisLogInTest() {
    server_.log_in.secret = "open";
    server_.log_in.anonymous = nullptr;
    server_.log_in.authenticator = &account_;
  }
  const OneAccount account_;
};

TEST_F(RedisLogInTest, NothingIsDoneBeforeALogIn) {
  EXPECT_EQ(say({"PING"}), "-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(say({"nonsense"}), "-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(say({"HELLO", "3"}).substr(0, 13), "-NOAUTH HELLO");
  EXPECT_EQ(say({"AUTH", "wrong"}),
            "-WRONGPASS invalid username-password pair or user is disabled.\r\n");
  EXPECT_EQ(client().dialogue().most_waiting, Dialogue::most_waiting_before_login);
  EXPECT_EQ(say({"AUTH", "open"}), "+OK\r\n");
  EXPECT_EQ(say({"PING"}), "+PONG\r\n");
  EXPECT_EQ(say({"RESET"}), "+RESET\r\n");
  EXPECT_EQ(say({"PING"}), "-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(say({"AUTH", "default", "open"}), "+OK\r\n");
  EXPECT_EQ(say({"HSET", "db.t:1", "a", "x"}), ":1\r\n");
}

TEST_F(RedisLogInTest, AnAccountOfTheServerMayDoWhatItMay) {
  EXPECT_EQ(say({"AUTH", "ann", "wrong"}),
            "-WRONGPASS invalid username-password pair or user is disabled.\r\n");
  EXPECT_EQ(say({"AUTH", "ann", "sesame"}), "+OK\r\n");
  EXPECT_EQ(say({"EXISTS", "db.t:1"}), ":0\r\n");
  EXPECT_EQ(say({"HSET", "db.t:1", "a", "x"}).substr(0, 8), "-NOPERM ");
  EXPECT_EQ(say({"HGET", "db.k2:a:1", "v"}), say({"HGET", "db.none:a:1", "v"}));
  EXPECT_EQ(client().send("AUTH ann sesame\r\nHELLO 3 AUTH ann sesame\r\n").substr(0, 9),
            "+OK\r\n%7\r\n");
  EXPECT_EQ(say({"HELLO", "3", "AUTH", "ann", "wrong"}).substr(0, 11), "-WRONGPASS ");
}

// MULTI is refused, and what its client has sent behind it in one packet must not be executed.
TEST_F(RedisLogInTest, ATransactionBeforeALogInIsNotExecuted) {
  const std::string replies = client().send(
      TestClient::packed({"MULTI"}) + TestClient::packed({"AUTH", "open"}) +
      TestClient::packed({"HSET", "db.t:1", "a", "x"}) + TestClient::packed({"EXEC"}));
  EXPECT_EQ(replies,
            "-NOAUTH Authentication required.\r\n+OK\r\n+QUEUED\r\n"
            "-EXECABORT Transaction discarded because of previous errors.\r\n");
  EXPECT_EQ(say({"EXISTS", "db.t:1"}), ":0\r\n");
}

}  // namespace
}  // namespace hs::redis
