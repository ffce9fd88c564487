// What W tells: the warnings of the last write, and nothing of one that has failed or was undone.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "handlersocket/session/test_pass_world.h"

namespace hs::handlersocket {
namespace {

const std::string hello = "H\twarnings\n";
const std::string ignored = "1\tinsert\t2\t1\t1\t8\telse\tignore\n";  // one row is there
const std::string group = "G\t2\n" + ignored + "1\t+\t1\t2\n";        // its second line fails
const std::string failed = "1\t1\t1197\n";
const std::string warned = "0\t3\tWarning\t1062\tDuplicate entry\n";
const std::string nothing = "0\t3\n";

class WarningsTest : public ::testing::Test, protected World {
 protected:
  WarningsTest() {
    run(std::vector<std::string>(4, hello + open_t));
    EXPECT_TRUE(reply(3).ends_with("\n0\t1\n"));
  }
  std::string ask(const std::string& input) {
    run({input});
    EXPECT_EQ(left(0), "");
    return reply(0);
  }
  std::string stream(const std::string& input) {
    Buffer out;
    TestStream stream;
    net::Turn turn{.dialogue = dialogues_[0].get(), .input = input};
    streamer_.runner.run_stream(turn, out, stream);
    EXPECT_EQ(turn.consumed, input.size());
    return std::string(out.view());
  }
  // A turn that uses up what a pass has for reads, so that the turns behind it are executed with the writes.
  std::string fill_reads() {
    config_.max_pass_steps = 800;
    std::string filling;
    for (int i = 0; i < 400; ++i) filling += "X\n";
    return filling;
  }
  Status fail_commit_ = Status(Error::too_large, 1197);
};

TEST_F(WarningsTest, OfAWriteThatStays) {
  EXPECT_TRUE(ask(ignored + "W\n").ends_with("\n" + warned));
  EXPECT_EQ(ask("1\t=\t1\t1\nW\n"), "0\t3\t1\tone\t1\n" + warned);
  EXPECT_EQ(ask("1\t+\t1\t9\nW\n"), "0\t1\n" + nothing);
}

TEST_F(WarningsTest, OfAPassWhoseCommitFails) {
  worker_.faults.next_commit = fail_commit_;
  EXPECT_EQ(ask("W\n" + ignored + "W\n"), nothing + failed + failed);
  EXPECT_EQ(ask("W\n"), nothing);
}

TEST_F(WarningsTest, OfOneWhoseWritesAreCommittedEachAlone) {
  worker_.faults.broken_in = 1;
  worker_.faults.next_commit = fail_commit_;
  EXPECT_EQ(ask(ignored + "W\n"), failed + nothing);
  EXPECT_EQ(counted(Counter::passes_replayed), 1U);
}

TEST_F(WarningsTest, AnotherConnectionKeepsItsOwn) {
  ask(ignored);
  worker_.faults.next_commit = fail_commit_;
  run({"", "1\t+\t1\t20\n"});
  EXPECT_EQ(reply(1), failed);
  EXPECT_EQ(ask("W\n"), warned);
}

TEST_F(WarningsTest, OfAWriteThatAStreamerExecutes) {
  streamer_.faults.next_commit = fail_commit_;
  EXPECT_EQ(stream(ignored), failed);
  EXPECT_EQ(ask("W\n"), nothing);
  stream(ignored);
  EXPECT_EQ(ask("W\n"), warned);
}

TEST_F(WarningsTest, OfAGroupThatFails) {
  ask(group);
  EXPECT_EQ(ask("W\n"), nothing);
  stream(group);
  EXPECT_EQ(ask("W\n"), nothing);
}

TEST_F(WarningsTest, OfAWriteThatIsNotExecuted) {
  for (const std::string refused :
       {"1\t+\t0\n", "9\t+\t1\t1\n", "1\t=\t1\t1\t1\t0\tX\n", "1\tinsert\t1\t2\t9\n",
        "within\t1\t1\t+\t1\t20\n", "within\t1\tG\t1\n1\t+\t1\t20\n"}) {
    SCOPED_TRACE(refused);
    ask(ignored);
    EXPECT_NE(ask("W\n"), nothing);
    EXPECT_TRUE(ask(refused + "W\n").ends_with("\n" + nothing));
  }
}

TEST_F(WarningsTest, StayWhenAFindFails) {
  ask(ignored);
  EXPECT_EQ(stream("within\t1\t1\t=\t1\t1\n"), "1\t1\tmax_request_time\n");
  EXPECT_EQ(ask("W\n"), warned);
}

TEST_F(WarningsTest, StayWhenTheClientSaysHelloAgain) {
  ask(ignored);
  ask("H\twarnings\ttexts\n");
  EXPECT_EQ(ask("W\n"), warned);
  ask("H\ttexts\nH\twarnings\n");
  EXPECT_EQ(ask("W\n"), nothing);
}

TEST_F(WarningsTest, StayWhenTheCommitOfOthersFails) {
  run({"", "", ignored});
  worker_.faults.next_commit = fail_commit_;
  run({fill_reads(), "1\t+\t1\t20\n", "W\n"});
  EXPECT_EQ(reply(1), failed);
  EXPECT_EQ(reply(2), failed) << "it stands behind a write of the pass";
  run({"", "", "W\n"});
  EXPECT_EQ(reply(2), warned);
}

TEST_F(WarningsTest, StayWhenAPassIsExecutedAgain) {
  run({"", "", ignored});
  worker_.faults.broken_in = 3;
  run({fill_reads(), "1\t+\t1\t20\n", "W\n1\t+\t1\t21\n", "1\t+\t1\t22\n"});
  EXPECT_EQ(reply(2), warned + "0\t1\n");
  EXPECT_EQ(reply(3), "0\t1\n");
  EXPECT_EQ(counted(Counter::passes_replayed), 1U);
}

TEST_F(WarningsTest, StayWhenAnIndexIsOpenedInAPassThatIsExecutedAgain) {
  run({"", "", ignored});
  joining_ = true;
  worker_.faults.broken_in = 2;
  run({"1\t+\t1\t20\n", "", open_ai, "1\t+\t1\t21\n"});
  EXPECT_EQ(reply(2), "0\t1\n");
  EXPECT_EQ(counted(Counter::passes_replayed), 1U);
  joining_ = false;
  run({"", "", "W\n"});
  EXPECT_EQ(reply(2), warned);
}

}  // namespace
}  // namespace hs::handlersocket
