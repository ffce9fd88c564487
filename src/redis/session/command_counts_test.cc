#include "redis/session/command_counts.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "redis/session/test_client.h"
#include "store/memory_caller.h"

namespace hs::redis {
namespace {

class CommandCountsTest : public ::testing::Test {
 protected:
  CommandCountsTest() {
    server_.database.add_table({"db",
                                "t",
                                {{.name = "id", .integer = true, .nullable = false},
                                 {.name = "a"},
                                 {.name = "n", .integer = true}},
                                {{"PRIMARY", {0}, true}}});
  }

  TestClient& client() {
    if (client_ == nullptr) {
      server_.start();
      client_ = std::make_unique<TestClient>(server_);
    }
    return *client_;
  }
  std::string say(std::initializer_list<std::string_view> words) { return client().send(words); }

  // Calls, refused and failed ones, as text, so that a failure is readable.
  std::string counted(Command command) const {
    const CommandTotals totals = server_.config->command_counts.sum();
    const auto& of = totals.commands[static_cast<std::size_t>(command)];
    return std::to_string(of.calls) + " " + std::to_string(of.refused) + " " +
           std::to_string(of.failed);
  }
  std::uint64_t errors(ErrorCode code) const {
    return server_.config->command_counts.sum().errors[static_cast<std::size_t>(code)];
  }

