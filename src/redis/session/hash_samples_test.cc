#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "redis/session/test_client.h"

namespace hs::redis {
namespace {

class RedisSamplesTest : public ::testing::Test {
 protected:
  RedisSamplesTest() {
    server_.database.add_table({"db",
                                "t",
                                {{.name = "id", .integer = true, .nullable = false},
                                 {.name = "a"},
                                 {.name = "ab"},
                                 {.name = "n", .integer = true},
                                 {.name = "must", .nullable = false}},
                                {{"PRIMARY", {0}, true}}});
    server_.start();
    client_ = std::make_unique<TestClient>(server_);
    EXPECT_EQ(say({"HSET", "db.t:1", "a", "one", "n", "5", "must", "m"}), ":3\r\n");
  }
  std::string say(std::initializer_list<std::string_view> words) { return client_->send(words); }

  TestServer server_;
  std::unique_ptr<TestClient> client_;
};

TEST_F(RedisSamplesTest, HgetdelReadsAndClears) {
  EXPECT_EQ(say({"HGETDEL", "db.t:1", "FIELDS", "4", "n", "a", "nope", "a"}),
            "*4\r\n$1\r\n5\r\n$3\r\none\r\n$-1\r\n$-1\r\n");
  EXPECT_EQ(say({"HMGET", "db.t:1", "n", "a", "id"}), "*3\r\n$-1\r\n$-1\r\n$1\r\n1\r\n");
  EXPECT_EQ(say({"HGETDEL", "db.t:1", "FIELDS", "1", "n"}), "*1\r\n$-1\r\n");
  EXPECT_EQ(say({"HGETDEL", "db.t:1", "FIELDS", "1", "nope"}), "*1\r\n$-1\r\n");
  EXPECT_EQ(say({"HGETDEL", "db.t:2", "fields", "2", "n", "must"}), "*2\r\n$-1\r\n$-1\r\n");
}

TEST_F(RedisSamplesTest, HgetdelRefusesWhatStays) {
  EXPECT_EQ(say({"HGETDEL", "db.t:1", "FIELDS", "2", "n", "must"}),
            "-ERR 1048 23000 Column 'must' cannot be null\r\n");
  EXPECT_EQ(say({"HGETDEL", "db.t:1", "FIELDS", "2", "n", "id"}),
            "-ERR column 'id' is a part of the key and cannot be changed\r\n");
  EXPECT_EQ(say({"HGET", "db.t:1", "n"}), "$1\r\n5\r\n");
  EXPECT_EQ(say({"HGETDEL", "db.t:1", "n", "1", "n"}),
            "-ERR Mandatory argument FIELDS is missing or not at the right position\r\n");
  for (const std::string_view count : {"0", "-1", "x", "01"})
    EXPECT_EQ(say({"HGETDEL", "db.t:1", "FIELDS", count, "n"}),
              "-ERR Number of fields must be a positive integer\r\n");
  EXPECT_EQ(say({"HGETDEL", "db.t:1", "FIELDS", "2", "n"}),
            "-ERR The `numfields` parameter must match the number of arguments\r\n");
}

TEST_F(RedisSamplesTest, HgetdelIsAPartOfATransaction) {
  say({"MULTI"});
  say({"HGETDEL", "db.t:1", "FIELDS", "1", "n"});
  say({"HGETDEL", "db.t:1", "FIELDS", "1", "id"});
  EXPECT_EQ(say({"EXEC"}).substr(0, 10), "-EXECABORT");
  EXPECT_EQ(say({"HGET", "db.t:1", "n"}), "$1\r\n5\r\n");
}

TEST_F(RedisSamplesTest, HscanAnswersAllAtOnce) {
  EXPECT_EQ(say({"HSCAN", "db.t:1", "0"}),
            "*2\r\n$1\r\n0\r\n*8\r\n$2\r\nid\r\n$1\r\n1\r\n$1\r\na\r\n$3\r\none\r\n"
            "$1\r\nn\r\n$1\r\n5\r\n$4\r\nmust\r\n$1\r\nm\r\n");
  EXPECT_EQ(say({"HSCAN", "db.t:1", "77", "MATCH", "[an]*", "COUNT", "1", "NOVALUES"}),
            "*2\r\n$1\r\n0\r\n*2\r\n$1\r\na\r\n$1\r\nn\r\n");
  EXPECT_EQ(say({"HSCAN", "db.t:2", "0", "COUNT", "x"}), "*2\r\n$1\r\n0\r\n*0\r\n");
  EXPECT_EQ(say({"HSCAN", "db.t:1", "0", "COUNT", "x"}),
            "-ERR value is not an integer or out of range\r\n");
  EXPECT_EQ(say({"HSCAN", "db.t:1", "0", "COUNT", "0"}), "-ERR syntax error\r\n");
  EXPECT_EQ(say({"HSCAN", "db.t:1", "0", "TYPE", "hash"}), "-ERR syntax error\r\n");
  EXPECT_EQ(say({"HSCAN", "db.t:1", "x"}), "-ERR invalid cursor\r\n");
  EXPECT_EQ(say({"HSCAN", "db.t:1", "-1"}), "-ERR invalid cursor\r\n");
  EXPECT_EQ(say({"HSCAN", "db.t:1", "18446744073709551615", "MATCH", "x"}),
            "*2\r\n$1\r\n0\r\n*0\r\n");
  EXPECT_EQ(say({"HSCAN", "db.t:1", "0", "MATCH", std::string(1025, '*')}),
            "-ERR pattern has more than 1024 bytes\r\n");
}

TEST_F(RedisSamplesTest, HrandfieldChoosesByChance) {
  std::set<std::string> seen;
  for (int i = 0; i < 200; ++i) seen.insert(say({"HRANDFIELD", "db.t:1"}));
  EXPECT_EQ(seen, (std::set<std::string>{"$2\r\nid\r\n", "$1\r\na\r\n", "$1\r\nn\r\n",
                                         "$4\r\nmust\r\n"}));
  EXPECT_EQ(say({"HRANDFIELD", "db.t:2"}), "$-1\r\n");
  EXPECT_EQ(say({"HRANDFIELD", "db.t:2", "-5"}), "*0\r\n");
  EXPECT_EQ(say({"HRANDFIELD", "db.t:1", "0"}), "*0\r\n");
  EXPECT_EQ(say({"HRANDFIELD", "db.t:1", "100", "WITHVALUES"}).substr(0, 4), "*8\r\n");
  EXPECT_EQ(say({"HRANDFIELD", "db.t:1", "-5"}).substr(0, 4), "*5\r\n");
  EXPECT_EQ(say({"HRANDFIELD", "db.t:1", "-5", "WITHVALUES"}).substr(0, 5), "*10\r\n");
  say({"HELLO", "3"});
  EXPECT_EQ(say({"HRANDFIELD", "db.t:1", "-3", "WITHVALUES"}).substr(0, 8), "*3\r\n*2\r\n");
}

TEST_F(RedisSamplesTest, HrandfieldHasABound) {
  EXPECT_EQ(say({"HRANDFIELD", "db.t:1", "-9223372036854775807"}).substr(0, 14), "-ERR 1153 08S0");
  EXPECT_EQ(say({"HRANDFIELD", "db.t:1", "-9223372036854775808"}),
            "-ERR value is out of range, value must between -9223372036854775807 and "
            "9223372036854775807\r\n");
  EXPECT_EQ(say({"HRANDFIELD", "db.t:1", "-9223372036854775807", "WITHVALUES"}),
            "-ERR value is out of range\r\n");
  EXPECT_EQ(say({"HRANDFIELD", "db.t:1", "x"}), "-ERR value is not an integer or out of range\r\n");
  EXPECT_EQ(say({"HRANDFIELD", "db.t:1", "1", "VALUES"}), "-ERR syntax error\r\n");
  // What is much goes aside.
  EXPECT_EQ(say({"HRANDFIELD", "db.t:1", "-20000"}).substr(0, 8), "*20000\r\n");
  EXPECT_GT(client_->turns, 1);
}

}  // namespace
}  // namespace hs::redis
