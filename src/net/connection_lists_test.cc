// A worker's connections: that who is idle is found although some came from other workers.
#include "net/connection_lists.h"

#include <gtest/gtest.h>

#include <list>
#include <vector>

#include "net/inbox.h"
#include "net/waiting_bytes.h"

namespace hs::net::test {
namespace {

constexpr std::uint64_t second = 1'000'000'000;

class TakeOver : public testing::Test {
 protected:
  // A connection without a socket that was last active at `time`, in seconds.
  void here(std::uint64_t time) { lists_.add({}, nullptr, inbox_, time * second); }
  void comes(std::uint64_t time) {
    Connection& connection = others_.add({}, nullptr, inbox_, time * second);
    ASSERT_TRUE(others_.release(connection, coming_));
  }
  // The times of all connections of the worker, in the order of its list.
  std::vector<std::uint64_t> take_over() {
    lists_.take_over(coming_);
    EXPECT_TRUE(coming_.empty());
    std::vector<std::uint64_t> times;
    lists_.for_each_active([&times](const Connection& connection) {
      times.push_back(connection.listed_at / second);
      return true;
    });
    return times;
  }

  using Times = std::vector<std::uint64_t>;
  WaitingBytes waiting_;
  Inbox inbox_{0, waiting_};
  ConnectionLists::Timeout idle_{std::chrono::seconds(10)};
  ConnectionLists::Timeout log_in_{std::chrono::seconds(0)};
  ConnectionLists lists_{idle_, log_in_, second};
  ConnectionLists others_{idle_, log_in_, second};
  std::list<Connection> coming_;
};

TEST_F(TakeOver, PutsEachBehindThoseThatWereActiveBefore) {
  for (const std::uint64_t time : {2U, 4U, 6U}) here(time);
  for (const std::uint64_t time : {5U, 1U, 7U, 3U}) comes(time);
  EXPECT_EQ(take_over(), (Times{1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(TakeOver, ByAWorkerThatHasNone) {
  for (const std::uint64_t time : {3U, 1U, 2U}) comes(time);
  EXPECT_EQ(take_over(), (Times{1, 2, 3}));
}

TEST_F(TakeOver, WhoIsIdleLongestIsFoundFirst) {
  here(5);
  comes(1);
  take_over();
  EXPECT_EQ(lists_.first_idle(10 * second), nullptr);
  const Connection* const idle = lists_.first_idle(12 * second);
  ASSERT_NE(idle, nullptr);
  EXPECT_EQ(idle->listed_at, 1 * second);
}

}  // namespace
}  // namespace hs::net::test
