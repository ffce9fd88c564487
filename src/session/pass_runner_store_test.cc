// Tests of what a PassRunner asks of its store, and of failures that the
// in-memory store does not have.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "session/pass_runner.h"
#include "session/test_connection.h"
#include "store/store.h"

namespace hs::session {
namespace {

using net::Next;
using net::Turn;

const std::string open_t = "P\t1\thst\tt\t\tid,a,b\n";

class ScriptedIndex final : public store::Index {
 public:
  std::uint32_t key_parts() const override { return 1; }
};

// A store that writes down what is asked of it and answers what the test says.
class ScriptedStore final : public store::Store {
 public:
  void begin_pass(store::PassMode mode) override {
    calls += mode == store::PassMode::together ? "begin " : "begin-alone ";
  }
  store::Outcome end_pass() override {
    calls += "end ";
    return {};
  }
  void abandon_pass() override { calls += "abandon "; }
  void release() override { calls += "release "; }
  store::Outcome open_index(const protocol::OpenIndex&,
                            std::shared_ptr<store::Index>& index) override {
    index = std::make_shared<ScriptedIndex>();
    return {};
  }
  store::Outcome find(store::Index&, const protocol::Find&, Buffer& out,
                      store::Sink* sink) override {
    calls += "find ";
    if (sink != nullptr) {
      out.append("0\t1\tbegun");
      if (flushes) {
        EXPECT_TRUE(sink->flush(out));
      }
      out.append("\tmore");
    }
    return times-- > 0 ? outcome : store::Outcome{};
  }
  store::Outcome modify(store::Index&, const protocol::Find&, Buffer&) override {
    return Error::notimpl;
  }
  store::Outcome insert(store::Index&, const protocol::Insert&, Buffer&) override {
    return Error::notimpl;
  }

  std::string calls;
  bool flushes = true;
  // Of the first finds, so many times; the others are answered.
  store::Outcome outcome;
  int times = 0;
};

class ScriptedTest : public ::testing::Test {
 protected:
  ScriptedTest() {
    Turn turn{.dialogue = dialogue_.get(), .input = open_t};
    run_pass(runner_, {&turn, 1}, out_);
    out_.clear();
    store_.calls.clear();
  }
  CounterBlock counters_;
  RunnerConfig config_;
  std::unique_ptr<ScriptedStore> made_ = std::make_unique<ScriptedStore>();
  ScriptedStore& store_ = *made_;
  PassRunner runner_{config_, std::move(made_), counters_};
  std::unique_ptr<net::Dialogue> dialogue_ = runner_.open_dialogue();
  Buffer out_;
};

TEST_F(ScriptedTest, ABrokenPassIsAbandonedBeforeItIsBegunAgain) {
  const std::string input = "1\t=\t1\t1\n1\t=\t1\t1\n";
  Turn turn{.dialogue = dialogue_.get(), .input = input};
  store_.outcome = store::Verdict::broken;
  store_.times = 1;
  run_pass(runner_, {&turn, 1}, out_);
  EXPECT_EQ(store_.calls, "begin find abandon begin-alone find find end release ");
}

TEST_F(ScriptedTest, APassThatBreaksAgainIsAnsweredWithErrors) {
  const std::string input = "1\t=\t1\t1\n1\t=\t1\t1\nX\n";
  Turn turn{.dialogue = dialogue_.get(), .input = input};
  store_.outcome = store::Verdict::broken;
  store_.times = 3;
  run_pass(runner_, {&turn, 1}, out_);
  EXPECT_EQ(out_.view(), "1\t1\t149\n1\t1\t149\n2\t1\tcmd\n");
  EXPECT_EQ(turn.next, Next::wait);
  EXPECT_EQ(turn.consumed, input.size());
}

TEST_F(ScriptedTest, WhatFailsAfterItsReplyHasBegunClosesTheConnection) {
  const std::string input = "1\t>\t1\t1\n1\t=\t1\t1\n";
  for (const store::Outcome& outcome :
       {store::Outcome(Status::server(1317)), store::Outcome(store::Verdict::blocked),
        store::Outcome(store::Verdict::broken)}) {
    for (const bool flushes : {true, false}) {
      Turn turn{.dialogue = dialogue_.get(), .input = input};
      TestStream stream;
      store_.outcome = outcome;
      store_.times = 1;
      store_.flushes = flushes;
      runner_.run_stream(turn, out_, stream);
      EXPECT_TRUE(out_.empty());
      if (flushes) {
        EXPECT_EQ(stream.bytes, "0\t1\tbegun");
        EXPECT_EQ(turn.next, Next::close);
      } else if (outcome.verdict() == store::Verdict::blocked) {
        EXPECT_EQ(stream.bytes, "");
        EXPECT_EQ(turn.next, Next::retry);
      } else {
        EXPECT_EQ(stream.bytes, outcome.answered() ? "1\t1\t1317\n" : "1\t1\t149\n");
        EXPECT_EQ(turn.next, Next::again);
      }
    }
  }
}

}  // namespace
}  // namespace hs::session
