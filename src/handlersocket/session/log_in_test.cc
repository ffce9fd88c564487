// Log-ins of accounts: what the worker does before one and behind it, and what the log-in thread
// does.
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>
#include <memory>
#include <string>

#include "handlersocket/session/test_pass_world.h"
#include "net/peer.h"
#include "passes/failed_tries.h"
#include "store/memory_caller.h"

namespace hs::handlersocket {
namespace {

using namespace std::chrono_literals;
using net::Next;
using store::MemoryCaller;
using store::Rights;

const std::string denied = "1\t1\t1142\n";
const std::string wrong_password = "1\t1\t1045\n";
const std::string log_in_line = "A\t2\tann\tsesame\n";
const std::string update_7 = "3\t=\t1\t7\t1\t0\tU\t2007\n";

class TestAuthenticator final : public store::Authenticator {
 public:
  store::LogIn log_in(const store::Credentials& who) const override {
    ++asked;
    password = who.password;
    if (who.user != "ann" || who.password != "sesame")
      return {.status = Status(Error::wrong_log_in, 1045),
              .caller = nullptr,
              .may_be_guess = may_be_guess};
    return {.status = {}, .caller = ann};
  }
  std::shared_ptr<MemoryCaller> ann = std::make_shared<MemoryCaller>();
  bool may_be_guess = false;
  mutable int asked = 0;
  mutable std::string password;
};

struct LogIns : World, ::testing::Test {
  LogIns() {
    config_.session.anonymous = nullptr;
    config_.session.authenticator = &authenticator_;
    authenticator_.ann->grant("test", "user", Rights::read);
  }

  // What net/ does if the first turn says `log_in`: a log-in thread executes its next request, and
  // what it calls a secret is written over.
  void log_in(net::Endpoint from = {.is_loopback = true}) {
    ASSERT_EQ(turns_[0].next, Next::log_in);
    ASSERT_GE(turns_[0].secret_begin, turns_[0].consumed);
    rest_ = left(0);
    net::Turn turn{.dialogue = dialogues_[0].get(),
                   .input = rest_,
                   .blocked_since = blocked_since_,
                   .endpoint = &from,
                   .peer = peer_};
    TestStream stream;
    Buffer out;
    streamer_.runner.run_stream(turn, out, stream);
    EXPECT_EQ(stream.all(out), "");
    EXPECT_EQ(turn.consumed, 0U);
    next_ = turn.next;
    rest_.replace(turn.secret_begin, turn.secret_size, turn.secret_size, '\0');
  }

