// Tests of passes and long finds over the in-memory store, without a socket.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "handlersocket/session/test_pass_world.h"

namespace hs::handlersocket {
namespace {

using net::Next;
using net::Turn;
using namespace std::chrono_literals;
using namespace std::string_literals;

class PassRunnerTest : public ::testing::Test, protected World {};

TEST_F(PassRunnerTest, ExecutesTheCompleteLinesOfEachTurn) {
  run({open_t + "1\t=\t1\t1\r\n1\t=\t1\t2", "X\n\n", "", "A"});
  EXPECT_EQ(reply(0), "0\t1\n0\t3\t1\tone\t1\n");
  EXPECT_EQ(left(0), "1\t=\t1\t2");
  EXPECT_EQ(reply(1), "2\t1\tcmd\n2\t1\tcmd\n");
  EXPECT_EQ(left(1), "");
  EXPECT_EQ(reply(2), "");
  EXPECT_EQ(left(3), "A");
  for (const Turn& turn : turns_) EXPECT_EQ(turn.next, Next::wait);
  EXPECT_EQ(counted(Counter::requests_open), 1u);
  EXPECT_EQ(counted(Counter::requests_find), 1u);
  EXPECT_EQ(counted(Counter::requests_malformed), 2u);
  EXPECT_EQ(counted(Counter::errors), 2u);
  EXPECT_EQ(counted(Counter::passes), 1u);
  run({"1\t=", ""});
  EXPECT_EQ(counted(Counter::passes), 1u);
}

TEST_F(PassRunnerTest, AFullPassLeavesTheRestForTheNext) {
  config_.session.writable = false;
  config_.max_pass_steps = 3;
  run({"a\nb\n", "c\nd\ne\nf", "g\n", "h", ""});
  EXPECT_EQ(left(0), "");
  EXPECT_EQ(left(1), "d\ne\nf");
  EXPECT_EQ(left(2), "g\n");
  EXPECT_EQ(turns_[0].next, Next::wait);
  EXPECT_EQ(turns_[1].next, Next::again);
  EXPECT_EQ(turns_[2].next, Next::again);
  EXPECT_EQ(turns_[3].next, Next::wait);  // no complete request is left
  run({"", "d\ne\nf", "g\n"});
  EXPECT_EQ(turns_[1].next, Next::wait);
  EXPECT_EQ(left(1), "f");
  EXPECT_EQ(left(2), "");
}

TEST_F(PassRunnerTest, WhoAsksForMuchLeavesTheOthersTheirShare) {
  config_.session.writable = false;
  config_.max_pass_steps = 4'000;
  const std::string range = "3\t>\t1\t0\t400\n";
  std::string many = open_user;
  for (int i = 0; i < 100; ++i) many += range;
  run({many, many, open_user + "3\t=\t1\t1\n"});
  EXPECT_EQ(turns_[0].next, Next::again);
  EXPECT_EQ(turns_[1].next, Next::again);
  EXPECT_GT(turns_[0].consumed, open_user.size()) << "it has a share, too";
  EXPECT_GT(turns_[1].consumed, open_user.size());
  EXPECT_LT(turns_[0].consumed, many.size() / 5);
  EXPECT_EQ(reply(2), "0\t1\n0\t1\t1\n");
  EXPECT_EQ(turns_[2].next, Next::wait);
  // A turn that is alone has the whole budget.
  run({many});
  EXPECT_EQ(std::ranges::count(reply(0), '\n'), 1 + 10);
}

TEST_F(PassRunnerTest, APassIsBoundedInRowsSkippedToo) {
  config_.session.writable = false;
  config_.max_pass_steps = 2'000;
  std::string many = "P\t3\ttest\tuser\t\tuser_id\tuser_id\n";
  for (int i = 0; i < 100; ++i) many += "3\t>\t1\t0\t1\t0\tF\t=\t0\t400\n";
  run({many});
  EXPECT_EQ(turns_[0].next, Next::again);
  EXPECT_EQ(std::ranges::count(reply(0), '\n'), 1 + 5);
}

TEST_F(PassRunnerTest, TheTurnsThatAFullPassLeavesOutSaySo) {
  config_.max_pass_steps = 1;
  run({"a\nb\n", "c\n", "d"});
  EXPECT_FALSE(turns_[0].was_left_out());
  EXPECT_TRUE(turns_[1].was_left_out());
  EXPECT_FALSE(turns_[2].was_left_out());
}

TEST_F(PassRunnerTest, APassIsBoundedInBytes) {
  config_.session.writable = false;
  config_.max_pass_bytes = 2 * "2\t1\tcmd\n"s.size();
  run({"a\nb\nc\n", "d\n"});
  EXPECT_EQ(left(0), "c\n");
  EXPECT_EQ(left(1), "d\n");
  EXPECT_EQ(turns_[0].next, Next::again);
}

TEST_F(PassRunnerTest, ALineOverTheLimitClosesTheConnection) {
  config_.max_request_size = 10;
  run({"0123456789\r\nA\n", "A\n01234567890\nA\n", "B\n"});
  EXPECT_EQ(reply(0), "2\t1\tstmtnum\n3\t1\tauthtype\n");
  EXPECT_EQ(reply(1), "3\t1\tauthtype\n2\t1\trequest_size\n");
  EXPECT_EQ(turns_[1].next, Next::close);
  EXPECT_EQ(left(1), "");
  EXPECT_EQ(reply(2), "2\t1\tcmd\n");
}

TEST_F(PassRunnerTest, AnOversizedInputWithoutALineClosesTheConnection) {
  std::unique_ptr<net::Dialogue> dialogue = worker_.runner.open_dialogue(0);
  for (const std::string& input : {"no line"s, "line\nrest"s}) {
    Turn turn{.dialogue = dialogue.get(), .input = input, .oversized = true};
    out_.clear();
    run_pass(worker_.runner, {&turn, 1}, out_);
    const bool closed = input == "no line";
    EXPECT_EQ(out_.view(), closed ? "2\t1\trequest_size\n" : "2\t1\tcmd\n");
    EXPECT_EQ(turn.next, closed ? Next::close : Next::wait);
    EXPECT_EQ(input.substr(turn.consumed), closed ? "" : "rest");
  }
}

TEST_F(PassRunnerTest, AFailedRequestIsUndoneAlone) {
  run({open_t + "1\t+\t1\t8\n1\t+\t1\t1\n1\t+\t1\t9\n"});
  EXPECT_EQ(reply(0), "0\t1\n0\t1\n1\t1\t121\n0\t1\n");
  EXPECT_EQ(table("t").size(), 9u);
  EXPECT_EQ(counted(Counter::commits), 1u);
  EXPECT_EQ(counted(Counter::requests_insert), 3u);
  EXPECT_EQ(counted(Counter::errors), 1u);
}

TEST_F(PassRunnerTest, OnlyWritesToBeCommittedMakeAPassTakeMore) {
  config_.max_pass_steps = 20;
  config_.max_pass_bytes = 50;
  run({open_t});
  std::unique_ptr<net::Dialogue> dialogue = worker_.runner.open_dialogue(0);
  const auto takes_more_after = [&](const std::string& requests) {
    const std::string input = open_t + requests;
    Turn turn{.dialogue = dialogue.get(), .input = input};
    if (worker_.runner.read_first({&turn, 1}, out_)) worker_.runner.execute({&turn, 1}, 0, out_);
    const bool result = worker_.runner.takes_more();
    worker_.runner.end_pass({&turn, 1}, out_);
    return result;
  };
  EXPECT_FALSE(takes_more_after(""));
  EXPECT_FALSE(takes_more_after("1\t=\t1\t1\n"));
  EXPECT_FALSE(takes_more_after("1\t+\t1\t1\n"));  // refused
  EXPECT_TRUE(takes_more_after("1\t+\t1\t8\n"));
  EXPECT_FALSE(takes_more_after("1\t+\t1\t9\nX\nX\n"));  // spends all that a pass may spend
  EXPECT_FALSE(takes_more_after("1\t+\t1\t10\n1\t>\t1\t0\t99\n"));  // a long reply
  worker_.faults.broken_in = 1;
  EXPECT_FALSE(takes_more_after("1\t+\t1\t11\n"));  // broken: committed alone
}

TEST_F(PassRunnerTest, AFailedCommitIsAnsweredToWritesAndToWhatComesBehindThem) {
  joining_ = true;
  worker_.faults.next_commit = Status(Error::too_large, 1197);
  run({open_t + "1\t=\t1\t1\n1\t+\t1\t8\n1\t=\t1\t8\n1\t+\t1\t1\n1\t=\t1\t1\t1\t0\tU?\t99\nX\n" +
           "1\t=\t1\t2",
       "X\n", open_ai + "2\t+\t1\tv\n" + open_t + "1\t=\t1\t1\t1\t0\tD\n1\t=\t1\t3\n", "Y\n"});
  const std::string failed = "1\t1\t1197\n";
  EXPECT_EQ(reply(0),
            "0\t1\n0\t3\t1\tone\t1\n" + failed + failed + failed + failed + "2\t1\tcmd\n");
  EXPECT_EQ(left(0), "1\t=\t1\t2");
  EXPECT_EQ(reply(1), "2\t1\tcmd\n");
  EXPECT_EQ(reply(2), "0\t1\n" + failed + "0\t1\n" + failed);
  EXPECT_EQ(left(2), "1\t=\t1\t3\n") << "a find does not join a pass";
  EXPECT_EQ(reply(3), "2\t1\tcmd\n");
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(turns_[i].next, i == 2 ? Next::again : Next::wait);
  }
  EXPECT_EQ(table("t").size(), 7u);
  EXPECT_EQ(table("ai").size(), 0u);
  EXPECT_EQ(counted(Counter::errors), 4u + 5u);
  run({"1\t+\t1\t8\n"});
  EXPECT_EQ(reply(0), "0\t1\n");
}

TEST_F(PassRunnerTest, ABrokenPassIsExecutedAgainAndEndsTheSame) {
  // Each P and A changes what the requests before it would do if they were executed after it.
  const std::vector<std::string> before{"A\t1\ts\n" + open_t, "", "A\t1\ts\nP\t5\thst\tt\t\tid\n",
                                        "A\t1\ts\n"};
  const std::vector<std::string> inputs{
      "1\t=\t1\t1\nP\t1\thst\tt\t\tb\n1\t=\t1\t1\t1\t0\t+\t10\n1\t=\t1\t1\n",
      open_t + "A\t1\ts\n" + open_t + "1\t+\t1\t20\n1\t+\t1\t1\n",
      "5\t=\t1\t5\nP\t5\thst\tt\tib\tid\n70\t=\t1\t1\nP\t70\thst\tt\tib\tid\n5\t="
      "\t1\t5\t9\t0\tD\nX\n",
      open_t + "1\t>=\t1\t0\t99\n1\t=",
  };
  constexpr std::uint64_t requests_on_rows = 8;
  std::array<std::vector<std::string>, 2> expected;
  for (std::uint64_t round = 0; round < 2 * (requests_on_rows + 1); ++round) {
    SCOPED_TRACE(round);
    const std::uint64_t broken_in = round / 2;
    World world;
    const bool joining = round % 2 != 0;
    world.config_.session.secret = "s";
    world.config_.session.anonymous = nullptr;
    world.run(before);
    world.joining_ = joining;
    world.worker_.faults.broken_in = broken_in;
    world.run(inputs);
    std::vector<std::string> seen;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      // Finds do not join a pass.
      EXPECT_EQ(world.turns_[i].next, joining && i >= 2 ? Next::again : Next::wait);
      seen.push_back(world.reply(i) + "left: " + world.left(i));
    }
    const bool broke = broken_in != 0 && broken_in <= (joining ? 5 : requests_on_rows);
    EXPECT_EQ(world.counted(Counter::passes_replayed), broke ? 1u : 0u);
    EXPECT_EQ(world.counted(Counter::passes), 2u);
    EXPECT_EQ(world.counted(Counter::requests_insert), 2u);
    EXPECT_EQ(world.counted(Counter::requests_update), 1u);
    EXPECT_EQ(world.counted(Counter::requests_erase), joining ? 0u : 1u);
    EXPECT_EQ(world.counted(Counter::errors), joining ? 2u : 4u);
    EXPECT_EQ(world.counted(Counter::commits), broke ? (joining ? 2u : 3u) : 1u);
    world.joining_ = false;
    world.run({"P\t1\thst\tt\t\tid,a,b,c\n1\t>\t1\t0\t99\n"});
    seen.push_back(world.reply(0));
    if (broken_in == 0) expected[joining] = seen;
    EXPECT_EQ(seen, expected[joining]);
    if (round == 0) {
      EXPECT_EQ(seen[0], "0\t3\t1\tone\t1\n0\t1\n0\t1\t1\n0\t1\t11\nleft: ");
      EXPECT_EQ(seen[1], "3\t1\tunauth\n0\t1\n0\t1\n0\t1\n1\t1\t121\nleft: ");
      EXPECT_EQ(seen[2], "0\t1\t5\n0\t1\n2\t1\tstmtnum\n0\t1\n0\t1\t3\n2\t1\tcmd\nleft: ");
      EXPECT_EQ(seen[3],
                "0\t1\n0\t3\t1\tone\t1\t2\ttwo\t2\t3\tthree\t3\t4\t\0\t4\t5\tfive\t5\t6\tsix\t5\t7"
                "\tsev\t5\nleft: 1\t="s)
          << "as before the writes of the others";
    }
  }
}

