// Tests of writes that wait for a row, and of those that a streamer executes.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <new>
#include <string>

#include "handlersocket/session/test_scripted_store.h"

namespace hs::handlersocket {
namespace {

using net::Next;
using net::Turn;

// A write that is blocked by a row's lock, and one that a streamer executes.
class WritesAside : public PassOfSeveral {
 protected:
  static std::uint64_t before_now(std::chrono::milliseconds time) {
    const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>((now - time).count());
  }
  // One turn of a worker, which has been blocked for that time.
  Turn run_blocked(const std::string& input, std::chrono::milliseconds blocked) {
    out_.clear();
    Turn turn{.dialogue = dialogue_.get(), .input = input, .blocked_since = before_now(blocked)};
    run_pass(runner_, {&turn, 1}, out_);
    return turn;
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
  static constexpr std::chrono::milliseconds a_while{100};
  static constexpr std::chrono::milliseconds too_long{1000 * 60};
  std::string input_;
};

TEST_F(WritesAside, WhatCameBeforeALockedRowIsAnswered) {
  open(2);
  store_.modifications = {{}, row_is_locked};
  run({update(1) + update(2) + update(3), update(4)});
  EXPECT_EQ(store_.calls, "begin modify1 modify2 modify4 end release ");
  EXPECT_EQ(replies(0), "0\t1\t1\n");
  EXPECT_EQ(turns_[0].next, Next::retry);
  EXPECT_EQ(turns_[0].consumed, update(1).size());
  EXPECT_EQ(replies(1), "0\t1\t4\n");
}

TEST_F(WritesAside, AfterAWhileAStreamerMayQueueForTheRow) {
  store_.modifications = {row_is_locked, row_is_locked, store::Verdict::blocked};
  EXPECT_EQ(run_blocked(update(1), {}).next, Next::retry);
  EXPECT_EQ(run_blocked(update(1), a_while).next, Next::queue);
  EXPECT_EQ(run_blocked(update(1), a_while).next, Next::retry) << "nobody queues for a table";
}

TEST_F(WritesAside, ALockedRowHasAnAnswerInTheEnd) {
  store_.modifications = {row_is_locked, {}, store::Verdict::blocked};
  EXPECT_EQ(run_blocked(update(1) + update(2), too_long).next, Next::wait);
  EXPECT_EQ(out_.view(), "1\t1\t146\n0\t1\t2\n");
  EXPECT_EQ(run_blocked(update(1), too_long).next, Next::wait);
  EXPECT_EQ(out_.view(), "1\t1\t1205\n");
}

TEST_F(WritesAside, AStreamerExecutesAWriteAlone) {
  EXPECT_EQ(stream(update(1)).next, Next::wait);
  EXPECT_EQ(store_.calls, "begin-aside modify1 end release ");
  EXPECT_EQ(out_.view(), "0\t1\t1\n");
  const Turn turn = stream(update(1) + update(2));
  EXPECT_EQ(turn.next, Next::again) << "the second is for a worker";
  EXPECT_EQ(turn.consumed, update(1).size());
  EXPECT_EQ(counters_.get(Counter::writes_aside), 2U);
  EXPECT_EQ(counters_.get(Counter::requests_update), 2U);
  EXPECT_EQ(counters_.get(Counter::long_finds), 0U);
}

TEST_F(WritesAside, WhatStopsItIsTriedAgainForAWhile) {
  for (const store::Outcome& outcome :
       {store::Outcome{store::Verdict::blocked}, store::Outcome{store::Verdict::broken},
        store::Outcome{Status(Error::deadlock, 149)}}) {
    const std::string last = outcome.verdict() == store::Verdict::blocked ? "1205" : "149";
    store_.modifications = {outcome, outcome};
    EXPECT_EQ(stream(update(1)).next, Next::retry);
    EXPECT_TRUE(out_.empty());
    EXPECT_EQ(stream(update(1), before_now(too_long)).next, Next::wait);
    EXPECT_EQ(out_.view(), "1\t1\t" + last + "\n");
  }
}

TEST_F(WritesAside, ItsCommitDecides) {
  store_.ends = {Status(Error::commit_failed, 1180)};
  EXPECT_EQ(stream(update(1)).next, Next::wait);
  EXPECT_EQ(out_.view(), "1\t1\t1180\n");
  store_.throws_in_end = true;
  EXPECT_THROW(stream(update(1)), std::bad_alloc);
  EXPECT_EQ(store_.calls, "begin-aside modify1 end abandon ");
}

// The engine has waited for the row already, so only a streamer may wait again.
TEST_F(WritesAside, AWriteInLineIsAskedForByAStreamerAlone) {
  const auto only_aside =
      store::Outcome::by_row(store::Verdict::oversized, Status(Error::row_locked, 146));
  store_.modifications = {only_aside};
  EXPECT_EQ(run_blocked(update(1), {}).next, Next::in_line);
  const auto turn_in_line = [&](std::chrono::milliseconds blocked) {
    store_.calls.clear();
    out_.clear();
    input_ = update(1) + update(2);
    Turn turn{.dialogue = dialogue_.get(),
              .input = input_,
              .blocked_since = before_now(blocked),
              .in_line = true};
    run_pass(runner_, {&turn, 1}, out_);
    return turn;
  };
  EXPECT_EQ(turn_in_line(a_while).next, Next::in_line);
  EXPECT_EQ(store_.calls.find("modify"), std::string::npos);
  EXPECT_TRUE(out_.empty());
  EXPECT_EQ(turn_in_line(too_long).next, Next::wait);
  EXPECT_EQ(out_.view(), "1\t1\t146\n0\t1\t2\n");
  EXPECT_EQ(store_.calls.find("modify1"), std::string::npos);

  store_.modifications = {only_aside, only_aside};
  EXPECT_EQ(stream(update(1)).next, Next::in_line);
  EXPECT_EQ(stream(update(1), before_now(too_long)).next, Next::wait);
  EXPECT_EQ(out_.view(), "1\t1\t146\n");
}

TEST_F(WritesAside, WhatCannotBeUndoneIsNotTriedAgain) {
  store_.modifications = {store::Outcome(Status(Error::deadlock, 149)).for_good()};
  EXPECT_EQ(stream(update(1)).next, Next::wait);
  EXPECT_EQ(out_.view(), "1\t1\t149\n");
}

}  // namespace
}  // namespace hs::handlersocket
