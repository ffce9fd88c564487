// What W tells of a write that was undone: nothing.
#include <gtest/gtest.h>

#include <string>

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
    run({hello + open_t, hello + open_t});
    EXPECT_TRUE(reply(1).ends_with("\n0\t1\n"));
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

}  // namespace
}  // namespace hs::handlersocket
