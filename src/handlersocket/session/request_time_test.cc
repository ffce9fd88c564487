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

// Its client takes its time over each piece.
class SlowStream final : public net::Stream {
 public:
  explicit SlowStream(std::chrono::milliseconds pause, bool stalls = false)
      : pause_(pause), stalls_(stalls) {}

  Sent send(Buffer& out, bool /*may_stall*/) override {
    ++sends;
    std::this_thread::sleep_for(pause_);
    bytes += out.view();
    out.clear();
    return stalls_ ? Sent::stalled : Sent::all;
  }
  bool must_give_way() override { return false; }
  bool must_end() override { return false; }

  int sends = 0;
  std::string bytes;

 private:
  const std::chrono::milliseconds pause_;
  const bool stalls_;
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

TEST_F(RequestTime, IsNotBoundedByDefault) {
  SlowStream to(10ms);
  stream(to);
  EXPECT_EQ(turn_.next, Next::wait);
  EXPECT_EQ(timed_out(), 0U);
}

}  // namespace
}  // namespace hs::handlersocket
