#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/server.h"
#include "redis/session/test_client.h"

namespace hs::redis {
namespace {

net::ConnectionInfo seen(std::uint64_t id, std::string user, int age_s) {
  net::ConnectionInfo one;
  one.id = id;
  one.peer = "127.0.0.1:" + std::to_string(id);
  one.user = std::move(user);
  one.age = std::chrono::seconds(age_s);
  if (id == 8) one.last_request = "find";
  return one;
}

class RedisClientsTest : public ::testing::Test {
 protected:
  RedisClientsTest() {
    known_ = {seen(7, "", 5), seen(8, "", 50), seen(9, "ann@%", 500), seen(8, "", 50)};
    server_.config->connections = [this] {
      return net::ConnectionList{.connections = known_, .is_complete = is_complete_};
    };
    server_.config->close = [this](std::uint64_t id) {
      closed_.push_back(id);
      return net::Closing::begun;
    };
    server_.start();
    client_ = std::make_unique<TestClient>(server_);  // whose number is 7
  }
  std::string say(std::initializer_list<std::string_view> words) { return client_->send(words); }
  std::vector<std::uint64_t> closed() { return std::exchange(closed_, {}); }

  std::vector<net::ConnectionInfo> known_;
  bool is_complete_ = true;
  std::vector<std::uint64_t> closed_;
  TestServer server_;
  std::unique_ptr<TestClient> client_;
};

TEST_F(RedisClientsTest, ListsThoseOfTheOwnAccount) {
  say({"HELLO", "3", "SETNAME", "me"});
  const std::string all = say({"CLIENT", "LIST"});
  EXPECT_EQ(client_->turns, 2);
  EXPECT_NE(all.find("txt:id=7 addr=127.0.0.1:7 name=me age=5 idle=0 flags=N "), std::string::npos)
      << all;
  EXPECT_NE(all.find("\nid=8 addr=127.0.0.1:8 name= age=50 "), std::string::npos);
  EXPECT_NE(all.find(" cmd=find user=default resp=2 "), std::string::npos);
  EXPECT_EQ(all.find("id=9"), std::string::npos);
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 4);
  say({"HELLO", "2"});
  EXPECT_EQ(say({"CLIENT", "LIST", "ID", "9", "10"}), "$0\r\n\r\n");
  EXPECT_EQ(say({"CLIENT", "LIST", "ID", "8", "9"}).find("id=7"), std::string::npos);
  EXPECT_EQ(say({"CLIENT", "LIST", "TYPE", "pubsub"}), "$0\r\n\r\n");
  EXPECT_NE(say({"CLIENT", "LIST", "TYPE", "NORMAL"}), "$0\r\n\r\n");
  EXPECT_EQ(say({"CLIENT", "LIST", "TYPE", "x"}), "-ERR Unknown client type 'x'\r\n");
  EXPECT_EQ(say({"CLIENT", "LIST", "ID", "x"}), "-ERR Invalid client ID\r\n");
  EXPECT_EQ(say({"CLIENT", "LIST", "x"}), "-ERR syntax error\r\n");
  is_complete_ = false;
  EXPECT_EQ(say({"CLIENT", "LIST"}).substr(0, 10), "-TRYAGAIN ");
}

TEST_F(RedisClientsTest, EndsThoseOfTheOwnAccount) {
  using Ids = std::vector<std::uint64_t>;
  EXPECT_EQ(say({"CLIENT", "KILL", "127.0.0.1:8"}), "+OK\r\n");
  EXPECT_EQ(closed(), Ids{8});
  EXPECT_EQ(say({"CLIENT", "KILL", "127.0.0.1:9"}), "-ERR No such client\r\n");
  EXPECT_EQ(say({"CLIENT", "KILL", "ID", "9"}), ":0\r\n");
  EXPECT_EQ(say({"CLIENT", "KILL", "ID", "7"}), ":0\r\n");
  EXPECT_EQ(closed(), Ids{});
  EXPECT_EQ(say({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no"}), ":2\r\n");
  EXPECT_EQ(closed(), (Ids{8, 7}));
  EXPECT_EQ(say({"CLIENT", "KILL", "USER", "default"}), ":1\r\n");
  EXPECT_EQ(say({"CLIENT", "KILL", "USER", "ann@%"}), ":0\r\n");
  EXPECT_EQ(say({"CLIENT", "KILL", "MAXAGE", "51"}), ":0\r\n");
  EXPECT_EQ(say({"CLIENT", "KILL", "MAXAGE", "50", "ADDR", "127.0.0.1:8"}), ":1\r\n");
  EXPECT_EQ(say({"CLIENT", "KILL", "MAXAGE", "0"}), "-ERR maxage should be greater than 0\r\n");
  EXPECT_EQ(say({"CLIENT", "KILL", "ID", "0"}), "-ERR client-id should be greater than 0\r\n");
  EXPECT_EQ(say({"CLIENT", "KILL", "LADDR", "x"}).substr(0, 10), "-ERR LADDR");
  EXPECT_EQ(say({"CLIENT", "KILL", "SKIPME", "x"}), "-ERR syntax error\r\n");
  EXPECT_EQ(say({"CLIENT", "KILL", "ID", "7", "USER"}), "-ERR syntax error\r\n");
  EXPECT_EQ(say({"CLIENT", "KILL"}),
            "-ERR wrong number of arguments for 'client|kill' command\r\n");
}

TEST_F(RedisClientsTest, NamesEndWithTheirConnections) {
  {
    TestClient other(server_);
    other.dialogue().number = 8;
    other.send({"CLIENT", "SETNAME", "you"});
    EXPECT_NE(say({"CLIENT", "LIST"}).find("name=you"), std::string::npos);
    other.send({"RESET"});
    EXPECT_EQ(say({"CLIENT", "LIST"}).find("name=you"), std::string::npos);
    other.send({"CLIENT", "SETNAME", "you"});
  }
  EXPECT_EQ(say({"CLIENT", "LIST"}).find("name=you"), std::string::npos);
  EXPECT_EQ(say({"CLIENT", "HELP"}).substr(0, 5), "*24\r\n");
}

}  // namespace
}  // namespace hs::redis
