#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "redis/session/dialogue.h"
#include "redis/session/test_client.h"

namespace hs::redis {
namespace {

// What commands that name no rows may take, and what becomes of them in a transaction.
class RedisBoundsTest : public ::testing::Test {
 protected:
  std::string say(std::initializer_list<std::string_view> words) { return client_.send(words); }
  // The first words, and then the last one again and again, `count` words in all.
  std::string say_many(std::initializer_list<std::string_view> first, std::string_view last,
                       std::size_t count) {
    std::vector<std::string_view> words(first);
    words.resize(count, last);
    return client_.send(TestClient::packed(words));
  }

  struct StartedServer : TestServer {
    StartedServer() { start(); }
  };

  StartedServer server_;
  TestClient client_{server_};
};

constexpr std::string_view one_parameter = "*2\r\n$9\r\nmaxmemory\r\n$1\r\n0\r\n";

// A star that tries each place for all stars behind it would take for ever.
TEST_F(RedisBoundsTest, APatternOfManyStarsIsComparedAtOnce) {
  EXPECT_EQ(say({"CONFIG", "GET", std::string(31, '*') + "x"}), "*0\r\n");
  EXPECT_EQ(say({"CONFIG", "GET", std::string(30, '*') + "n*"}).substr(0, 4), "*6\r\n");
  EXPECT_EQ(say({"CONFIG", "GET", "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b"}), "*0\r\n");
}

TEST_F(RedisBoundsTest, ParametersAreNamedAsInRedis) {
  EXPECT_EQ(say({"CONFIG", "GET", "maxmemory"}), one_parameter);
  EXPECT_EQ(say({"CONFIG", "GET", "MAXMEMORY"}), "*2\r\n$9\r\nMAXMEMORY\r\n$1\r\n0\r\n");
  EXPECT_EQ(say({"CONFIG", "GET", "MaxMemor[xy]"}), one_parameter);
  EXPECT_EQ(say({"CONFIG", "GET", "maxmemor?", "maxmemory", "*memory"}), one_parameter);
  EXPECT_EQ(say({"CONFIG", "GET", "none"}), "*0\r\n");
}

TEST_F(RedisBoundsTest, ANameOfAConnectionHasABound) {
  const std::string longest(256, 'n');
  EXPECT_EQ(say({"HELLO", "3", "SETNAME", longest}).substr(0, 3), "%7\r");
  EXPECT_EQ(say({"CLIENT", "GETNAME"}), "$256\r\n" + longest + "\r\n");
  EXPECT_EQ(say({"HELLO", "3", "SETNAME", longest + "n"}).substr(0, 16), "-ERR Client name");
  EXPECT_EQ(say({"CLIENT", "SETNAME", longest + "n"}).substr(0, 16), "-ERR Client name");
  EXPECT_EQ(say({"CLIENT", "GETNAME"}), "$256\r\n" + longest + "\r\n");
}

TEST_F(RedisBoundsTest, WhatTellsOfTheServerTakesSoManyWords) {
  EXPECT_EQ(say_many({"COMMAND", "INFO"}, "none", 1024).substr(0, 7), "*1022\r\n");
  for (const std::string_view part : {"INFO", "DOCS"}) {
    EXPECT_EQ(say_many({"COMMAND", part}, "get", 1025),
              "-ERR too many arguments for 'command' command\r\n");
  }
  EXPECT_EQ(say_many({"INFO"}, "x", 1025), "-ERR too many arguments for 'info' command\r\n");
  EXPECT_EQ(say_many({"CONFIG", "GET"}, "x", 1025),
            "-ERR too many arguments for 'config' command\r\n");
  EXPECT_EQ(say_many({"CLIENT", "LIST", "ID"}, "1", 1025),
            "-ERR too many arguments for 'client' command\r\n");
  EXPECT_EQ(say({"PING"}), "+PONG\r\n");
}

// INFO takes as long as many lookups, so other clients have their turn between a few of them.
TEST_F(RedisBoundsTest, WhatTellsOfTheServerSpendsThePass) {
  server_.passes.max_pass_steps = 1000;
  std::string request;
  for (int i = 0; i < 100; ++i) request += "TIME\r\n";
  client_.send(request);
  EXPECT_EQ(client_.turns, 1);
  request.clear();
  for (int i = 0; i < 100; ++i) request += "INFO x\r\n";
  client_.send(request);
  EXPECT_GT(client_.turns, 5);
}

TEST_F(RedisBoundsTest, ATransactionThatTakesLongGoesToAnotherThread) {
  const auto transaction = [](std::string_view command, int times) {
    std::string request = "MULTI\r\n";
    for (int i = 0; i < times; ++i) request += std::string(command) + "\r\n";
    return request + "EXEC\r\n";
  };
  const auto aside = [&] { return server_.counters.get(Counter::long_finds); };
  client_.send(transaction("INFO x", 64));
  client_.send(transaction("PING", 1024));
  EXPECT_EQ(aside(), 0u);
  EXPECT_NE(client_.send(transaction("INFO x", 65)).find("*65\r\n$0\r\n"), std::string::npos);
  EXPECT_EQ(aside(), 1u);
  EXPECT_NE(client_.send(transaction("PING", 1025)).find("*1025\r\n+PONG\r\n"), std::string::npos);
  EXPECT_EQ(aside(), 2u);
  EXPECT_NE(client_.send(transaction("INFO x", 1000)).find("*1000\r\n"), std::string::npos);
  const std::string refused = client_.send(transaction("INFO x", 1001));
  EXPECT_NE(refused.find("-ERR transaction is too large\r\n-EXECABORT"), std::string::npos);
}

// A pass that is executed again queues its commands again, and they are charged once.
TEST_F(RedisBoundsTest, WhatIsTakenOutOfATransactionIsGivenBack) {
  QueuedBytes queued;
  const CommandInfo* const ping = find_command("ping");
  const std::vector<std::string_view> words{"PING", "x"};
  {
    Transaction transaction(queued);
    ASSERT_TRUE(transaction.add(*ping, words));
    const std::string large(std::size_t{48} << 20, 'x');
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(transaction.add(*ping, std::vector<std::string_view>{"PING", large}));
      transaction.truncate(1);
    }
    EXPECT_EQ(transaction.size(), 1u);
  }
  EXPECT_TRUE(queued.take(std::size_t{64} << 20));
}

TEST_F(RedisBoundsTest, APartOfACommandThatIsNotThereSpoilsATransaction) {
  const std::string aborted = "-EXECABORT Transaction discarded because of previous errors.\r\n";
  EXPECT_EQ(client_.send("MULTI\r\nCONFIG GET\r\nEXEC\r\n"),
            "+OK\r\n-ERR wrong number of arguments for 'config|get' command\r\n" + aborted);
  EXPECT_EQ(client_.send("MULTI\r\nCONFIG nosuch\r\nEXEC\r\n"),
            "+OK\r\n-ERR unknown subcommand 'nosuch'. Try CONFIG HELP.\r\n" + aborted);
  EXPECT_EQ(client_.send("MULTI\r\nCOMMAND nosuch\r\nEXEC\r\n"),
            "+OK\r\n-ERR unknown subcommand 'nosuch'. Try COMMAND HELP.\r\n" + aborted);
  EXPECT_EQ(client_.send("MULTI\r\nCOMMAND COUNT x\r\nEXEC\r\n"),
            "+OK\r\n-ERR wrong number of arguments for 'command|count' command\r\n" + aborted);
}

TEST_F(RedisBoundsTest, AnExecThatIsRefusedEndsTheTransaction) {
  const std::string refused =
      "-EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' "
      "command\r\n";
  EXPECT_EQ(client_.send("MULTI\r\nEXEC foo\r\nPING\r\n"), "+OK\r\n" + refused + "+PONG\r\n");
  EXPECT_EQ(client_.send("EXEC foo\r\n"), refused);
}

TEST_F(RedisBoundsTest, RepliesThatAreWantedAgainAreThereAtOnce) {
  EXPECT_EQ(client_.send("CLIENT REPLY SKIP\r\nCLIENT REPLY ON\r\nPING\r\n"), "+OK\r\n+PONG\r\n");
  EXPECT_EQ(client_.send("CLIENT REPLY OFF\r\nPING\r\nCLIENT REPLY ON\r\nPING\r\n"),
            "+OK\r\n+PONG\r\n");
}

TEST_F(RedisBoundsTest, ResetForgetsTheNameAndKnowsTheLibrary) {
  say({"CLIENT", "SETNAME", "me"});
  say({"CLIENT", "SETINFO", "LIB-NAME", "lib"});
  say({"CLIENT", "SETINFO", "LIB-VER", "9"});
  EXPECT_EQ(say({"RESET"}), "+RESET\r\n");
  const std::string told = say({"CLIENT", "INFO"});
  EXPECT_NE(told.find(" name= "), std::string::npos);
  EXPECT_NE(told.find(" lib-name=lib lib-ver=9"), std::string::npos);
}

}  // namespace
}  // namespace hs::redis