TEST_F(PassRunnerTest, AWriteThatFailsAloneAfterABrokenPassIsAnsweredAlone) {
  worker_.faults.broken_in = 3;
  run({open_t});
  // The commit that fails is the first one of the second execution.
  worker_.faults.next_commit = Status(Error::commit_failed, 1180);
  run({"1\t+\t1\t8\n1\t+\t1\t9\n1\t+\t1\t10\n"});
  EXPECT_EQ(reply(0), "1\t1\t1180\n0\t1\n0\t1\n");
  EXPECT_EQ(table("t").size(), 9u);
}

TEST_F(PassRunnerTest, AWriteThatADeadlockEndsAloneIsAskedAgain) {
  run({open_t});
  const std::string input = "1\t+\t1\t8\n1\t+\t1\t9\n1\t+\t1\t10\n";
  worker_.faults.broken_in = 3;
  worker_.faults.next_commit = Status(Error::deadlock, 149);
  run({input});
  EXPECT_EQ(reply(0), "");
  EXPECT_EQ(left(0), input);
  EXPECT_EQ(turns_[0].next, Next::retry);
  EXPECT_EQ(table("t").size(), 7u);
  EXPECT_EQ(counted(Counter::requests_blocked), 1u);
  run({input});
  EXPECT_EQ(reply(0), "0\t1\n0\t1\n0\t1\n");
  EXPECT_EQ(table("t").size(), 10u);
}

