// Writes that wait for locks do not wait for each other.
#include "net/waiters.h"

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "net/connection_queue.h"
#include "net/server.h"
#include "net/test_support.h"

namespace hs::net::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t most = 8;

class WaitersTest : public testing::Test {
 protected:
  WaitersTest() : fixture_(config()) { EXPECT_TRUE(fixture_.start()); }
  static ServerConfig config() {
    ServerConfig config = Fixture::loopback();
    config.crews.front().waiters = most;
    return config;
  }
  Client ask(const std::string& line) {
    Client client = Client::tcp(fixture_.server.bound_port());
    EXPECT_TRUE(client.send(line + "\n"));
    return client;
  }
  void open_lock(unsigned number) { fixture_.board.open_locks |= std::uint64_t{1} << number; }
  bool all_wait(std::size_t count) {
    return eventually([&] { return fixture_.board.waiters == count; });
  }

  Fixture fixture_;
};

TEST_F(WaitersTest, AreStartedWhenTheyAreNeeded) {
  Client light = ask("hello");
  EXPECT_EQ(light.line(), "hello");
  EXPECT_EQ(fixture_.board.waiters_made, 0U);
  Client one = ask("lock 1");
  ASSERT_TRUE(all_wait(1));
  open_lock(1);
  EXPECT_EQ(one.line(), "got");
  // A waiter is free a moment after its reply was sent, so the next write may come too soon for it.
  constexpr std::size_t later_writes = 20;
  for (std::size_t i = 0; i < later_writes; ++i) {
    Client next = ask("lock 1");
    EXPECT_EQ(next.line(), "got");
  }
  EXPECT_LT(fixture_.board.waiters_made, later_writes / 2) << "those that were free were taken";
}

TEST_F(WaitersTest, DoNotWaitForEachOther) {
  std::vector<Client> blocked;
  for (std::size_t i = 0; i + 1 < most; ++i) blocked.push_back(ask("lock 0"));
  ASSERT_TRUE(all_wait(most - 1));
  Client client = ask("before\nlock 1\nafter");
  EXPECT_EQ(client.line(), "before");
  ASSERT_TRUE(all_wait(most));
  open_lock(1);
  EXPECT_EQ(client.line(), "got");
  EXPECT_EQ(client.line(), "after");
  open_lock(0);
  for (Client& one : blocked) EXPECT_EQ(one.line(), "got");
  EXPECT_EQ(fixture_.board.shared_dialogues, 0U);
}

// With more waits than waiters may be started, each gets a waiter again and again.
TEST_F(WaitersTest, ServeAllInTurnIfThereAreTooFew) {
  std::vector<Client> blocked;
  for (std::size_t i = 0; i < 3 * most; ++i) blocked.push_back(ask("lock 0"));
  ASSERT_TRUE(all_wait(most));
  std::vector<Client> others;
  for (unsigned lock = 1; lock <= 5; ++lock) others.push_back(ask("lock " + std::to_string(lock)));
  open_lock(1);
  for (unsigned lock = 1; lock <= 5; ++lock) {
    const auto began = Clock::now();
    EXPECT_EQ(others[lock - 1].line(), "got");
    EXPECT_LT(Clock::now() - began, 10s);
    open_lock(lock + 1);
  }
  EXPECT_EQ(fixture_.board.waiters_made, most);
  open_lock(0);
  for (Client& one : blocked) EXPECT_EQ(one.line(), "got");
}

// Who can ask without a waiter leaves most of them to those who cannot.
TEST_F(WaitersTest, AreFewForThoseWhoseWorkerAsks) {
  std::vector<Client> asking;
  for (std::size_t i = 0; i < most; ++i) asking.push_back(ask("ask 0"));
  ASSERT_TRUE(all_wait(most / 4));
  for (int i = 0; i < 100; ++i) {
    EXPECT_LE(fixture_.board.waiters, most / 4);
    std::this_thread::sleep_for(3ms);
  }
  EXPECT_LT(fixture_.board.waiters_made, most) << "a free one is taken a moment after its reply";
  Client client = ask("lock 1");
  open_lock(1);
  EXPECT_EQ(client.line(), "got");
  open_lock(0);
  for (Client& one : asking) EXPECT_EQ(one.line(), "got");
}

TEST_F(WaitersTest, LeaveWithTheServer) {
  std::vector<Client> blocked;
  for (std::size_t i = 0; i < 2 * most; ++i) blocked.push_back(ask("lock 0"));
  ASSERT_TRUE(all_wait(most));
  fixture_.server.stop();
  for (Client& one : blocked) EXPECT_EQ(one.line(), "<end>");
  EXPECT_EQ(fixture_.board.stopped, fixture_.board.started);
  EXPECT_EQ(fixture_.board.late_dialogues, 0U);
  EXPECT_EQ(fixture_.board.strange_dialogues, 0U);
}

// The host has no memory for a thread.
TEST_F(WaitersTest, MayBeMissing) {
  Client client = ask("before");
  EXPECT_EQ(client.line(), "before");
  fixture_.board.cannot_be_made = true;
  ASSERT_TRUE(client.send("lock 1\n"));
  EXPECT_EQ(client.line(), "<end>");
  EXPECT_TRUE(eventually([&] {
    return fixture_.log.contains("a thread that waits for locks could not start: no memory");
  }));
  fixture_.board.cannot_be_made = false;
  Client other = ask("lock 1");
  open_lock(1);
  EXPECT_EQ(other.line(), "got");
}

TEST(ConnectionQueue, KeepsACarrierForWhoHasReservedIt) {
  using Place = hs::net::ConnectionQueue::Place;
  hs::net::ConnectionQueue queue;
  EXPECT_EQ(queue.reserve(2), Place::taken);
  queue.join();
  EXPECT_EQ(queue.reserve(2), Place::reserved);
  EXPECT_EQ(queue.reserve(2), Place::taken);
  EXPECT_EQ(queue.reserve(1), Place::full);
  EXPECT_FALSE(queue.retire()) << "it is kept for somebody";
  queue.cancel_reservation();
  EXPECT_EQ(queue.reserve(1), Place::reserved);
  queue.cancel_reservation();
  EXPECT_TRUE(queue.retire());
  EXPECT_EQ(queue.reserve(2), Place::taken) << "it has left";
}

}  // namespace
}  // namespace hs::net::test