  TestAuthenticator authenticator_;
  std::string rest_;
  Next next_ = Next::wait;
};

TEST_F(LogIns, AreAnsweredByTheWorker) {
  run({open_user + log_in_line + open_user + "3\t=\t1\t7\n" + update_7});
  EXPECT_EQ(reply(0), "3\t1\tunauth\n");
  log_in();
  EXPECT_EQ(next_, Next::again);
  EXPECT_EQ(rest_.find("sesame"), std::string::npos);
  run({rest_});
  EXPECT_EQ(reply(0), "0\t1\n0\t1\n0\t1\t7\n" + denied);
  EXPECT_EQ(left(0), "");
  EXPECT_EQ(authenticator_.asked, 1);
  EXPECT_EQ(counted(Counter::requests_log_in), 1U);
  EXPECT_EQ(counted(Counter::log_ins_failed), 0U);
}

TEST_F(LogIns, OfAnotherAccountChangeTheCallerOfOpenIndexes) {
  run({log_in_line});
  log_in();
  run({rest_ + open_user + "3\t=\t1\t7\n"});
  authenticator_.ann = std::make_shared<MemoryCaller>();
  run({log_in_line});
  log_in();
  run({rest_ + "3\t=\t1\t7\n"});
  EXPECT_EQ(reply(0), "0\t1\n" + denied);
}

TEST_F(LogIns, ThatFailAreAnsweredLater) {
  config_.session.wrong_secret_delay = 50s;
  run({"A\t2\tann\tguess\n" + log_in_line});
  log_in();
  EXPECT_EQ(next_, Next::retry);
  blocked_since_ = now_ns() - std::chrono::nanoseconds(49s).count();
  for (int i = 0; i < 3; ++i) {
    run({rest_});
    EXPECT_EQ(reply(0), "");
    EXPECT_EQ(turns_[0].next, Next::retry);
  }
  blocked_since_ = now_ns() - std::chrono::nanoseconds(51s).count();
  run({rest_ + open_user});
  EXPECT_EQ(reply(0), wrong_password);
  EXPECT_EQ(left(0), log_in_line + open_user);
  EXPECT_EQ(counted(Counter::log_ins_failed), 1U);
  EXPECT_EQ(authenticator_.asked, 1);
  log_in();
  run({rest_});
  EXPECT_EQ(reply(0), "0\t1\n0\t1\n");
}

// A client that knows one password might try those of others.
TEST_F(LogIns, ThatFailAreAnsweredLaterAlsoBehindAnother) {
  config_.session.wrong_secret_delay = 50s;
  run({log_in_line + "A\t2\troot\tguess\n"});
  log_in();
  run({rest_});
  EXPECT_EQ(reply(0), "0\t1\n");
  log_in();
  blocked_since_ = now_ns();
  run({rest_ + open_user});
  EXPECT_EQ(reply(0), "");
  EXPECT_EQ(turns_[0].next, Next::retry);
}

TEST_F(LogIns, OfAClientThatHasGoneAreAnsweredAtOnce) {
  config_.session.wrong_secret_delay = 50s;
  run({"A\t2\tann\tguess\n"});
  log_in();
  set_inputs({rest_});
  turns_[0].peer_done = true;
  execute(turns_);
  worker_.runner.end_pass(turns_, out_);
  EXPECT_EQ(reply(0), wrong_password);
}

// Whoever can read the network can read the password.
TEST_F(LogIns, WithAPasswordAreRefusedOnPlainTcpFromElsewhere) {
  for (const bool is_safe : {false, true}) {
    run({log_in_line});
    log_in({.tls = is_safe ? this : nullptr});
    run({rest_});
    EXPECT_EQ(reply(0), is_safe ? "0\t1\n" : "3\t1\ttls\n");
    EXPECT_EQ(authenticator_.asked, is_safe ? 1 : 0);
  }
  run({log_in_line});
  log_in({.is_unix_socket = true});
  run({rest_});
  EXPECT_EQ(reply(0), "0\t1\n");
  run({"A\t2\tann\n"});
  log_in({});
  run({rest_});
  EXPECT_EQ(reply(0), wrong_password) << "there is nothing to be read";
}

TEST_F(LogIns, AreUndoneAndDoneAgainWithTheirPass) {
  run({log_in_line});
  log_in();
  authenticator_.ann->grant("test", "user", Rights::all);
  authenticator_.ann->grant("hst", "t", Rights::all);
  worker_.faults.broken_in = 1;
  run({rest_ + open_user + update_7 + "3\t=\t1\t2007\n"});
  EXPECT_EQ(reply(0), "0\t1\n0\t1\n0\t1\t1\n0\t1\t2007\n");
  EXPECT_EQ(authenticator_.asked, 1);
}

TEST_F(LogIns, AnswerARefusalAgainIfItsPassIsExecutedAgain) {
  config_.session.anonymous = store::Caller::unlimited();
  run({"A\t2\tann\tguess\n"});
  log_in();
  worker_.faults.broken_in = 1;
  run({rest_ + open_user + update_7 + "3\t=\t1\t2007\n"});
  EXPECT_EQ(reply(0), wrong_password + "0\t1\n0\t1\t1\n0\t1\t2007\n");
  EXPECT_EQ(authenticator_.asked, 1);
}

TEST_F(LogIns, ReadThePasswordUnescaped) {
  run({"A\t2\tann\tse\1Isame\n"});
  log_in();
  EXPECT_EQ(authenticator_.password, "se\tsame");
}

TEST_F(LogIns, NeedAnAuthenticator) {
  config_.session.authenticator = nullptr;
  run({log_in_line});
  EXPECT_EQ(reply(0), "3\t1\tauthtype\n");
  EXPECT_EQ(turns_[0].next, Next::wait);
}

// One wrong try at a time is allowed, and time makes no room.
struct SlowedTries : LogIns {
  SlowedTries() {
    sockaddr_in from{};
    from.sin_family = AF_INET;
    from.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::memcpy(address_.room(), &from, sizeof from);
    peer_ = &address_;
    config_.session.tries = &tries_;
    config_.session.secret = "sesame";
    leave_no_room();
    make_room();
  }

  static std::uint64_t never() { return now_ns() + std::chrono::nanoseconds(24h).count(); }
  void leave_no_room() { ASSERT_TRUE(tries_.take(address_.network(), never())); }
  void make_room() { tries_.give_back(address_.network()); }
  bool has_room() { return tries_.has_room(address_.network(), never()); }