TEST_F(PassRunnerTest, ABlockedTurnLeavesTheOthersAlone) {
  run({open_t + open_ai, open_t + open_ai});
  table("ai").set_blocked(true);
  run({"1\t=\t1\t1\n2\t+\t1\tv\n1\t=\t1\t2\n", "1\t=\t1\t3\n1\t+\t1\t8\n"});
  EXPECT_EQ(reply(0), "0\t3\t1\tone\t1\n");
  EXPECT_EQ(left(0), "2\t+\t1\tv\n1\t=\t1\t2\n");
  EXPECT_EQ(turns_[0].next, Next::retry);
  EXPECT_EQ(reply(1), "0\t3\t3\tthree\t3\n0\t1\n");
  EXPECT_EQ(turns_[1].next, Next::wait);
  EXPECT_EQ(counted(Counter::requests_blocked), 1u);
  EXPECT_EQ(counted(Counter::requests_insert), 1u);

  blocked_since_ = now_ns();
  run({"2\t+\t1\tv\n1\t=\t1\t2\n"});
  EXPECT_EQ(turns_[0].next, Next::retry);
  EXPECT_EQ(turns_[0].consumed, 0u);
  EXPECT_EQ(counted(Counter::requests_blocked), 1u);  // still the same request

  table("ai").set_blocked(false);
  run({"2\t+\t1\tv\n1\t=\t1\t2\n"});
  EXPECT_EQ(reply(0), "0\t1\t1\n0\t3\t2\ttwo\t2\n");
  EXPECT_EQ(turns_[0].next, Next::wait);
}

