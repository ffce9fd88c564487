// The order of a pass: the finds at the front of all turns, then the writes, and then what comes
// while the pass has writes to commit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "handlersocket/session/test_pass_world.h"

namespace hs::handlersocket {
namespace {

using net::Next;
using namespace std::string_literals;

class ReadsFirst : public ::testing::Test, protected World {
 protected:
  // Begins the pass only, and says which turns are put off, as in "01" for the second of two.
  std::string put_off(std::vector<std::string> inputs) {
    set_inputs(std::move(inputs));
    worker_.runner.read_first(turns_, out_);
    std::string result;
    for (const net::Turn& turn : turns_) result.push_back(turn.put_off ? '1' : '0');
    return result;
  }
  void end_pass() {
    worker_.runner.execute(turns_, 0, out_);
    worker_.runner.end_pass(turns_, out_);
    worker_.runner.release();
  }
};

TEST_F(ReadsFirst, AreAnsweredBeforeAnyWriteIsExecuted) {
  run({open_t, open_t, open_t});
  EXPECT_EQ(put_off({"1\t+\t1\t8\n", "1\t=\t1\t8\n1\t=\t1\t1\n", "1\t=\t1\t1\t1\t0\tD\n"}), "101");
  EXPECT_EQ(reply(1), "0\t3\n0\t3\t1\tone\t1\n");
  EXPECT_EQ(left(1), "");
  EXPECT_EQ(table("t").size(), 7u);
  // net/ has settled the turn, and what it points to may be gone.
  turns_[1] = {};
  end_pass();
  EXPECT_EQ(reply(0), "0\t1\n");
  EXPECT_EQ(reply(2), "0\t1\t1\n");
  EXPECT_EQ(counted(Counter::commits), 1u);
}

TEST_F(ReadsFirst, ATurnThatAlsoWritesIsAnsweredInItsOrder) {
  const std::string mixed = "1\t=\t1\t1\n1\t+\t1\t8\n1\t=\t1\t8\n";
  run({open_t, open_t});
  EXPECT_EQ(put_off({mixed, "1\t=\t1\t2\n1\t+\t1\t9\n1\t=\t1\t8\n"}), "11");
  end_pass();
  EXPECT_EQ(reply(0), "0\t3\t1\tone\t1\n0\t1\n0\t3\t8\t\0\t\0\n"s);
  EXPECT_EQ(reply(1), "0\t3\t2\ttwo\t2\n0\t1\n0\t3\t8\t\0\t\0\n"s);
}

TEST_F(ReadsFirst, WhatWasAnsweredStaysIfTheCommitFails) {
  run({open_t, open_t});
  worker_.faults.next_commit = Status(Error::too_large, 1197);
  EXPECT_EQ(put_off({"1\t=\t1\t1\n1\t+\t1\t8\n", "1\t=\t1\t2\n1\t+\t1\t9\nX\n"}), "11");
  end_pass();
  EXPECT_EQ(reply(0), "0\t3\t1\tone\t1\n1\t1\t1197\n");
  EXPECT_EQ(reply(1), "0\t3\t2\ttwo\t2\n1\t1\t1197\n2\t1\tcmd\n");
}

TEST_F(ReadsFirst, WhatWasAnsweredIsNotExecutedAgainIfThePassIsBroken) {
  for (const std::uint64_t broken_in : {3U, 4U, 5U}) {
    SCOPED_TRACE(broken_in);
    World world;
    world.run({open_t, open_t, open_t});
    world.worker_.faults.broken_in = broken_in;
    world.run({"1\t=\t1\t1\n1\t+\t1\t8\n1\t=\t1\t8\n", "1\t=\t1\t8\n", "1\t+\t1\t9\n"});
    EXPECT_EQ(world.reply(0), "0\t3\t1\tone\t1\n0\t1\n0\t3\t8\t\0\t\0\n"s);
    EXPECT_EQ(world.reply(1), "0\t3\n");
    EXPECT_EQ(world.reply(2), "0\t1\n");
    EXPECT_EQ(world.counted(Counter::passes_replayed), 1u);
    EXPECT_EQ(world.counted(Counter::requests_find), 3u);
    EXPECT_EQ(world.counted(Counter::requests_insert), 2u);
  }
}

TEST_F(ReadsFirst, AreExecutedAgainIfOneOfThemBreaksThePass) {
  for (const std::uint64_t broken_in : {1U, 2U}) {
    SCOPED_TRACE(broken_in);
    World world;
    world.run({open_t, open_t});
    world.worker_.faults.broken_in = broken_in;
    world.run({"1\t=\t1\t1\n1\t+\t1\t8\n", "P\t1\thst\tt\t\tid\n1\t=\t1\t8\n"});
    EXPECT_EQ(world.reply(0), "0\t3\t1\tone\t1\n0\t1\n");
    EXPECT_EQ(world.reply(1), "0\t1\n0\t1\n");
    EXPECT_EQ(world.counted(Counter::passes_replayed), 1u);
    EXPECT_EQ(world.counted(Counter::requests_find), 2u);
  }
}

// The pass has taken its snapshot. Whoever sends a find later may know of rows that are newer.
TEST_F(ReadsFirst, FindsDoNotJoinAPass) {
  run({open_t, open_t, open_t});
  joining_ = true;
  run({"1\t+\t1\t8\n", "1\t=\t1\t8\n", "1\t+\t1\t9\n1\t=\t1\t9\n1\t+\t1\t10\n"});
  EXPECT_EQ(reply(0), "0\t1\n");
  EXPECT_TRUE(turns_[1].was_left_out());
  EXPECT_EQ(reply(2), "0\t1\n");
  EXPECT_EQ(left(2), "1\t=\t1\t9\n1\t+\t1\t10\n");
  EXPECT_EQ(turns_[2].next, Next::again);
  EXPECT_EQ(counted(Counter::commits), 1u);
}

TEST_F(ReadsFirst, LeaveHalfOfAPassToTheWrites) {
  config_.max_pass_steps = 4'000;
  const std::string range = "3\t>\t1\t0\t400\n";
  std::string many = open_user;
  for (int i = 0; i < 100; ++i) many += range;
  run({many, many, open_t + "1\t+\t1\t8\n", many});
  for (const std::size_t reader : {0U, 1U, 3U}) {
    EXPECT_EQ(turns_[reader].next, Next::again);
    EXPECT_LE(std::ranges::count(reply(reader), '\n'), 1 + 3);
  }
  EXPECT_EQ(reply(2), "0\t1\n0\t1\n");
  // The same with bytes.
  config_.max_pass_bytes = 4'000;
  run({many, open_t + "1\t+\t1\t9\n"});
  EXPECT_EQ(turns_[0].next, Next::again);
  EXPECT_EQ(reply(1), "0\t1\n0\t1\n");
}

// A find that waits for the next pass does not make this one wait for more of them.
TEST_F(ReadsFirst, OnlyWritesMakeAPassGoOn) {
  run({open_t, open_t, open_t});
  set_inputs({"1\t+\t1\t8\n", "1\t=\t1\t8\n", "1\t+\t1\t9\n"});
  const std::span<net::Turn> turns = turns_;
  ASSERT_TRUE(worker_.runner.read_first(turns.first(1), out_));
  worker_.runner.execute(turns.first(1), 0, out_);
  EXPECT_TRUE(worker_.runner.takes_more());
  worker_.runner.execute(turns, 1, out_);
  EXPECT_TRUE(worker_.runner.takes_more()) << "one of the two has written";
  worker_.runner.end_pass(turns, out_);
  worker_.runner.release();
  set_inputs({"1\t+\t1\t10\n", "1\t=\t1\t8\n"});
  const std::span<net::Turn> others = turns_;
  ASSERT_TRUE(worker_.runner.read_first(others.first(1), out_));
  worker_.runner.execute(others.first(1), 0, out_);
  worker_.runner.execute(others, 1, out_);
  EXPECT_FALSE(worker_.runner.takes_more());
  worker_.runner.end_pass(others, out_);
  worker_.runner.release();
}

// Replies of reads are moved behind those of the reads of others. They are counted once.
TEST_F(ReadsFirst, MovedRepliesDoNotFillThePass) {
  config_.max_pass_bytes = 7'000;
  const std::string range = "3\t>\t1\t0\t400\n";  // about 1,500 bytes
  run({open_user + open_t, open_user, open_t});
  run({range + range + "1\t+\t1\t8\n", range, "1\t+\t1\t9\n"});
  EXPECT_TRUE(reply(0).ends_with("\n0\t1\n"));
  EXPECT_EQ(reply(2), "0\t1\n");
}

// A write that joined is blocked when it is executed alone, so the replies behind it move forward.
TEST_F(ReadsFirst, AJoinedTurnMayBeginBehindWhatTheSecondExecutionWrites) {
  for (const std::uint64_t broken_in : {2U, 3U, 4U}) {
    World world;
    world.run({open_t, open_t, open_t});
    world.joining_ = true;
    world.worker_.faults.broken_in = broken_in;
    world.worker_.faults.next_commit = broken_in == 4 ? Status(Error::too_large, 1197) : Status{};
    world.run({"1\t=\t1\t1\n1\t+\t1\t8\n1\t=\t1\t8\n", "1\t+\t1\t9\n", "1\t+\t1\t10\n"});
    EXPECT_EQ(world.reply(2), "0\t1\n");
  }
}

}  // namespace
}  // namespace hs::handlersocket