  net::PeerAddress address_;
  passes::FailedTries tries_{1};
};

// It counts for nothing, and is not counted as slowed down each time that it is asked.
TEST_F(SlowedTries, ARightSecretWaitsWithWhatComesBehindIt) {
  const std::string waits = "A\t1\tsesame\n" + open_user;
  leave_no_room();
  run({open_user + waits});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(reply(0), i == 0 ? "3\t1\tunauth\n" : "");
    EXPECT_EQ(left(0), waits);
    EXPECT_EQ(turns_[0].next, Next::retry);
    blocked_since_ = now_ns();
    run({left(0)});
  }
  EXPECT_EQ(counted(Counter::log_ins_slowed), 1U);
  EXPECT_EQ(counted(Counter::requests_log_in), 0U);
  make_room();
  run({left(0)});
  EXPECT_EQ(reply(0), "0\t1\n0\t1\n");
  EXPECT_EQ(left(0), "");
  EXPECT_EQ(counted(Counter::requests_log_in), 1U);
  EXPECT_TRUE(has_room());
}

TEST_F(SlowedTries, AWrongSecretWaitsAndTakesAPlace) {
  leave_no_room();
  run({"A\t1\tguess\n" + open_user});
  EXPECT_EQ(reply(0), "");
  EXPECT_EQ(turns_[0].next, Next::retry);
  make_room();
  run({left(0)});
  EXPECT_EQ(reply(0), "3\t1\tunauth\n3\t1\tunauth\n");
  EXPECT_EQ(counted(Counter::log_ins_failed), 1U);
  EXPECT_FALSE(has_room());
  // The next one waits again.
  run({open_user + "A\t1\tguess\n"});
  EXPECT_EQ(left(0), "A\t1\tguess\n");
  EXPECT_EQ(counted(Counter::log_ins_slowed), 2U);
}

TEST_F(SlowedTries, ARefusalThatIsHeldBackTakesOnePlace) {
  config_.session.wrong_secret_delay = 50s;
  tries_.set_most_a_second(2);
  run({"A\t1\tguess\n"});
  blocked_since_ = now_ns();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(turns_[0].next, Next::retry);
    EXPECT_TRUE(has_room());
    run({left(0)});
  }
  leave_no_room();
  blocked_since_ = now_ns() - std::chrono::nanoseconds(51s).count();
  run({left(0)});
  EXPECT_EQ(reply(0), "3\t1\tunauth\n");
  EXPECT_EQ(counted(Counter::log_ins_slowed), 0U);
}

TEST_F(SlowedTries, APasswordWaitsForItsLogInThread) {
  const std::string waits = log_in_line + open_user + "3\t=\t1\t7\n";
  leave_no_room();
  run({open_user + waits});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(reply(0), i == 0 ? "3\t1\tunauth\n" : "");
    EXPECT_EQ(left(0), waits);
    EXPECT_EQ(turns_[0].next, Next::retry);
    EXPECT_EQ(turns_[0].secret_size, 0U) << "it is asked again";
    blocked_since_ = now_ns();
    run({left(0)});
  }
  EXPECT_EQ(counted(Counter::log_ins_slowed), 1U);
  EXPECT_EQ(authenticator_.asked, 0);
  make_room();
  run({left(0)});
  log_in();
  run({rest_});
  EXPECT_EQ(reply(0), "0\t1\n0\t1\n0\t1\t7\n");
  EXPECT_EQ(authenticator_.asked, 1);
  EXPECT_TRUE(has_room());
}

// Others may have taken the last place after its worker has looked.
TEST_F(SlowedTries, APasswordWaitsOnALogInThread) {
  run({log_in_line + open_user});
  leave_no_room();
  log_in();
  EXPECT_EQ(next_, Next::retry);
  EXPECT_EQ(rest_, log_in_line + open_user) << "it is asked again";
  EXPECT_EQ(authenticator_.asked, 0);
  EXPECT_EQ(streamer_.counters.get(Counter::log_ins_slowed), 1U);
  blocked_since_ = now_ns();
  run({rest_});
  EXPECT_EQ(reply(0), "");
  EXPECT_EQ(turns_[0].next, Next::retry);
  EXPECT_EQ(counted(Counter::log_ins_slowed), 0U);
  make_room();
  run({rest_});
  log_in();
  EXPECT_EQ(rest_.find("sesame"), std::string::npos);
  run({rest_});
  EXPECT_EQ(reply(0), "0\t1\n0\t1\n");
}

TEST_F(SlowedTries, AWrongPasswordTakesOnePlace) {
  authenticator_.may_be_guess = true;
  run({"A\t2\tann\tguess\n" + log_in_line + open_user});
  log_in();
  EXPECT_FALSE(has_room());
  run({rest_});
  EXPECT_EQ(reply(0), wrong_password) << "it was tried before";
  EXPECT_EQ(left(0), log_in_line + open_user);
  EXPECT_EQ(turns_[0].next, Next::retry);
  EXPECT_EQ(counted(Counter::log_ins_slowed), 1U);
  make_room();
  run({left(0)});
  log_in();
  run({rest_});
  EXPECT_EQ(reply(0), "0\t1\n0\t1\n");
}

TEST_F(SlowedTries, WhatCannotBeGuessedDoesNotWait) {
  config_.session.secret.clear();
  config_.session.authenticator = nullptr;
  leave_no_room();
  run({"A\t1\tsesame\n" + log_in_line});
  EXPECT_EQ(reply(0), "3\t1\tunauth\n3\t1\tauthtype\n");
  EXPECT_EQ(turns_[0].next, Next::wait);
}

}  // namespace
}  // namespace hs::handlersocket