TEST_F(PassRunnerTest, AWrongSecretIsAnsweredLater) {
  config_.session.secret = "sesame";
  config_.session.anonymous = nullptr;
  config_.session.wrong_secret_delay = 50s;
  run({"A\t1\tguess\nA\t1\tother\n" + open_t, "A\t1\tsesame\n" + open_t});
  EXPECT_EQ(reply(0), "");
  EXPECT_EQ(turns_[0].next, Next::retry);
  EXPECT_EQ(reply(1), "0\t1\n0\t1\n");
  EXPECT_EQ(counted(Counter::log_ins_failed), 0u);
  blocked_since_ = now_ns() - std::chrono::nanoseconds(49s).count();
  run({left(0)});
  EXPECT_EQ(reply(0), "");
  blocked_since_ = now_ns() - std::chrono::nanoseconds(51s).count();
  run({left(0)});
  EXPECT_EQ(reply(0), "3\t1\tunauth\n");
  EXPECT_EQ(left(0), "A\t1\tother\n" + open_t);  // it has only begun to wait
  EXPECT_EQ(turns_[0].next, Next::retry);
  EXPECT_EQ(counted(Counter::log_ins_failed), 1u);
  EXPECT_EQ(counted(Counter::requests_log_in), 2u);
  EXPECT_EQ(counted(Counter::requests_blocked), 0u);
}

