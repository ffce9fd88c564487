// Over how many workers connections are spread.
#include "net/balance.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hs::net::test {
namespace {

using Period = SpreadPolicy::Period;

// A server of a few workers whose machine and clients behave by simple rules.
struct Machine {
  double cores = 4;       // that workers may get
  double demand = 100;    // workers' worth of requests that clients send
  double contention = 0;  // the part of all that is lost for each worker beyond the first
  double others = 0;      // cores that others use

  Period period(unsigned spread) const {
    const double awake = std::min<double>(spread, demand);
    const double got = std::min(awake, cores - others);
    return {.load = awake,
            .rate = got * (1 - contention * (spread - 1)),
            .idle_cores = std::max(0.0, cores - others - got)};
  }
};

class Spread : public ::testing::Test {
 protected:
  // Returns in how many of so many periods the spread was `wanted`.
  unsigned run(unsigned periods, unsigned wanted = 0) {
    unsigned met = 0;
    for (unsigned i = 0; i < periods; ++i) {
      now_ += SpreadPolicy::length;
      policy_.note(machine_.period(policy_.spread()), now_);
      if (policy_.spread() == wanted) ++met;
    }
    return met;
  }
  unsigned spread() const { return policy_.spread(); }

  Machine machine_;
  SpreadPolicy policy_{4};
  std::uint64_t now_ = 1'000'000'000;
};

TEST_F(Spread, IsOneWorkerForALightLoad) {
  machine_.demand = 0.5;
  EXPECT_EQ(run(1000, 1), 1000U);
}

TEST_F(Spread, IsAllWorkersSoonIfTheyHaveCores) {
  run(10);
  EXPECT_EQ(spread(), 4U);
  EXPECT_GE(run(10'000, 4), 9900U) << "it may try fewer, now and then";
}

TEST_F(Spread, IsNeverMoreThanThereAre) {
  machine_.cores = 64;
  run(100);
  EXPECT_EQ(spread(), 4U);
}

TEST_F(Spread, IsOneWorkerIfNoCoreIsIdle) {
  machine_.others = 3;
  EXPECT_EQ(run(45, 1), 45U);
  EXPECT_GE(run(10'000, 1), 9900U) << "it may try more, now and then";
}

// Where others use all cores, each worker gets its part.
TEST_F(Spread, IsMoreWorkersIfEachGetsAPartOfBusyCores) {
  for (int i = 0; i < 1000; ++i) {
    now_ += SpreadPolicy::length;
    const auto workers = static_cast<double>(spread());
    policy_.note({.load = workers, .rate = workers / (workers + 4), .idle_cores = 0}, now_);
  }
  EXPECT_GE(spread(), 3U);
}

TEST_F(Spread, GoesBackIfMoreWorkersBringNothing) {
  machine_.cores = 1.2;
  machine_.contention = 0.3;
  EXPECT_GE(run(10'000, 1), 9900U);
  EXPECT_EQ(spread(), 1U);
}

TEST_F(Spread, StaysIfMoreWorkersBringSomething) {
  machine_.cores = 1.5;
  run(10);
  EXPECT_EQ(spread(), 2U);
  EXPECT_GE(run(10'000, 2), 9900U) << "it may try fewer, now and then";
}

TEST_F(Spread, BecomesNarrowerWhenTheLoadDoes) {
  run(20);
  ASSERT_EQ(spread(), 4U);
  machine_.demand = 0.3;
  run(30);
  EXPECT_EQ(spread(), 1U);
  machine_.demand = 100;
  run(20);
  EXPECT_EQ(spread(), 4U) << "an attempt that was made before does not count";
}

TEST_F(Spread, BecomesNarrowerWhenOthersTakeTheCores) {
  run(20);
  ASSERT_EQ(spread(), 4U);
  machine_.others = 3;
  machine_.contention = 0.1;
  run(1000);
  EXPECT_EQ(spread(), 1U);
}

TEST_F(Spread, StaysWhereFewerWorkersServeLess) {
  run(20);
  machine_.others = 0.2;
  EXPECT_GE(run(10'000, 4), 9900U);
}

TEST(Balance, SpreadsOverAllWorkersIfItDoesNotAdapt) {
  Balance balance(3, false);
  EXPECT_FALSE(balance.adapts());
  EXPECT_EQ(balance.spread().workers, 3U);
}

TEST(Balance, AdaptsOnlyIfThereIsAChoice) {
  EXPECT_FALSE(Balance(1, true).adapts());
  EXPECT_TRUE(Balance(2, true).adapts());
}

// As Balance::look(), while a core is idle.
void look(Balance& balance, std::uint64_t now) {
  SpreadPolicy::Period seen = balance.served_until(now);
  seen.idle_cores = 1;
  balance.note_period(seen, now);
}

// Both workers of two are always awake, or both always asleep.
TEST(Balance, SeesWhoIsAwake) {
  CounterSet of_port;
  ThreadCounters one({&of_port});
  ThreadCounters other({&of_port});
  Balance balance(2, true);
  balance.join(0, one);
  balance.join(1, other);
  std::uint64_t now = 1'000'000'000;
  balance.wakes(0, now);
  balance.wakes(1, now);
  for (int i = 0; i < 20; ++i) {
    now += SpreadPolicy::length;
    one.own().add(Counter::bytes_received, 1000);
    other.own().add(Counter::bytes_received, balance.spread().workers == 2 ? 1000 : 0);
    look(balance, now);
  }
  EXPECT_EQ(balance.spread().workers, 2U);
  balance.sleeps(0, now);
  balance.sleeps(1, now);
  for (int i = 0; i < 20; ++i) {
    now += SpreadPolicy::length;
    look(balance, now);
  }
  EXPECT_EQ(balance.spread().workers, 1U);
}

TEST(IdleCores, AreKnownFromTheSecondCallOn) {
  IdleCores idle;
  EXPECT_FALSE(idle.since_last(1'000'000'000));
  const std::optional<double> known = idle.since_last(2'000'000'000);
  ASSERT_TRUE(known);
  EXPECT_GE(*known, 0);
  idle.forget();
  EXPECT_FALSE(idle.since_last(3'000'000'000));
}

}  // namespace
}  // namespace hs::net::test
