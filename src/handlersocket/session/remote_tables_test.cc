// Tests of requests to tables on other servers: what a worker, a streamer and a remote thread do.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "handlersocket/session/test_scripted_store.h"

namespace hs::handlersocket {
namespace {

using net::Next;
using net::Turn;
using store::Verdict;

const std::string find_1 = "1\t=\t1\t5\n";
const std::string find_2 = "2\t=\t1\t5\n";
const std::string open_there = "P\t2\thst\tthere\t\tid,a,b\n";
const std::string open_elsewhere = "P\t2\thst\telsewhere\t\tid,a,b\n";

// A remote thread has a runner and a store of its own.
class RemoteTables : public PassOfSeveral {
 protected:
  RemoteTables() { open(1); }
  Turn ask_worker(const std::string& input) {
    out_.clear();
    Turn turn{.dialogue = dialogues_[0].get(), .input = input};
    run_pass(runner_, {&turn, 1}, out_);
    return turn;
  }
  Turn carry(StreamRunner& runner, const std::string& input, bool remote,
             std::uint64_t blocked_since = 0) {
    out_.clear();
    TestStream stream;
    Turn turn{.dialogue = dialogues_[0].get(),
              .input = input,
              .blocked_since = blocked_since,
              .on_remote_thread = remote};
    runner.run_stream(turn, out_, stream);
    sent_ = stream.bytes;
    return turn;
  }
  Turn ask_remote_thread(const std::string& input, std::uint64_t blocked_since = 0) {
    return carry(remote_runner_, input, true, blocked_since);
  }
  // The request has waited too long for a remote thread; that thread or a worker answers it.
  Turn answer_late(net::Application& runner, const std::string& input) {
    out_.clear();
    Turn turn{.dialogue = dialogues_[0].get(), .input = input, .on_remote_thread = true};
    runner.answer_late(turn, out_);
    return turn;
  }
  // The index 2 is one of a table on another server.
  void open_there_for_good() {
    store_.opens = {Verdict::remote, Verdict::remote};
    EXPECT_EQ(ask_worker(open_there).next, Next::remote);
    EXPECT_EQ(ask_remote_thread(open_there).next, Next::again);
    EXPECT_EQ(ask_worker(open_there).next, Next::wait);
    EXPECT_EQ(out_.view(), "0\t1\n");
  }

