// Long requests end when their time is over.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "handlersocket/session/test_pass_world.h"

namespace hs::handlersocket {
namespace {

using namespace std::chrono_literals;
using net::Next;

const std::string all_users = "3\t>=\t1\t1\t5000\n";

// Each piece takes its time: the sending of it, or the client that is waited for.
class SlowStream final : public net::Stream {
 public:
  explicit SlowStream(std::chrono::milliseconds pause, bool stalls = false,
                      bool waits_for_client = false)
      : pause_(pause), stalls_(stalls), waits_for_client_(waits_for_client) {}

  Sent send(Buffer& out, bool /*may_stall*/) override {
    ++sends;
    std::this_thread::sleep_for(pause_);
    if (waits_for_client_) waited_ += pause_;
    bytes += out.view();
    out.clear();
    return stalls_ ? Sent::stalled : Sent::all;
  }
  bool must_give_way() override { return false; }
  bool must_end() override { return false; }
  std::chrono::nanoseconds waited() const override { return waited_; }

  int sends = 0;
  std::string bytes;

 private:
  const std::chrono::milliseconds pause_;
  const bool stalls_;
  const bool waits_for_client_;
  std::chrono::nanoseconds waited_{};
};

struct RequestTime : World, ::testing::Test {
  RequestTime() { run({open_user}); }

  // Gives the request to the streamer once.
  void stream(net::Stream& to) {
    turn_ = {.dialogue = dialogues_[0].get(), .input = all_users};
    streamer_.runner.run_stream(turn_, out_buffer_, to);
  }
  std::uint64_t timed_out() { return streamer_.counters.get(Counter::requests_timed_out); }

  net::Turn turn_;
  Buffer out_buffer_;
};

TEST_F(RequestTime, OfAFindThatHasAnsweredNothingIsAnError) {
  config_.max_request_time = 1ns;
  SlowStream to(0ms);
  stream(to);
  EXPECT_EQ(to.sends, 0);
  EXPECT_EQ(out_buffer_.view(), "1\t1\tmax_request_time\n");
  EXPECT_EQ(turn_.next, Next::wait);
  EXPECT_EQ(turn_.consumed, all_users.size());
  EXPECT_EQ(timed_out(), 1U);
  EXPECT_EQ(streamer_.counters.get(Counter::errors), 1U);
}

TEST_F(RequestTime, OfAFindWhoseReplyHasBegunClosesItsConnection) {
  config_.max_request_time = 200ms;
  SlowStream to(300ms);
  stream(to);
  EXPECT_EQ(to.sends, 1);
  EXPECT_EQ(turn_.next, Next::close);
  EXPECT_TRUE(out_buffer_.empty());
  EXPECT_EQ(timed_out(), 1U);
}

TEST_F(RequestTime, CountsAllPiecesOfAFindButNotTheTimeThatItIsParked) {
  config_.max_request_time = 150ms;
  SlowStream to(100ms, true);
  stream(to);
  ASSERT_EQ(turn_.next, Next::stream);
  std::this_thread::sleep_for(400ms);
  int pieces = 1;
  for (; turn_.next == Next::stream && pieces < 10; ++pieces) stream(to);
  EXPECT_EQ(turn_.next, Next::close);
  EXPECT_GE(pieces, 2);
  EXPECT_LE(to.sends, 2);
  EXPECT_EQ(timed_out(), 1U);
}

TEST_F(RequestTime, DoesNotCountTheTimeForWhichTheClientIsWaitedFor) {
  config_.max_request_time = 200ms;
  config_.long_request_time = 200ms;
  bool is_told = false;
  config_.note_long_request = [&](const passes::LongRequest&) { is_told = true; };
  SlowStream to(300ms, false, true);
  stream(to);
  EXPECT_GE(to.sends, 2);
  EXPECT_EQ(turn_.next, Next::wait);
  EXPECT_EQ(timed_out(), 0U);
  EXPECT_FALSE(is_told);
}

TEST_F(RequestTime, DoesNotCountItInTheNextPiecesEither) {
  config_.max_request_time = 200ms;
  int pieces = 0;
  do {
    SlowStream to(150ms, true, true);
    stream(to);
    out_buffer_.clear();
  } while (turn_.next == Next::stream && ++pieces < 10);
  EXPECT_EQ(turn_.next, Next::wait);
  EXPECT_GE(pieces, 2);
  EXPECT_EQ(timed_out(), 0U);
}

TEST_F(RequestTime, IsNotBoundedByDefault) {
  SlowStream to(10ms);
  stream(to);
  EXPECT_EQ(turn_.next, Next::wait);
  EXPECT_EQ(timed_out(), 0U);
}

}  // namespace
}  // namespace hs::handlersocket