TEST_F(PassRunnerTest, WhoHasGoneOrHasLoggedInIsAnsweredAtOnce) {
  config_.session.secret = "sesame";
  config_.session.anonymous = nullptr;
  config_.session.wrong_secret_delay = 50s;
  set_inputs({"A\t1\tguess\n", "A\t1\tsesame\nA\t1\tguess\n" + open_t});
  turns_[0].peer_done = true;
  execute(turns_);
  worker_.runner.end_pass(turns_, out_);
  EXPECT_EQ(reply(0), "3\t1\tunauth\n");
  EXPECT_EQ(reply(1), "0\t1\n3\t1\tunauth\n0\t1\n");
  EXPECT_EQ(counted(Counter::log_ins_failed), 2u);
}

TEST_F(PassRunnerTest, WhereNoSecretIsSetNoneIsWrong) {
  config_.session.wrong_secret_delay = 50s;
  run({"A\t1\tguess\n"});
  EXPECT_EQ(reply(0), "3\t1\tunauth\n");
  EXPECT_EQ(counted(Counter::log_ins_failed), 0u);
}

TEST_F(PassRunnerTest, ABlockedRequestTimesOutAndTheTurnGoesOn) {
  config_.lock_wait_timeout = 50s;
  run({open_t + open_ai});
  table("ai").set_blocked(true);
  blocked_since_ = now_ns() - std::chrono::nanoseconds(40s).count();
  run({"2\t+\t1\tv\n"});
  EXPECT_EQ(turns_[0].next, Next::retry);
  blocked_since_ = now_ns() - std::chrono::nanoseconds(51s).count();
  run({"2\t+\t1\tv\n1\t=\t1\t2\n2\t+\t1\tw\n1\t=\t1\t2\n"});
  EXPECT_EQ(reply(0), "1\t1\t1205\n0\t3\t2\ttwo\t2\n");
  EXPECT_EQ(left(0), "2\t+\t1\tw\n1\t=\t1\t2\n");  // it has only begun to wait
  EXPECT_EQ(turns_[0].next, Next::retry);
  EXPECT_EQ(counted(Counter::requests_blocked), 1u);
  config_.lock_wait_timeout = 0s;
  blocked_since_ = 0;
  run({"2\t+\t1\tw\nP\t9\thst\tai\t\tv\n1\t=\t1\t2\n"});
  EXPECT_EQ(reply(0), "1\t1\t1205\n1\t1\t1205\n0\t3\t2\ttwo\t2\n");
}

std::string users(int first, int last) {
  std::string reply = "0\t1";
  for (int i = first; i <= last; ++i) reply += "\t" + std::to_string(i);
  return reply + "\n";
}

TEST_F(PassRunnerTest, ALongFindIsHandedOnAndStreamed) {
  const std::string request = "3\t>=\t1\t1\t5000\n";
  run({open_user + request + "3\t=\t1\t7\n", open_t});
  EXPECT_EQ(reply(0), "0\t1\n");
  EXPECT_EQ(turns_[0].next, Next::stream);
  EXPECT_EQ(left(0), request + "3\t=\t1\t7\n");
  EXPECT_EQ(reply(1), "0\t1\n");
  EXPECT_EQ(counted(Counter::requests_find), 0u);
  for (const std::string& input : {request + "3\t=\t1\t7\n", request + "3\t=", request}) {
    Turn turn{.dialogue = dialogues_[0].get(), .input = input};
    Buffer out;
    TestStream stream;
    streamer_.runner.run_stream(turn, out, stream);
    EXPECT_EQ(stream.all(out), users(1, 1000));
    EXPECT_GT(stream.sends, 2);
    EXPECT_EQ(turn.consumed, request.size());
    EXPECT_EQ(turn.reply_begin, turn.reply_end);
    EXPECT_EQ(turn.next, input.ends_with("7\n") ? Next::again : Next::wait);
  }
  EXPECT_EQ(streamer_.counters.get(Counter::requests_find), 3u);
  EXPECT_EQ(streamer_.counters.get(Counter::table_opens), 1u);  // it was kept open
  run({"3\t=\t1\t7\n"});  // the worker's own index is as it was
  EXPECT_EQ(reply(0), "0\t1\t7\n");
}

