// A request whose client has set it a time ends when that is over, wherever it is.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "handlersocket/session/test_scripted_store.h"
#include "passes/waiting.h"

namespace hs::handlersocket {
namespace {

using namespace std::chrono_literals;
using net::Next;
using net::Turn;

const std::string timed_out = "1\t1\tmax_request_time\n";
const std::string find = "1\t=\t1\t5\n";

std::string within(int ms, const std::string& request) {
  return "within\t" + std::to_string(ms) + "\t" + request;
}

class WithinTime : public ScriptedTest {
 protected:
  static std::uint64_t ago(std::chrono::nanoseconds time) {
    return passes::monotonic_now() - static_cast<std::uint64_t>(time.count());
  }
  Turn turn_of(const std::string& input, std::chrono::nanoseconds age) {
    out_.clear();
    store_.calls.clear();
    input_ = input;
    return {.dialogue = dialogue_.get(), .input = input_, .arrived_at = ago(age)};
  }
  // One turn of a worker with bytes that came so long ago.
  Turn run(const std::string& input, std::chrono::nanoseconds age) {
    Turn turn = turn_of(input, age);
    run_pass(runner_, {&turn, 1}, out_);
    return turn;
  }
  Turn stream(const std::string& input, std::chrono::nanoseconds age) {
    Turn turn = turn_of(input, age);
    streamer_.run_stream(turn, out_, to_);
    return turn;
  }
  std::uint64_t count(Counter counter) const { return counters_.get(counter); }

