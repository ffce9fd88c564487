// Tests of what a PassRunner asks of its store, and of failures that the in-memory store does not
// have.
#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <string>
#include <tuple>

#include "handlersocket/session/test_scripted_store.h"

namespace hs::handlersocket {
namespace {

using net::Next;
using net::Turn;

TEST_F(ScriptedTest, BeforeTheSecretALineIsShort) {
  config_.session.secret = "s";
  config_.session.anonymous = nullptr;
  const std::string longest(4096, 'x');
  const std::string login = "A\t1\ts\n";
  for (const auto& [input, reply, next] :
       {std::tuple(longest + "\n", "2\t1\tcmd\n", Next::wait),
        std::tuple(longest + "x\n", "2\t1\trequest_size\n", Next::close),
        std::tuple(login + longest + "x\n", "0\t1\n2\t1\tcmd\n", Next::wait)}) {
    const std::unique_ptr<net::Dialogue> dialogue = runner_.open_dialogue(0);
    EXPECT_EQ(dialogue->most_waiting, 4096U);
    Turn turn{.dialogue = dialogue.get(), .input = input};
    out_.clear();
    run_pass(runner_, {&turn, 1}, out_);
    EXPECT_EQ(out_.view(), reply);
    EXPECT_EQ(turn.next, next);
    const bool is_in = input.starts_with(login);
    EXPECT_EQ(dialogue->most_waiting, is_in ? net::Dialogue::no_limit : 4096U);
  }
}

TEST_F(ScriptedTest, RefusesInTheProtocolsWords) {
  dialogue_->refuse(net::Refusal::no_room, out_);
  dialogue_->refuse(net::Refusal::needs_tls, out_);
  EXPECT_EQ(out_.view(), "1\t1\tmax_waiting_bytes\n3\t1\ttls\n");
}

TEST_F(ScriptedTest, ABrokenPassIsAbandonedBeforeItIsBegunAgain) {
  const std::string input = "1\t=\t1\t1\n1\t=\t1\t1\n";
  Turn turn{.dialogue = dialogue_.get(), .input = input};
  store_.outcome = store::Verdict::broken;
  store_.times = 1;
  run_pass(runner_, {&turn, 1}, out_);
  EXPECT_EQ(store_.calls, "begin find abandon begin-alone find find end release ");
}

TEST_F(ScriptedTest, ARequestThatADeadlockEndsAgainIsAskedAgainForAWhile) {
  const std::string input = "1\t=\t1\t1\n1\t=\t1\t1\nX\n";
  Turn turn{.dialogue = dialogue_.get(), .input = input};
  store_.outcome = store::Verdict::broken;
  store_.times = 2;
  run_pass(runner_, {&turn, 1}, out_);
  EXPECT_TRUE(out_.empty());
  EXPECT_EQ(turn.next, Next::retry);
  EXPECT_EQ(turn.consumed, 0U);
  // Alone it is the store that says it.
  for (const store::Outcome& again :
       {store::Outcome(store::Verdict::broken), store::Outcome(Status(Error::deadlock, 149))}) {
    Turn late{.dialogue = dialogue_.get(), .input = input, .blocked_since = 1};
    store_.outcome = again;
    store_.times = again.verdict() == store::Verdict::broken ? 2 : 1;
    out_.clear();
    run_pass(runner_, {&late, 1}, out_);
    EXPECT_TRUE(out_.view().starts_with("1\t1\t149\n0\t")) << out_.view();
    EXPECT_TRUE(out_.view().ends_with("2\t1\tcmd\n")) << out_.view();
    EXPECT_EQ(late.next, Next::wait);
    EXPECT_EQ(late.consumed, input.size());
  }
}

TEST_F(ScriptedTest, WhatFailsAfterItsReplyHasBegunClosesTheConnection) {
  const std::string input = "1\t>\t1\t1\n1\t=\t1\t1\n";
  for (const store::Outcome& outcome :
       {store::Outcome(Status(Error::killed, 1317)), store::Outcome(store::Verdict::blocked),
        store::Outcome(store::Verdict::broken)}) {
    for (const bool flushes : {true, false}) {
      Turn turn{.dialogue = dialogue_.get(), .input = input};
      TestStream stream;
      store_.outcome = outcome;
      store_.times = 1;
      store_.flushes = flushes;
      streamer_.run_stream(turn, out_, stream);
      stream.all(out_);
      if (flushes) {
        EXPECT_EQ(stream.bytes, "0\t3\tbegun");
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

TEST_F(ScriptedTest, AParkedFindKeepsItsPlaceAndIsNoRequestOfAWorker) {
  const std::string input = "1\t>\t1\t1\n1\t=\t1\t1\n";
  const auto stream_once = [&](std::uint64_t blocked_since = 0) {
    Turn turn{.dialogue = dialogue_.get(), .input = input, .blocked_since = blocked_since};
    TestStream stream;
    streamer_.run_stream(turn, out_, stream);
    stream.all(out_);
    const bool stays = turn.next == Next::stream || turn.next == Next::retry;
    EXPECT_EQ(turn.consumed, stays ? 0 : input.find('\n') + 1);
    return turn.next;
  };
  const auto park_twice = [&] {
    store_.parks = 2;
    store_.positions = 0;
    EXPECT_EQ(stream_once(), Next::stream);
    EXPECT_EQ(stream_once(), Next::stream);
  };
  park_twice();
  EXPECT_EQ(counters_.get(Counter::finds_parked), 2u);
  EXPECT_EQ(counters_.get(Counter::requests_find), 0u);
  // The find meets a lock. A worker gets it back and hands it to a streamer again.
  store_.flushes = false;
  store_.outcome = store::Verdict::blocked;
  store_.times = 1;
  EXPECT_EQ(stream_once(), Next::retry);
  store_.calls.clear();
  Turn turn{.dialogue = dialogue_.get(), .input = input};
  run_pass(runner_, {&turn, 1}, out_);
  EXPECT_EQ(turn.next, Next::stream);
  EXPECT_EQ(turn.consumed, 0u);
  EXPECT_EQ(store_.calls.find("find"), std::string::npos);
  EXPECT_TRUE(out_.empty());
  EXPECT_EQ(stream_once(), Next::again);
  EXPECT_EQ(counters_.get(Counter::requests_find), 1u);
  // Its reply has begun. So an error closes the connection.
  for (const store::Outcome& outcome :
       {store::Outcome(Status(Error::killed, 1317)), store::Outcome(Error::no_table),
        store::Outcome(store::Verdict::blocked)}) {
    park_twice();
    store_.outcome = outcome;
    store_.times = 1;
    EXPECT_EQ(stream_once(1), Next::close);
  }
  // The next find begins at its beginning.
  park_twice();
}

const store::Outcome for_good = store::Outcome{}.for_good();
constexpr store::Verdict not_yet = store::Verdict::not_yet;

TEST_F(PassOfSeveral, AWriteThatCannotBeUndoneComesBehindACommit) {
  open(2);
  store_.modifications = {{}, {}, not_yet, for_good, {}};
  run({update(1), update(2) + update(3) + update(4)});
  EXPECT_EQ(store_.calls,
            "begin modify1 modify2 modify3 end release begin modify3 modify4 end release ");
  EXPECT_EQ(replies(0), "0\t1\t1\n");
  EXPECT_EQ(replies(1), "0\t1\t2\n0\t1\t3\n0\t1\t4\n");
}

TEST_F(PassOfSeveral, WhatCannotBeUndoneIsNotExecutedAgain) {
  open(3);
  store_.modifications = {for_good, for_good, {}, store::Verdict::broken};
  run({update(1), update(2) + update(3), update(4) + update(5)});
  EXPECT_EQ(store_.calls,
            "begin modify1 modify2 modify3 modify4 "
            "abandon begin-alone modify3 modify4 modify5 end release ");
  EXPECT_EQ(replies(0), "0\t1\t1\n");
  EXPECT_EQ(replies(1), "0\t1\t2\n0\t1\t3\n");
  EXPECT_EQ(replies(2), "0\t1\t4\n0\t1\t5\n");
}

// A write that needs no statement, as when no column of a hash is named, is nothing that a store has to
// commit. So a write that cannot be undone may follow it at once.
TEST_F(PassOfSeveral, WhatCannotBeUndoneMayFollowAWriteThatHasChangedNothing) {
  open(3);
  store_.modifications = {{}, for_good, {}, {}};
  store_.ends = {Status(Error::commit_failed, 1180)};
  run({update(1), update(2) + update(3), update(4)});
  EXPECT_EQ(store_.calls, "begin modify1 modify2 modify3 modify4 end release ");
  EXPECT_EQ(replies(0), "0\t1\t1\n");
  EXPECT_EQ(replies(1), "0\t1\t2\n1\t1\t1180\n");
  EXPECT_EQ(replies(2), "1\t1\t1180\n");
}

TEST_F(PassOfSeveral, NorIfItFailed) {
  open(1);
  store_.modifications = {store::Outcome(Status(Error::duplicate_key, 121)).for_good(),
                          store::Verdict::broken};
  run({update(1) + update(2)});
  EXPECT_EQ(store_.calls, "begin modify1 modify2 abandon begin-alone modify2 end release ");
  EXPECT_EQ(replies(0), "1\t1\t121\n0\t1\t2\n");
}

// A group that only looks is a write, but the store has nothing to commit for it. So what cannot be
// undone comes behind it without a commit.
TEST_F(PassOfSeveral, NorIfAWriteBeforeItHasChangedNothing) {
  open(3);
  const std::string looks = "G\t1\n1\t=\t1\t1\n";
  const Status failed = Status(Error::commit_failed, 1180);
  store_.modifications = {for_good, {}};
  store_.ends = {failed};
  run({looks, update(1), update(2)});
  EXPECT_EQ(store_.calls, "begin begin-unit find end-unit modify1 modify2 end release ");
  EXPECT_EQ(replies(0), "0\t1\n0\t3\n");
  EXPECT_EQ(replies(1), "0\t1\t1\n");
  EXPECT_EQ(replies(2), "1\t1\t1180\n");
}

TEST_F(PassOfSeveral, ACommitThatFailsAnswersWhatCameBeforeItOnly) {
  open(3);
  const Status failed = Status(Error::commit_failed, 1180);
  store_.modifications = {{}, {}, not_yet, for_good, {}, {}};
  store_.ends = {failed, {}};
  run({update(1), update(2) + update(3) + update(4), update(5)});
  EXPECT_EQ(replies(0), "1\t1\t1180\n");
  EXPECT_EQ(replies(1), "1\t1\t1180\n0\t1\t3\n0\t1\t4\n");
  EXPECT_EQ(replies(2), "0\t1\t5\n");
  store_.modifications = {{}, {}, not_yet, for_good, {}, {}};
  store_.ends = {{}, failed};
  run({update(1), update(2) + update(3) + update(4), update(5)});
  EXPECT_EQ(replies(0), "0\t1\t1\n");
  EXPECT_EQ(replies(1), "0\t1\t2\n0\t1\t3\n1\t1\t1180\n");
  EXPECT_EQ(replies(2), "1\t1\t1180\n");
}

TEST_F(PassOfSeveral, ACommitThatBreaksThePassHasItExecutedAgain) {
  open(1);
  store_.modifications = {{}, not_yet};
  store_.ends = {store::Verdict::broken};
  run({update(1) + update(2)});
  EXPECT_EQ(store_.calls,
            "begin modify1 modify2 end abandon begin-alone modify1 modify2 end release ");
  EXPECT_EQ(replies(0), "0\t1\t1\n0\t1\t2\n");
}

TEST_F(PassOfSeveral, WhatThrowsEndsItsOwnConnectionAlone) {
  open(3);
  store_.throws_at = 2;
  run({update(1), update(2) + update(3), update(4)});
  EXPECT_EQ(store_.calls,
            "begin modify1 modify2 modify3 abandon begin-alone modify1 modify4 end release ");
  EXPECT_EQ(replies(0), "0\t1\t1\n");
  EXPECT_EQ(replies(1), "");
  EXPECT_EQ(replies(2), "0\t1\t4\n");
  EXPECT_EQ(turns_[0].next, Next::wait);
  EXPECT_EQ(turns_[1].next, Next::close);
  EXPECT_EQ(turns_[2].next, Next::wait);
  run({update(1), "", update(4)});
  EXPECT_EQ(replies(0) + replies(2), "0\t1\t1\n0\t1\t4\n");
}

TEST_F(PassOfSeveral, SoItDoesWhenThePassIsExecutedAgain) {
  open(2);
  store_.modifications = {{}, store::Verdict::broken};
  store_.throws_at = 3;
  run({update(1) + update(2) + update(3), update(4)});
  EXPECT_EQ(store_.calls,
            "begin modify1 modify2 abandon begin-alone modify1 modify2 abandon begin-alone "
            "modify4 end release ");
  EXPECT_EQ(replies(0), "0\t1\t1\n") << "it was committed";
  EXPECT_EQ(turns_[0].next, Next::close);
  EXPECT_EQ(replies(1), "0\t1\t4\n");
}

TEST_F(PassOfSeveral, ACommitThatThrowsIsAbandoned) {
  open(1);
  store_.throws_in_end = true;
  EXPECT_THROW(run({update(1)}), std::bad_alloc);
  EXPECT_EQ(store_.calls, "begin modify1 end abandon ");
  store_.throws_in_end = false;
  run({update(2)});
  EXPECT_EQ(replies(0), "0\t1\t2\n");
}

TEST_F(ScriptedTest, AStreamThatThrowsLeavesNothingOpen) {
  const std::string input = "1\t>\t1\t1\n";
  TestStream stream;
  for (const bool in_end : {false, true}) {
    Turn turn{.dialogue = dialogue_.get(), .input = input};
    store_.calls.clear();
    store_.throws_at = in_end ? -1 : 0;
    store_.throws_in_end = in_end;
    EXPECT_THROW(streamer_.run_stream(turn, out_, stream), std::bad_alloc);
    EXPECT_EQ(store_.calls, in_end ? "begin find end abandon " : "begin find abandon ");
    out_.clear();
  }
  out_.clear();
  store_.throws_in_end = false;
  store_.flushes = false;
  Turn turn{.dialogue = dialogue_.get(), .input = input};
  streamer_.run_stream(turn, out_, stream);
  EXPECT_EQ(turn.next, Next::wait);
}

}  // namespace
}  // namespace hs::handlersocket
