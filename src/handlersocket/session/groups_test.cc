// Tests of groups: what becomes of their replies when something comes between. The dialogues of
// tests/vectors say what is answered to whom nothing happens.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "handlersocket/session/test_pass_world.h"
#include "handlersocket/session/test_scripted_store.h"

namespace hs::handlersocket {
namespace {

using net::Next;
using net::Turn;
using namespace std::chrono_literals;
using namespace std::string_literals;

std::string repeated(const std::string& line, std::size_t times) {
  std::string lines;
  for (std::size_t i = 0; i < times; ++i) lines += line;
  return lines;
}

class GroupsTest : public ::testing::Test, protected World {};

TEST_F(GroupsTest, EachLineIsAnsweredWithTheCommitsError) {
  worker_.faults.next_commit = Status(Error::commit_failed, 1180);
  run({open_t + "1\t=\t1\t1\nG\t2\n1\t+\t1\t8\n1\t=\t1\t8\n1\t=\t1\t2\n"});
  EXPECT_EQ(reply(0), "0\t1\n0\t3\t1\tone\t1\n" + repeated("1\t1\t1180\n", 4));
  EXPECT_EQ(table("t").size(), 7u);
}

TEST_F(GroupsTest, CountsAsOneRequest) {
  run({open_t + "G\t2\n1\t+\t1\t8\n1\t=\t1\t8\tE\nG\t1\n1\t+\t1\t8\n"});
  EXPECT_EQ(reply(0), "0\t1\n0\t1\n0\t1\n0\t1\t1\n1\t2\tundone\t1\n1\t1\t121\n");
  EXPECT_EQ(counted(Counter::requests_group), 2u);
  EXPECT_EQ(counted(Counter::requests_insert), 0u);
  EXPECT_EQ(counted(Counter::errors), 1u);
  EXPECT_EQ(counted(Counter::commits), 1u);
}

TEST_F(GroupsTest, WhatABrokenPassHasDoneIsDoneAgain) {
  run({open_t});
  worker_.faults.broken_in = 3;
  run({"1\t+\t1\t8\nG\t2\n1\t+\t1\t9\n1\t=\t1\t1\t1\t0\tD\n1\t=\t1\t9\tE\n"});
  EXPECT_EQ(reply(0), "0\t1\n0\t1\n0\t1\n0\t1\t1\n0\t1\t1\n");
  EXPECT_EQ(counted(Counter::passes_replayed), 1u);
  EXPECT_EQ(table("t").size(), 8u);
}

TEST_F(GroupsTest, WaitsAsAWhole) {
  run({open_t + open_ai});
  table("ai").set_blocked(true);
  const std::string group = "G\t2\n1\t+\t1\t9\n2\t+\t1\tx\n";
  run({"1\t+\t1\t8\n" + group});
  EXPECT_EQ(reply(0), "0\t1\n");
  EXPECT_EQ(left(0), group);
  EXPECT_EQ(turns_[0].next, Next::retry);
  EXPECT_EQ(table("t").size(), 8u);
  blocked_since_ = now_ns() - std::chrono::nanoseconds(51s).count();
  run({group + "1\t=\t1\t9\n"});
  EXPECT_EQ(reply(0), repeated("1\t1\t1205\n", 3) + "0\t3\n");
  EXPECT_EQ(counted(Counter::errors), 1u);
}

// The bound of the store in these tests is 500 steps for one request, and a worker's 4,000.
TEST_F(GroupsTest, ALongOneIsExecutedAside) {
  TestConnection connection(worker_.runner, streamer_.runner);
  connection.send(open_t);
  std::string lines;
  for (int id = 1000; id < 1300; ++id) lines += "1\t+\t1\t" + std::to_string(id) + "\n";
  EXPECT_EQ(connection.send("G\t300\n" + lines), repeated("0\t1\n", 301));
  EXPECT_EQ(streamer_.counters.get(Counter::writes_aside), 1u);
  EXPECT_EQ(streamer_.counters.get(Counter::requests_group), 1u);
  EXPECT_EQ(table("t").size(), 307u);
  const std::string more = "G\t301\n1\t=\t1\t1\t1\t0\tD\n" + lines;
  const std::string failed = connection.send(more);
  EXPECT_TRUE(failed.starts_with("1\t2\tundone\t2\n1\t1\tundone\n1\t1\t121\n1\t1\tundone\n"));
  EXPECT_EQ(std::ranges::count(failed, '\n'), 302);
  EXPECT_EQ(table("t").size(), 307u);
  EXPECT_EQ(connection.send("1\t=\t1\t1\n"), "0\t3\t1\tone\t1\n");
}

TEST_F(GroupsTest, ALateFailureAsideNamesItsLine) {
  TestConnection connection(worker_.runner, streamer_.runner);
  connection.send(open_t);
  std::string lines;
  for (int id = 1000; id < 1299; ++id) lines += "1\t+\t1\t" + std::to_string(id) + "\n";
  const std::string replies = connection.send("G\t300\n" + lines + "1\t+\t1\t1\n");
  EXPECT_EQ(replies, "1\t2\tundone\t300\n" + repeated("1\t1\tundone\n", 299) + "1\t1\t121\n");
  EXPECT_EQ(streamer_.counters.get(Counter::errors), 1u);
  EXPECT_EQ(streamer_.counters.get(Counter::writes_aside), 1u);
  EXPECT_EQ(table("t").size(), 7u);
}

TEST_F(GroupsTest, ManyRowsOfFindsAreAnsweredAside) {
  TestConnection connection(worker_.runner, streamer_.runner);
  connection.send(open_user);
  const std::string replies = connection.send("G\t20\n" + repeated("3\tup\t0\t400\n", 20));
  EXPECT_EQ(std::ranges::count(replies, '\n'), 21);
  EXPECT_EQ(std::ranges::count(replies, '\t'), 21 + 20 * 400);
  EXPECT_EQ(streamer_.counters.get(Counter::writes_aside), 1u);
}

TEST_F(GroupsTest, OneThatIsTooLongClosesTheConnection) {
  config_.max_request_size = 40;
  const std::string line = "1\t=\t1\t1\n";
  run({open_t + "G\t4\n" + repeated(line, 4), open_t + "G\t5\n" + repeated(line, 5)});
  EXPECT_EQ(reply(0), "0\t1\n0\t1\n" + repeated("0\t3\t1\tone\t1\n", 4));
  EXPECT_EQ(reply(1), "0\t1\n2\t1\trequest_size\n");
  EXPECT_EQ(turns_[1].next, Next::close);
  const std::unique_ptr<net::Dialogue> dialogue = worker_.runner.open_dialogue(0);
  const std::string input = "G\t5\n" + line;
  Turn turn{.dialogue = dialogue.get(), .input = input, .oversized = true};
  out_.clear();
  run_pass(worker_.runner, {&turn, 1}, out_);
  EXPECT_EQ(out_.view(), "2\t1\trequest_size\n");
  EXPECT_EQ(turn.next, Next::close);
}

TEST_F(GroupsTest, NobodyMayMakeOneBeforeTheLogIn) {
  config_.session.secret = "s";
  config_.session.anonymous = nullptr;
  run({"G\t1\n1\t=\t1\t1\nA\t1\ts\n"});
  EXPECT_EQ(reply(0), "3\t1\tunauth\n3\t1\tunauth\n0\t1\n");
}

TEST_F(GroupsTest, WhatAnEarlierTurnHasSeenIsNotLookedAtAgain) {
  const std::unique_ptr<net::Dialogue> dialogue = worker_.runner.open_dialogue(0);
  std::string input = open_t + "G\t3\n1\t=\t1\t1\n1\t=\t1";
  Turn turn{.dialogue = dialogue.get(), .input = input};
  run_pass(worker_.runner, {&turn, 1}, out_);
  EXPECT_EQ(turn.consumed, open_t.size());
  EXPECT_EQ(turn.note, 2u) << "its first line and one more";
  // What was seen is changed, so that a second look would find another line.
  input = "G\t3\n1\t=\t1\t1\t\t\t\t\t1\n1\t=\t1\t2\n";
  Turn next{.dialogue = dialogue.get(), .input = input, .scanned = input.size() - 6, .noted = 1};
  run_pass(worker_.runner, {&next, 1}, out_);
  EXPECT_EQ(next.note, 2u);
  EXPECT_EQ(dialogue->whole_requests(input), 0u);
  EXPECT_EQ(dialogue->whole_requests("x\nG\t2\na\nb\nG\t1\nc"), 10u);
  EXPECT_EQ(dialogue->whole_requests("G\tx\na\nb"), 6u);
}

class GroupsOfScriptedStore : public ScriptedTest {
 protected:
  static std::uint64_t before_now(std::chrono::milliseconds time) {
    return now_ns() - static_cast<std::uint64_t>(std::chrono::nanoseconds(time).count());
  }
  Turn stream(const std::string& input, std::uint64_t blocked_since = 0) {
    out_.clear();
    store_.calls.clear();
    TestStream stream;
    Turn turn{.dialogue = dialogue_.get(), .input = input, .blocked_since = blocked_since};
    streamer_.run_stream(turn, out_, stream);
    return turn;
  }
  static constexpr auto row_is_locked =
      store::Outcome::by_row(store::Verdict::blocked, Status(Error::row_locked, 146));
  const std::string group_ = "G\t2\n" + update(1) + update(2);
  const std::string errors_ = repeated("1\t1\t146\n", 3);
};

TEST_F(GroupsOfScriptedStore, IsOneUnit) {
  Turn turn{.dialogue = dialogue_.get(), .input = group_};
  run_pass(runner_, {&turn, 1}, out_);
  EXPECT_EQ(store_.calls, "begin begin-unit modify1 modify2 end-unit end release ");
  EXPECT_EQ(out_.view(), "0\t1\n0\t1\t1\n0\t1\t2\n");
}

TEST_F(GroupsOfScriptedStore, AWriteToALockedRowUndoesIt) {
  store_.modifications = {{}, row_is_locked};
  const std::string input = group_ + update(3);
  Turn turn{.dialogue = dialogue_.get(), .input = input};
  run_pass(runner_, {&turn, 1}, out_);
  EXPECT_EQ(store_.calls, "begin begin-unit modify1 modify2 undo-unit end release ");
  EXPECT_EQ(out_.view(), "");
  EXPECT_EQ(turn.next, Next::retry);
  EXPECT_EQ(turn.consumed, 0u);
}

TEST_F(GroupsOfScriptedStore, OneThatHasWaitedInLineIsGivenUp) {
  const std::string input = group_ + update(3);
  Turn turn{.dialogue = dialogue_.get(),
            .input = input,
            .blocked_since = before_now(60s),
            .in_line = true};
  run_pass(runner_, {&turn, 1}, out_);
  EXPECT_EQ(out_.view(), errors_ + "0\t1\t3\n");
  EXPECT_EQ(store_.calls, "begin modify3 end release ");
}

TEST_F(GroupsOfScriptedStore, AsideItIsTriedAgainForAWhile) {
  store_.modifications = {{}, row_is_locked};
  EXPECT_EQ(stream(group_).next, Next::retry);
  EXPECT_EQ(store_.calls, "begin-aside begin-unit modify1 modify2 undo-unit end release ");
  EXPECT_TRUE(out_.empty());
  store_.modifications = {{}, row_is_locked};
  EXPECT_EQ(stream(group_, before_now(60s)).next, Next::wait);
  EXPECT_EQ(out_.view(), errors_);
  const Status deadlock(Error::deadlock, 149);
  store_.modifications = {{}, deadlock};
  EXPECT_EQ(stream(group_).next, Next::retry);
  store_.modifications = {{}, deadlock};
  EXPECT_EQ(stream(group_, before_now(60s)).next, Next::wait);
  EXPECT_EQ(out_.view(), repeated("1\t1\t149\n", 3));
}

}  // namespace
}  // namespace hs::handlersocket