  std::string sent_;
  CounterBlock remote_counters_;
  std::unique_ptr<ScriptedStore> remote_made_ = std::make_unique<ScriptedStore>();
  ScriptedStore& remote_store_ = *remote_made_;
  StreamRunner remote_runner_{config_, std::move(remote_made_), remote_counters_};
  const std::array<net::Application*, 2> late_runners_{&runner_, &remote_runner_};
};

TEST_F(RemoteTables, AWorkerHandsTheConnectionOnBehindWhatIsAnswered) {
  store_.modifications = {{}, Verdict::remote};
  const Turn turn = ask_worker(update(1) + update(2) + update(3));
  EXPECT_EQ(store_.calls, "begin modify1 modify2 end release ");
  EXPECT_EQ(out_.view(), "0\t1\t1\n");
  EXPECT_EQ(turn.next, Next::remote);
  EXPECT_EQ(turn.consumed, update(1).size());
}

TEST_F(RemoteTables, ARemoteThreadOpensAndTheWorkerAnswers) {
  store_.opens = {Verdict::remote, Verdict::remote};
  EXPECT_EQ(ask_worker(open_there + find_2).next, Next::remote);
  EXPECT_TRUE(out_.empty());
  const Turn turn = ask_remote_thread(open_there + find_2);
  EXPECT_EQ(turn.next, Next::again);
  EXPECT_EQ(turn.consumed, 0U);
  EXPECT_TRUE(out_.empty());
  EXPECT_TRUE(sent_.empty());
  store_.opens = {Verdict::remote, Verdict::remote};
  const Turn again = ask_worker(open_there + find_2);
  EXPECT_EQ(out_.view(), "0\t1\n");
  EXPECT_EQ(again.next, Next::remote) << "the find is for a remote thread, too";
  EXPECT_EQ(again.consumed, open_there.size());
  EXPECT_EQ(counters_.get(Counter::requests_open), 3U) << "two of them in the fixture";
  EXPECT_EQ(remote_counters_.get(Counter::requests_open), 0U);
}

TEST_F(RemoteTables, ARemoteThreadExecutesAndAnswers) {
  open_there_for_good();
  remote_store_.calls.clear();
  EXPECT_EQ(ask_remote_thread(find_2).next, Next::wait);
  EXPECT_EQ(sent_ + std::string(out_.view()), "0\t3\tbegun\tmore\n");
  EXPECT_EQ(remote_store_.calls, "begin find end release ");
  EXPECT_EQ(ask_remote_thread("2\t=\t1\t7\t1\t0\tU\tx\n").next, Next::wait);
  EXPECT_EQ(out_.view(), "0\t1\t7\n");
  EXPECT_EQ(remote_counters_.get(Counter::requests_remote), 2U);
  EXPECT_EQ(remote_counters_.get(Counter::long_finds), 0U);
  EXPECT_EQ(remote_counters_.get(Counter::writes_aside), 0U);
}

TEST_F(RemoteTables, WhatFailsThereIsAnsweredHere) {
  store_.opens = {Verdict::remote, Verdict::remote};
  ask_worker(open_there);
  remote_store_.opens = {Status(Error::unreachable, 1429)};
  ask_remote_thread(open_there);
  EXPECT_EQ(ask_worker(open_there).next, Next::wait);
  EXPECT_EQ(out_.view(), "1\t1\t1429\n");
  EXPECT_EQ(ask_worker(find_2).next, Next::wait);
  EXPECT_EQ(out_.view(), "2\t1\tstmtnum\n") << "it is not open";
}

TEST_F(RemoteTables, TheResultIsForItsRequestOnly) {
  store_.opens = {Verdict::remote};
  ask_worker(open_there);
  ask_remote_thread(open_there);
  // The connection comes back with another request.
  store_.opens = {Verdict::remote};
  EXPECT_EQ(ask_worker(open_elsewhere).next, Next::remote);
  EXPECT_TRUE(out_.empty());
}

TEST_F(RemoteTables, ATableThatHasComeBackIsOpenedHere) {
  store_.opens = {Verdict::remote};
  ask_worker(open_there);
  ask_remote_thread(open_there);
  EXPECT_EQ(ask_worker(open_there + find_2).next, Next::wait);
  EXPECT_EQ(store_.calls, "begin end release begin find end release ");
}

TEST_F(RemoteTables, AnAnswerFromHereEndsTheResult) {
  for (const store::Outcome here :
       {store::Outcome{}, store::Outcome{Status(Error::denied, 1142)}}) {
    store_.opens = {Verdict::remote};
    ask_worker(open_there);
    ask_remote_thread(open_there);
    store_.opens = {here};
    EXPECT_EQ(ask_worker(open_there).next, Next::wait);
    store_.opens = {Verdict::remote};
    EXPECT_EQ(ask_worker(open_there).next, Next::remote);
    EXPECT_TRUE(out_.empty());
  }
}

TEST_F(RemoteTables, AReplayedPassHasTheResultAgain) {
  store_.opens = {Verdict::remote};
  ask_worker(open_there);
  ask_remote_thread(open_there);
  store_.opens = {Verdict::remote, Verdict::remote};
  store_.modifications = {Verdict::broken};
  EXPECT_EQ(ask_worker(open_there + update(1)).next, Next::wait);
  EXPECT_EQ(out_.view(), "0\t1\n0\t1\t1\n");
}

TEST_F(RemoteTables, AStreamerHandsItOnWithNothingSent) {
  store_.outcome = Verdict::remote;
  store_.times = 1;
  store_.flushes = false;
  const Turn turn = carry(streamer_, find_1, false);
  EXPECT_EQ(turn.next, Next::remote);
  EXPECT_EQ(turn.consumed, 0U);
  EXPECT_TRUE(out_.empty());
  EXPECT_TRUE(sent_.empty());
  EXPECT_EQ(counters_.get(Counter::long_finds), 0U);
  store_.modifications = {Verdict::remote};
  EXPECT_EQ(carry(streamer_, update(1), false).next, Next::remote);
  EXPECT_TRUE(out_.empty());
}

TEST_F(RemoteTables, AReplyThatHasBegunEndsItsConnection) {
  store_.outcome = Verdict::remote;
  store_.times = 1;
  EXPECT_EQ(carry(streamer_, find_1, false).next, Next::close);
}

TEST_F(RemoteTables, AStreamerLeavesAnOpenToTheWorker) {
  EXPECT_EQ(carry(streamer_, open_there, false).next, Next::again);
  EXPECT_EQ(ask_worker(open_there).next, Next::wait);
  EXPECT_EQ(out_.view(), "0\t1\n");
}

TEST_F(RemoteTables, ALockedTableIsAskedForAgainForAWhile) {
  remote_store_.opens = {Verdict::blocked, Verdict::blocked};
  store_.opens = {Verdict::remote, Verdict::remote};
  ask_worker(open_there);
  EXPECT_EQ(ask_remote_thread(open_there).next, Next::retry);
  EXPECT_EQ(ask_remote_thread(open_there, 1).next, Next::again) << "blocked since long ago";
  EXPECT_EQ(ask_worker(open_there).next, Next::wait);
  EXPECT_EQ(out_.view(), "1\t1\t1205\n");
}

TEST_F(RemoteTables, WhoHasWaitedTooLongForARemoteThreadIsOnlyAnswered) {
  open_there_for_good();
  store_.calls.clear();
  remote_store_.calls.clear();
  for (net::Application* const runner : late_runners_) {
    for (const std::string& request : {find_2, "2" + update(1).substr(1)}) {
      const Turn turn = answer_late(*runner, request + find_1);
      EXPECT_EQ(out_.view(), "1\t1\t1205\n");
      EXPECT_EQ(turn.consumed, request.size());
      EXPECT_EQ(turn.next, Next::again);
    }
    EXPECT_EQ(answer_late(*runner, find_2).next, Next::wait);
  }
  EXPECT_EQ(counters_.get(Counter::errors), 3U);
  EXPECT_EQ(remote_counters_.get(Counter::errors), 3U);
  EXPECT_EQ(remote_counters_.get(Counter::requests_remote), 0U);
  EXPECT_EQ(store_.calls + remote_store_.calls, "");
}

TEST_F(RemoteTables, AnOpenThatHasWaitedTooLongIsAnsweredByTheWorker) {
  for (net::Application* const runner : late_runners_) {
    const std::uint64_t opened = counters_.get(Counter::requests_open);
    store_.opens = {Verdict::remote, Verdict::remote};
    EXPECT_EQ(ask_worker(open_elsewhere).next, Next::remote);
    const Turn turn = answer_late(*runner, open_elsewhere);
    EXPECT_EQ(turn.next, Next::again);
    EXPECT_EQ(turn.consumed, 0U);
    EXPECT_TRUE(out_.empty());
    EXPECT_EQ(ask_worker(open_elsewhere).next, Next::wait);
    EXPECT_EQ(out_.view(), "1\t1\t1205\n");
    EXPECT_EQ(counters_.get(Counter::requests_open), opened + 1);
    // It counts for this request only.
    store_.opens = {Verdict::remote};
    EXPECT_EQ(ask_worker(open_elsewhere).next, Next::remote);
    EXPECT_TRUE(out_.empty());
  }
  EXPECT_EQ(remote_store_.calls, "");
}

TEST_F(RemoteTables, WhatNeedsNoRemoteThreadIsNeverLate) {
  for (net::Application* const runner : late_runners_) {
    const Turn turn = answer_late(*runner, "malformed\n");
    EXPECT_EQ(turn.next, Next::again);
    EXPECT_EQ(turn.consumed, 0U);
    EXPECT_TRUE(out_.empty());
    EXPECT_EQ(answer_late(*runner, "half").next, Next::wait);
    EXPECT_TRUE(out_.empty());
  }
}

TEST_F(RemoteTables, AFindOnARemoteThreadIsNeverParked) {
  class Stalling final : public net::Stream {
   public:
    Sent send(Buffer& out, bool may_stall) override {
      EXPECT_FALSE(may_stall);
      out.clear();
      return Sent::all;
    }
    bool must_give_way() override { return true; }
    bool must_end() override { return false; }
  } stream;
  open_there_for_good();
  Turn turn{.dialogue = dialogues_[0].get(), .input = find_2, .on_remote_thread = true};
  out_.clear();
  remote_runner_.run_stream(turn, out_, stream);
  EXPECT_EQ(turn.next, Next::wait);
}

TEST_F(RemoteTables, AFailureThereLeavesNothingOpen) {
  store_.opens = {Verdict::remote};
  ask_worker(open_there);
  remote_store_.throws_in_end = true;
  EXPECT_THROW(ask_remote_thread(open_there), std::bad_alloc);
  EXPECT_TRUE(remote_store_.calls.ends_with("abandon ")) << remote_store_.calls;
}

}  // namespace
}  // namespace hs::handlersocket