  static constexpr auto row_is_locked =
      store::Outcome::by_row(store::Verdict::blocked, Status(Error::row_locked, 146));
  static constexpr auto only_aside =
      store::Outcome::by_row(store::Verdict::oversized, Status(Error::row_locked, 146));
  TestStream to_;
  std::string input_;
};

TEST_F(WithinTime, ARequestInTimeIsExecuted) {
  EXPECT_EQ(run(within(60'000, update(2)) + update(3), 0ms).deadline, 0U);
  EXPECT_EQ(out_.view(), "0\t1\t2\n0\t1\t3\n");
  EXPECT_EQ(count(Counter::requests_timed_out), 0U);
}

TEST_F(WithinTime, ARequestThatHasWaitedTooLongIsNotExecuted) {
  const Turn turn = run(update(1) + within(100, update(2)) + update(3), 200ms);
  EXPECT_EQ(turn.consumed, input_.size());
  EXPECT_EQ(out_.view(), "0\t1\t1\n" + timed_out + "0\t1\t3\n");
  EXPECT_EQ(store_.calls.find("modify2"), std::string::npos);
  EXPECT_EQ(count(Counter::requests_timed_out), 1U);
  EXPECT_EQ(count(Counter::requests_update), 3U);
  EXPECT_EQ(count(Counter::errors), 1U);
  run(within(100, find), 200ms);
  EXPECT_EQ(out_.view(), timed_out);
  EXPECT_EQ(store_.calls.find("find"), std::string::npos);
}

TEST_F(WithinTime, ItsMistakesComeFirst) {
  run(within(100, "1\tx\n") + within(100, "9\t=\t1\t5\n"), 200ms);
  EXPECT_EQ(out_.view(), "2\t1\top\n2\t1\tstmtnum\n");
  EXPECT_EQ(count(Counter::requests_timed_out), 0U);
}

TEST_F(WithinTime, TheServersTimeIsTheMost) {
  config_.max_request_time = 100ms;
  run(within(60'000, update(1)) + update(2), 200ms);
  EXPECT_EQ(out_.view(), timed_out + "0\t1\t2\n");
}

TEST_F(WithinTime, AGroupIsOneRequest) {
  const std::string group = "G\t2\n" + update(1) + update(2);
  run(within(100, group) + update(3), 200ms);
  EXPECT_EQ(out_.view(), timed_out + timed_out + timed_out + "0\t1\t3\n");
  EXPECT_EQ(store_.calls.find("begin-unit"), std::string::npos);
  EXPECT_EQ(count(Counter::requests_timed_out), 1U);
  run(within(60'000, group), 0ms);
  EXPECT_EQ(out_.view(), "0\t1\n0\t1\t1\n0\t1\t2\n");
  stream(within(100, group), 200ms);
  EXPECT_EQ(out_.view(), timed_out + timed_out + timed_out);
  EXPECT_EQ(store_.calls, "");
}

TEST_F(WithinTime, AGroupWithoutATimeEndsTheConnection) {
  for (const std::string begin : {"within\tx\tG\t1\n", "within\tG\t1\n", "within\t100\tG\tx\n"}) {
    const Turn turn = run(begin + update(1), 0ms);
    EXPECT_EQ(out_.view(), "2\t1\tcmd\n") << begin;
    EXPECT_EQ(turn.next, Next::close);
  }
}

TEST_F(WithinTime, WhoWaitsForALockWaitsUntilThen) {
  store_.modifications = {row_is_locked};
  const Turn blocked = run(update(1) + within(60'000, update(2)), 10ms);
  EXPECT_EQ(blocked.next, Next::retry);
  EXPECT_EQ(blocked.deadline, 0U) << "the first is blocked";
  store_.modifications = {{}, row_is_locked};
  const Turn turn = run(update(1) + within(60'000, update(2)), 10ms);
  EXPECT_EQ(turn.next, Next::retry);
  EXPECT_EQ(turn.deadline, turn.arrived_at + 60'000'000'000U);
}

TEST_F(WithinTime, WhoStandsInLineLooksAtItsTime) {
  store_.modifications = {only_aside};
  const Turn first = run(within(1000, update(1)), 0ms);
  EXPECT_EQ(first.next, Next::in_line);
  EXPECT_EQ(first.deadline, first.arrived_at + 1'000'000'000U);
  const auto in_line = [&](std::chrono::milliseconds age) {
    Turn turn = turn_of(within(1000, update(1)) + update(2), age);
    turn.blocked_since = turn.arrived_at;
    turn.deadline = turn.arrived_at + 1'000'000'000U;
    turn.in_line = true;
    run_pass(runner_, {&turn, 1}, out_);
    return turn;
  };
  EXPECT_EQ(in_line(0ms).next, Next::in_line);
  EXPECT_TRUE(out_.empty());
  EXPECT_EQ(in_line(2s).next, Next::wait);
  EXPECT_EQ(out_.view(), timed_out + "0\t1\t2\n");
  EXPECT_EQ(store_.calls.find("modify1"), std::string::npos);
  EXPECT_EQ(count(Counter::requests_timed_out), 1U);
}

TEST_F(WithinTime, OnAStreamerNothingIsBegunBehindIt) {
  for (const std::string& request : {update(1), find}) {
    const Turn turn = stream(within(100, request) + update(2), 200ms);
    EXPECT_EQ(out_.view(), timed_out);
    EXPECT_EQ(store_.calls, "");
    EXPECT_EQ(turn.next, Next::again);
  }
  EXPECT_EQ(count(Counter::requests_timed_out), 2U);
  EXPECT_EQ(stream(within(60'000, update(1)), 0ms).next, Next::wait);
  EXPECT_EQ(out_.view(), "0\t1\t1\n");
}

TEST_F(WithinTime, AWriteThatIsStoppedIsNotTriedAgainBehindIt) {
  for (const store::Outcome& outcome :
       {store::Outcome{store::Verdict::blocked}, store::Outcome{store::Verdict::broken},
        store::Outcome{Status(Error::deadlock, 149)}, only_aside}) {
    store_.modifications = {outcome, outcome};
    store_.pause = 0ms;
    const Turn turn = stream(within(60'000, update(1)), 0ms);
    EXPECT_TRUE(turn.next == Next::retry || turn.next == Next::in_line);
    EXPECT_NE(turn.deadline, 0U);
    store_.pause = 30ms;
    EXPECT_EQ(stream(within(20, update(1)), 0ms).next, Next::wait);
    EXPECT_EQ(out_.view(), timed_out);
  }
  EXPECT_EQ(count(Counter::requests_timed_out), 4U);
}

TEST_F(WithinTime, AGroupAsideEndsBetweenItsLines) {
  store_.pause = 300ms;
  stream(within(200, "G\t2\n" + update(1) + update(2)), 0ms);
  EXPECT_EQ(out_.view(), timed_out + timed_out + timed_out);
  EXPECT_EQ(store_.calls, "begin-aside begin-unit modify1 undo-unit end release ");
}

TEST_F(WithinTime, AFindThatIsParkedGoesOnToItsEnd) {
  store_.parks = 1;
  EXPECT_EQ(stream(within(300, find), 0ms).next, Next::stream);
  const Turn late = stream(within(300, find), 400ms);
  EXPECT_EQ(late.next, Next::close) << "a reply that has begun cannot become an error";
  EXPECT_TRUE(out_.empty());
  EXPECT_EQ(count(Counter::requests_timed_out), 1U);
}

// It was taken back from the queue for streamers or for remote threads.
TEST_F(WithinTime, WhoWaitsForAThreadIsAnsweredByItsWorker) {
  Turn turn = turn_of(within(100, update(1)) + update(2), 200ms);
  turn.deadline = turn.arrived_at + 100'000'000U;
  turn.on_remote_thread = true;
  runner_.answer_late(turn, out_);
  EXPECT_EQ(out_.view(), timed_out);
  EXPECT_EQ(turn.next, Next::again);
  EXPECT_EQ(count(Counter::requests_timed_out), 1U);

  store_.parks = 1;
  EXPECT_EQ(stream(within(300, find), 0ms).next, Next::stream);
  Turn parked = turn_of(within(300, find), 400ms);
  parked.deadline = parked.arrived_at + 300'000'000U;
  runner_.answer_late(parked, out_);
  EXPECT_TRUE(out_.empty());
  EXPECT_EQ(parked.next, Next::close);
}

}  // namespace
}  // namespace hs::handlersocket
