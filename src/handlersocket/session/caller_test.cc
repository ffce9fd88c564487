// As whom the requests of a connection are executed, by its worker and by a streamer.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "handlersocket/session/test_pass_world.h"
#include "store/memory_caller.h"

namespace hs::handlersocket {
namespace {

using store::MemoryCaller;
using store::Rights;

const std::string denied = "1\t1\t1142\n";

struct Callers : World, ::testing::Test {
  Callers() { guest_->grant("test", "user", Rights::read); }

  // The turns' connections act as `caller` from now on.
  void act_as(std::size_t connection, const std::shared_ptr<const store::Caller>& caller) {
    static_cast<Session&>(*dialogues_[connection]).act_as(caller);
  }
  // Of the first connection, which has an open index of test.user: executes a request on a
  // streamer.
  std::string stream(const std::string& request) {
    net::Turn turn{.dialogue = dialogues_[0].get(), .input = request};
    TestStream stream;
    Buffer out;
    streamer_.runner.run_stream(turn, out, stream);
    next_ = turn.next;
    return stream.all(out);
  }

  std::shared_ptr<MemoryCaller> guest_ = std::make_shared<MemoryCaller>();
  net::Next next_ = net::Next::wait;
};

TEST_F(Callers, AreThoseOfTheListenerAtFirst) {
  config_.session.anonymous = guest_;
  run({open_user + "3\t=\t1\t7\n" + open_t});
  EXPECT_EQ(reply(0), "0\t1\n0\t1\t7\n" + denied);
}

TEST_F(Callers, HaveOpenIndexesOfTheirOwn) {
  run({open_user, open_user});
  act_as(1, guest_);
  const std::string update = "3\t=\t1\t7\t1\t0\tU\t2007\n";
  run({"3\t=\t1\t7\n", "3\t=\t1\t7\n" + update});
  EXPECT_EQ(reply(0), "0\t1\t7\n");
  EXPECT_EQ(reply(1), "0\t1\t7\n" + denied);
  run({update, ""});
  EXPECT_EQ(reply(0), "0\t1\t1\n");
}

TEST_F(Callers, LoseARightWithTheNextPass) {
  run({open_user});
  act_as(0, guest_);
  run({"3\t=\t1\t7\n"});
  EXPECT_EQ(reply(0), "0\t1\t7\n");
  guest_->grant("test", "user", Rights::none);
  run({"3\t=\t1\t7\n"});
  EXPECT_EQ(reply(0), denied);
  guest_->grant("test", "user", Rights::read);
  run({"3\t=\t1\t7\n"});
  EXPECT_EQ(reply(0), "0\t1\t7\n");
}

TEST_F(Callers, OfAConnectionChangeForTheIndexesThatItHasOpen) {
  run({open_user + open_t});
  act_as(0, guest_);
  run({"3\t=\t1\t7\n1\t=\t1\t1\n"});
  EXPECT_EQ(reply(0), "0\t1\t7\n" + denied);
  act_as(0, store::Caller::unlimited());
  run({"1\t=\t1\t1\n"});
  EXPECT_EQ(reply(0), "0\t3\t1\tone\t1\n");
}

// A streamer knows an index only by its names, and other connections may have used it there.
TEST_F(Callers, AreAlsoThoseOfALongFind) {
  run({open_user});
  const std::string find = "3\t>=\t1\t1\t900\n";
  EXPECT_GT(stream(find).size(), 900U);
  guest_->grant("test", "user", Rights::none);
  act_as(0, guest_);
  EXPECT_EQ(stream(find), denied);
  guest_->grant("test", "user", Rights::read);
  EXPECT_GT(stream(find).size(), 900U);
  EXPECT_EQ(stream("3\t=\t1\t7\t1\t0\tU\t2007\n"), denied);
}

// Its reply has begun and cannot become an error.
TEST_F(Callers, WhoLoseTheirRightDuringALongFindLoseTheirConnection) {
  run({open_user});
  act_as(0, guest_);
  const std::string find = "3\t>=\t1\t1\t900\n";
  net::Turn turn{.dialogue = dialogues_[0].get(), .input = find};
  TestStream client;
  client.stalls_at = 1;
  Buffer out;
  streamer_.runner.run_stream(turn, out, client);
  ASSERT_EQ(turn.next, net::Next::stream) << "the find is parked";
  guest_->grant("test", "user", Rights::none);
  EXPECT_EQ(stream(find), "");
  EXPECT_EQ(next_, net::Next::close);
}

// A connection acts as one caller before it has given the secret, and as another one afterwards.
TEST_F(Callers, ChangeWithTheSecret) {
  config_.session.secret = "s";
  config_.session.anonymous = guest_;
  run({open_user});
  const std::string update = "3\t=\t1\t7\t1\t0\tU\t2007\n";
  run({update});
  EXPECT_EQ(reply(0), denied);
  run({"A\t1\ts\n" + update + "A\t1\twrong\n" + update});
  EXPECT_EQ(reply(0), "0\t1\n0\t1\t1\n3\t1\tunauth\n0\t1\t0\n");
}

// As in the original, where the secret that is not set is the empty one.
TEST_F(Callers, MayGiveTheSecretThatIsNotSet) {
  config_.session.anonymous = guest_;
  run({open_user});
  const std::string update = "3\t=\t1\t7\t1\t0\tU\t2007\n";
  run({"A\t1\t\n" + update + "A\t1\nA\t1\tx\n" + update});
  EXPECT_EQ(reply(0), "0\t1\n" + denied + "0\t1\n3\t1\tunauth\n" + denied)
      << "it is no log-in: who gives it stays the guest";
  config_.session.secret = "s";
  run({"A\t1\t\n"});
  EXPECT_EQ(reply(0), "3\t1\tunauth\n");
}

TEST_F(Callers, WhoGiveTheSecretThatIsNotSetAreTheGuestAgain) {
  config_.session.secret = "s";
  config_.session.anonymous = guest_;
  run({open_user});
  const std::string update = "3\t=\t1\t7\t1\t0\tU\t2007\n";
  run({"A\t1\ts\n" + update});
  EXPECT_EQ(reply(0), "0\t1\n0\t1\t1\n");
  config_.session.secret.clear();
  run({"A\t1\t\n" + update});
  EXPECT_EQ(reply(0), "0\t1\n" + denied);
}

TEST_F(Callers, WithoutAnAccountForTheSecretAreNobody) {
  config_.session.secret = "s";
  config_.session.anonymous = nullptr;
  config_.session.trusted = nullptr;
  run({"A\t1\ts\n" + open_user});
  EXPECT_EQ(reply(0), "3\t1\tunauth\n3\t1\tunauth\n");
}

TEST_F(Callers, WithoutAnAccountAreNobody) {
  config_.session.anonymous = nullptr;
  run({open_user + "3\t=\t1\t7\nnonsense\nA\t1\t\n"});
  EXPECT_EQ(reply(0), "3\t1\tunauth\n3\t1\tunauth\n2\t1\tcmd\n3\t1\tunauth\n");
}

}  // namespace
}  // namespace hs::handlersocket
