// Requests that repeat one another are read and looked up in a shorter way than others. Here the same commands go to two
// servers: as arrays, which are kept, and as lines, which never are.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redis/session/test_client.h"
#include "store/sample_tables.h"

namespace hs::redis {
namespace {

using Words = std::vector<std::string_view>;

class RepeatedRequests : public ::testing::Test {
 protected:
  static constexpr std::size_t clients = 3;

  // A server with connections of its own.
  struct Side {
    Side() {
      store::add_container_tables(server.database);
      store::add_golden_tables(server.database);
      store::add_user_table(server.database, 20);
      auto source = std::make_shared<keys::ContainerSource>();
      EXPECT_TRUE(keys::read_source("handlersocket.containers", *source));
      server.config->containers = source;
      server.start();
      for (auto& client : of_clients) client = std::make_unique<TestClient>(server);
      of_clients[0]->send({"MSET", "1", "one", "2", "two", "3", "three"});
    }
    TestServer server;
    std::array<std::unique_ptr<TestClient>, clients> of_clients;
  };

  static std::string line_of(const Words& words) {
    std::string line;
    for (const std::string_view word : words) line.append(word).push_back(' ');
    return line + "\r\n";
  }

  // One pipeline of one client. None of these words needs a quote.
  void say(std::size_t client, const std::vector<Words>& commands) {
    std::string arrays;
    std::string lines;
    for (const Words& words : commands) {
      arrays += TestClient::packed(words);
      lines += line_of(words);
    }
    EXPECT_EQ(with_arrays_.of_clients[client]->send(arrays),
              with_lines_.of_clients[client]->send(lines))
        << lines;
  }

  Side with_arrays_;
  Side with_lines_;
};

TEST_F(RepeatedRequests, AskForWhatTheirWordsSay) {
  const std::vector<Words> reads{{"HMGET", "", "a", "b"},
                                 {"HMGET", "", "b", "a"},
                                 {"hmget", "", "a", "b"},
                                 {"HMGET", "", "a", "c"},
                                 {"HMGET", "", "a", "b", "c"},
                                 {"HGET", "", "a"},
                                 {"HGET", "", "b"},
                                 {"HGETALL", ""},
                                 {"HSTRLEN", "", "a"},
                                 {"HEXISTS", "", "a"},
                                 {"HSCAN", "", "0"},
                                 {"GET", ""},
                                 {"TYPE", ""},
                                 {"EXISTS", ""},
                                 {"HLEN", ""},
                                 {"HMGET", "", "user_name", "created"},
                                 {"HMGET", ""},
                                 {"NOTHING", "", "a"}};
  const std::vector<std::string_view> names{
      "hst.t:",   "hst.t@ua:x:", "hst.k3@abc:1:a:", "test.user:",
      "default:", "hst.none:",   "hst.t",           ""};
  const std::vector<std::string_view> numbers{"1", "2", "3", "17", "1000", "01", "x"};
  std::vector<std::string> keys;
  for (const std::string_view name : names)
    for (const std::string_view number : numbers)
      keys.push_back(std::string(name) + std::string(number));
  std::mt19937 random(1);
  const auto one_of = [&](const auto& all) -> const auto& { return all[random() % all.size()]; };
  for (int round = 0; round < 2000; ++round) {
    std::vector<Words> commands;
    Words next = one_of(reads);
    for (std::size_t i = 0; i < 12; ++i) {
      if (random() % 4 == 0) next = one_of(reads);
      next[1] = one_of(keys);
      commands.push_back(next);
    }
    // Those that are queued are executed from a copy.
    if (random() % 8 == 0) {
      commands.insert(commands.begin() + 4, {"MULTI"});
      commands.emplace_back(Words{"EXEC"});
    }
    // What is read changes, and so does what is not there.
    if (random() % 8 == 0) commands[2] = {"HSET", "hst.t:3", "a", one_of(numbers)};
    if (random() % 8 == 0) commands[3] = {"DEL", one_of(keys)};
    say(random() % clients, commands);
    if (HasFailure()) return;
  }
}

// Each worker counts from 1. So a connection that moves must not bring the numbers of another one.
TEST(RepeatedRequestsOfTwoWorkers, HaveNumbersOfTheirOwn) {
  TestServer server;
  store::add_golden_tables(server.database);
  server.start();
  TestClient moving(server);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(moving.send({"HMGET", "hst.t:1", "a", "b"}), "*2\r\n$3\r\none\r\n$1\r\n1\r\n");
  const auto before = std::move(server.worker);
  server.start();
  TestClient other(server);
  constexpr std::string_view b_and_a = "*2\r\n$1\r\n1\r\n$3\r\none\r\n";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(other.send({"HMGET", "hst.t:1", "b", "a"}), b_and_a);
  moving.dialogue().depart();
  EXPECT_EQ(moving.send({"HMGET", "hst.t:1", "b", "a"}), b_and_a);
}

}  // namespace
}  // namespace hs::redis