  TestServer server_;
  std::unique_ptr<TestClient> client_;
};

TEST_F(CommandCountsTest, CountsWhatWasCalled) {
  say({"HSET", "db.t:1", "a", "one"});
  client().send(TestClient::packed({"HGET", "db.t:1", "a"}) +
                TestClient::packed({"HGET", "db.t:2", "a"}));
  say({"PING"});
  EXPECT_EQ(counted(Command::hset), "1 0 0");
  EXPECT_EQ(counted(Command::hget), "2 0 0");
  EXPECT_EQ(counted(Command::ping), "1 0 0");
  EXPECT_EQ(counted(Command::get), "0 0 0");
  for (const std::uint64_t count : server_.config->command_counts.sum().errors)
    EXPECT_EQ(count, 0u);
}

TEST_F(CommandCountsTest, TellsRefusedFromFailed) {
  say({"HGET", "db.t:1"});
  say({"HGET", "db.none:1", "a"});
  say({"GET", "db.t:1"});
  say({"NOSUCH"});
  say({"EXEC"});
  EXPECT_EQ(counted(Command::hget), "1 1 1");
  EXPECT_EQ(counted(Command::get), "1 0 1");
  EXPECT_EQ(counted(Command::exec), "1 0 1");
  EXPECT_EQ(errors(ErrorCode::general), 4u);
  EXPECT_EQ(errors(ErrorCode::wrong_type), 1u);
  client().send("*1\r\n$x\r\n");
  EXPECT_TRUE(client().closed());
  EXPECT_EQ(errors(ErrorCode::general), 5u);
}

TEST_F(CommandCountsTest, WhoHasToLogInIsRefused) {
  server_.log_in.anonymous = nullptr;
  say({"HGET", "db.t:1", "a"});
  EXPECT_EQ(counted(Command::hget), "0 1 0");
  EXPECT_EQ(errors(ErrorCode::no_auth), 1u);
}

// As in Redis, what was queued is counted when EXEC has executed it, and EXEC itself, too.
TEST_F(CommandCountsTest, CountsWhatExecHasExecuted) {
  client().send(TestClient::packed({"MULTI"}) + TestClient::packed({"HSET", "db.t:1", "a", "x"}) +
                TestClient::packed({"HSET", "db.t:2", "a", "x"}));
  EXPECT_EQ(counted(Command::hset), "0 0 0");
  say({"EXEC"});
  EXPECT_EQ(counted(Command::hset), "2 0 0");
  EXPECT_EQ(counted(Command::exec), "1 0 0");
  EXPECT_EQ(counted(Command::multi), "1 0 0");
  client().send(TestClient::packed({"MULTI"}) + TestClient::packed({"HSET", "db.t:3", "a", "x"}) +
                TestClient::packed({"HINCRBY", "db.t:1", "a", "1"}) + TestClient::packed({"EXEC"}));
  EXPECT_EQ(counted(Command::hset), "2 0 0");
  EXPECT_EQ(counted(Command::exec), "2 0 1");
  EXPECT_EQ(errors(ErrorCode::exec_abort), 1u);
}

TEST_F(CommandCountsTest, NothingWasExecutedIfAWatchedRowHasChanged) {
  client().send(TestClient::packed({"WATCH", "db.t:1"}) +
                TestClient::packed({"HSET", "db.t:1", "a", "x"}) + TestClient::packed({"MULTI"}) +
                TestClient::packed({"HDEL", "db.t:1", "a"}));
  EXPECT_EQ(say({"EXEC"}), "*-1\r\n");
  EXPECT_EQ(counted(Command::exec), "1 0 0");
  EXPECT_EQ(counted(Command::hdel), "0 0 0");
}

TEST_F(CommandCountsTest, CountsWhatAnotherThreadHasExecuted) {
  std::string request = TestClient::packed({"MULTI"});
  for (int i = 0; i < 200; ++i)
    request += TestClient::packed({"HSET", "db.t:" + std::to_string(i), "a", "x"});
  client().send(request + TestClient::packed({"EXEC"}));
  EXPECT_EQ(counted(Command::hset), "200 0 0");
  EXPECT_EQ(counted(Command::exec), "1 0 0");
  say({"HS.FIND", "db.t", "LIMIT", "2"});
  say({"KEYS", "db.none:*"});
  EXPECT_EQ(counted(Command::hs_find), "1 0 0");
  EXPECT_EQ(counted(Command::keys), "1 0 1");
  EXPECT_EQ(errors(ErrorCode::general), 1u);
}

TEST_F(CommandCountsTest, AReplyThatNobodyWantsIsCounted) {
  client().send(TestClient::packed({"CLIENT", "REPLY", "OFF"}) +
                TestClient::packed({"HGET", "db.none:1", "a"}) +
                TestClient::packed({"HGET", "db.t:1", "a"}));
  EXPECT_EQ(counted(Command::hget), "2 0 1");
  EXPECT_EQ(errors(ErrorCode::general), 1u);
}

TEST_F(CommandCountsTest, CountsOnceWhatIsExecutedAgain) {
  client();
  server_.worker_store->faults().broken_in = 4;
  EXPECT_EQ(client().send(TestClient::packed({"HGET", "db.t:1", "a"}) +
                          TestClient::packed({"HSET", "db.t:1", "a", "x"}) +
                          TestClient::packed({"HGET", "db.t:1", "a"}) +
                          TestClient::packed({"HSET", "db.t:2", "a", "x"})),
            "$-1\r\n:1\r\n$1\r\nx\r\n:1\r\n");
  EXPECT_EQ(server_.counters.get(Counter::passes_replayed), 1u);
  EXPECT_EQ(counted(Command::hget), "2 0 0");
  EXPECT_EQ(counted(Command::hset), "2 0 0");
}

TEST(CommandCounterTest, ThreadsThatHaveEndedStayCounted) {
  CommandCountSet set;
  for (int i = 0; i < 3; ++i) {
    CommandCounter one(set);
    std::uint32_t notes = 0;
    one.note(notes, {.command = Command::get});
    one.note(notes,
             {.command = Command::get, .end = CommandEnd::failed, .code = ErrorCode::general});
    one.publish(notes);
    one.note(notes = 0, {.command = Command::set});  // never counted: its pass has failed
  }
  const CommandTotals totals = set.sum();
  EXPECT_EQ(totals.commands[static_cast<std::size_t>(Command::get)].calls, 6u);
  EXPECT_EQ(totals.commands[static_cast<std::size_t>(Command::get)].failed, 3u);
  EXPECT_EQ(totals.commands[static_cast<std::size_t>(Command::set)].calls, 0u);
  EXPECT_EQ(totals.errors[static_cast<std::size_t>(ErrorCode::general)], 3u);
  int blocks = 0;
  set.for_each([&](const CommandCounts&) { ++blocks; });
  EXPECT_EQ(blocks, 1);
}

TEST(CommandCounterTest, NotesAreTakenBack) {
  CommandCountSet set;
  CommandCounter one(set);
  const auto calls = [&](Command command) {
    return set.sum().commands[static_cast<std::size_t>(command)].calls;
  };
  std::uint32_t notes = 0;
  const auto note = [&](Command command, int times) {
    for (int i = 0; i < times; ++i) one.note(notes, {.command = command});
  };
  note(Command::get, 3);
  note(Command::set, 2);
  note(Command::get, 5);
  notes = 4;  // back to within the second run
  note(Command::set, 1);
  note(Command::ping, 1);
  notes = 5;  // to the end of a run
  one.publish(notes);
  EXPECT_EQ(calls(Command::get), 3u);
  EXPECT_EQ(calls(Command::set), 2u);
  EXPECT_EQ(calls(Command::ping), 0u);
  // The next pass begins, and the one behind it has failed before it was published.
  notes = 0;
  note(Command::get, 7);
  notes = 0;
  note(Command::get, 1);
  one.publish(notes);
  EXPECT_EQ(calls(Command::get), 4u);
  one.publish(0);
  EXPECT_EQ(calls(Command::get), 4u);
}

TEST(CommandCounterTest, WhatIsMoreThanAPassHasIsCountedAtOnce) {
  CommandCountSet set;
  CommandCounter one(set);
  constexpr std::uint64_t many = 50'000;
  std::uint32_t notes = 0;
  for (std::uint64_t i = 0; i < many; ++i) {
    one.note(notes, {.command = Command::ping});
    one.note(notes, {.command = Command::echo});
  }
  EXPECT_LT(notes, 2 * many);
  one.publish(notes);
  const CommandTotals totals = set.sum();
  EXPECT_EQ(totals.commands[static_cast<std::size_t>(Command::ping)].calls, many);
  EXPECT_EQ(totals.commands[static_cast<std::size_t>(Command::echo)].calls, many);
}

TEST_F(CommandCountsTest, InfoTellsOfThem) {
  const auto sections = [&](std::initializer_list<std::string_view> words) {
    const std::string told = say(words);
    std::string found;
    for (std::size_t at = told.find("# "); at != std::string::npos; at = told.find("# ", at + 1))
      found += told.substr(at + 2, told.find('\r', at) - at - 2) + " ";
    return found;
  };
  say({"HS.COUNT", "db.t"});
  say({"HGET", "db.none:1", "a"});
  const std::string commands = say({"INFO", "COMMANDSTATS"});
  EXPECT_NE(commands.find("# Commandstats\r\n"
                          "cmdstat_hget:calls=1,usec=0,usec_per_call=0.00,rejected_calls=0,"
                          "failed_calls=1\r\n"
                          "cmdstat_hs.count:calls=1,usec=0,usec_per_call=0.00,"),
            std::string::npos)
      << commands;
  EXPECT_NE(say({"INFO", "errorstats"}).find("# Errorstats\r\nerrorstat_ERR:count=1\r\n"),
            std::string::npos);
  EXPECT_NE(say({"INFO", "stats"}).find("\r\ntotal_error_replies:1\r\n"), std::string::npos);
  const std::string usual =
      "Server Clients Memory Persistence Stats Replication Errorstats Cluster Keyspace ";
  const std::string all =
      "Server Clients Memory Persistence Stats Replication Commandstats Errorstats Cluster "
      "Keyspace ";
  EXPECT_EQ(sections({"INFO"}), usual);
  EXPECT_EQ(sections({"INFO", "default"}), usual);
  EXPECT_EQ(sections({"INFO", "All"}), all);
  EXPECT_EQ(sections({"INFO", "everything"}), all);
  EXPECT_EQ(sections({"INFO", "default", "commandstats", "server"}), all);
  EXPECT_EQ(sections({"INFO", "keyspace", "nosuch", "CLIENTS", "clients"}), "Clients Keyspace ");
  EXPECT_EQ(sections({"INFO", "nosuch"}), "");
}

}  // namespace
}  // namespace hs::redis