TEST_F(PassRunnerTest, AStreamedDialogueIsAnsweredInOrder) {
  TestConnection connection(worker_.runner, streamer_.runner);
  EXPECT_EQ(
      connection.send("X\n" + open_user +
                      "3\t>\t1\t400\t5000\n3\t>\t1\t0\t5000\n3\t=\t1\t7\n3\t>\t1\t0\t5000\nY\n"),
      "2\t1\tcmd\n0\t1\n" + users(401, 1000) + users(1, 1000) + "0\t1\t7\n" + users(1, 1000) +
          "2\t1\tcmd\n");
}

TEST_F(PassRunnerTest, AStreamToAClientThatIsGoneEnds) {
  run({open_user});
  const std::string request = "3\t>=\t1\t1\t5000\n";
  for (const int sends : {0, 1, 2}) {
    Turn turn{.dialogue = dialogues_[0].get(), .input = request};
    Buffer out;
    TestStream stream;
    stream.sends_left = sends;
    streamer_.runner.run_stream(turn, out, stream);
    EXPECT_EQ(turn.next, Next::close);
    EXPECT_TRUE(out.empty());
    EXPECT_EQ(stream.sends, sends);
    EXPECT_EQ(stream.bytes, users(1, 1000).substr(0, stream.bytes.size()));
  }
}

TEST_F(PassRunnerTest, AStreamerLeavesWhatTouchesNoRowsToTheWorker) {
  run({open_t});
  for (const std::string& input : {"X\n"s, open_t, "7\t+\t1\t9\n"s}) {
    Turn turn{.dialogue = dialogues_[0].get(), .input = input};
    TestStream stream;
    out_.clear();
    streamer_.runner.run_stream(turn, out_, stream);
    EXPECT_EQ(turn.next, Next::again) << input;
    EXPECT_EQ(turn.consumed, 0u);
    EXPECT_EQ(stream.all(out_), "");
  }
  EXPECT_EQ(table("t").size(), 7u);
}

TEST_F(PassRunnerTest, AStreamedFindAnswersErrorsAndWaitsForLocks) {
  run({open_t});
  const auto stream_one = [&](const std::string& input, std::uint64_t blocked_since) {
    Turn turn{.dialogue = dialogues_[0].get(), .input = input, .blocked_since = blocked_since};
    TestStream stream;
    out_.clear();
    streamer_.runner.run_stream(turn, out_, stream);
    EXPECT_EQ(turn.consumed, turn.next == Next::retry ? 0 : input.size());
    return turn.next == Next::retry ? "retry" : stream.all(out_);
  };
  EXPECT_EQ(stream_one("1\t=\t3\t1\t2\t3\n", 0), "2\t1\tkpnum\n");
  table("t").set_blocked(true);
  EXPECT_EQ(stream_one("1\t=\t1\t1\n", 0), "retry");
  EXPECT_EQ(stream_one("1\t=\t1\t1\n", now_ns()), "retry");
  EXPECT_EQ(stream_one("1\t=\t1\t1\n", now_ns() - std::chrono::nanoseconds(51s).count()),
            "1\t1\t1205\n");
  EXPECT_EQ(streamer_.counters.get(Counter::requests_blocked), 1u);
  table("t").set_blocked(false);
  EXPECT_EQ(stream_one("1\t=\t1\t1\n", 0), "0\t3\t1\tone\t1\n");
  streamer_.faults.broken_in = 1;
  EXPECT_EQ(stream_one("1\t=\t1\t1\n", 0), "1\t1\t149\n");
}

}  // namespace
}  // namespace hs::handlersocket
