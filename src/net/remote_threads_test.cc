// Who waits too long for a remote thread is answered, whether one takes it or not.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "net/connection_queue.h"
#include "net/inbox.h"
#include "net/server.h"
#include "net/test_support.h"
#include "net/waiting_bytes.h"

namespace hs::net::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// At first nobody is late.
class RemoteThreads : public testing::Test {
 protected:
  RemoteThreads() : fixture_(config(waiting_)) { EXPECT_TRUE(fixture_.start()); }
  static ServerConfig config(WaitingBytes& waiting) {
    ServerConfig config = Fixture::loopback();
    config.crews.front().remote_threads = 1;
    config.remote_patience = patience;
    config.waiting = &waiting;
    return config;
  }

  Client connect() { return Client::tcp(fixture_.server.bound_port()); }
  // A client for which the only remote thread works until end_hold().
  Client hold_thread() {
    Client holder = connect();
    EXPECT_TRUE(holder.send("remote hold\nafter\n"));
    EXPECT_TRUE(eventually([&] { return fixture_.board.holding == 1; }));
    return holder;
  }
  void end_hold(Client& holder) {
    EXPECT_EQ(fixture_.board.holds_over, 0U);
    fixture_.board.holds_over = 1;
    EXPECT_EQ(holder.line(), "remote");
    EXPECT_EQ(holder.line(), "after");
  }
  void set_patience(std::chrono::milliseconds time) {
    fixture_.server.config().remote_patience = time;
  }
  std::size_t count_in_state(const std::string& state) {
    const auto list = fixture_.server.describe_connections(patience).connections;
    return static_cast<std::size_t>(std::ranges::count(list, state, &ConnectionInfo::state));
  }
  std::uint64_t id_of(const Client& client) {
    const auto list = fixture_.server.describe_connections(patience).connections;
    const std::string peer = "127.0.0.1:" + std::to_string(client.port());
    const auto found = std::ranges::find(list, peer, &ConnectionInfo::peer);
    return found == list.end() ? 0 : found->id;
  }

  WaitingBytes waiting_;
  Fixture fixture_;
};

TEST_F(RemoteThreads, LeaveToTheWorkerWhoWaitsTooLong) {
  Client holder = hold_thread();
  set_patience(100ms);
  Client client = connect();
  ASSERT_TRUE(client.send("before\nremote\nbetween\nremote\nafter\nhal"));
  for (const char* const line : {"before", "late", "between", "late", "after"})
    EXPECT_EQ(client.line(), line);
  ASSERT_TRUE(client.send("f\n"));
  EXPECT_EQ(client.line(), "half");
  set_patience(patience);
  end_hold(holder);
  ASSERT_TRUE(client.send("remote\nlast\n"));
  EXPECT_EQ(client.line(), "remote");
  EXPECT_EQ(client.line(), "last");
  EXPECT_EQ(fixture_.board.wrongly_scanned, 0U);
  EXPECT_EQ(fixture_.board.wrongly_late, 0U);
  EXPECT_EQ(fixture_.board.shared_dialogues, 0U);
}

TEST_F(RemoteThreads, AreWaitedForAsLongAsTheSettingSays) {
  Client holder = hold_thread();
  set_patience(1s);
  Client client = connect();
  Client other = connect();
  const auto began = Clock::now();
  ASSERT_TRUE(client.send("remote\n"));
  while (Clock::now() - began < 900ms) {
    ASSERT_TRUE(other.send("hello\n"));
    ASSERT_EQ(other.line(), "hello");
  }
  EXPECT_EQ(client.line(), "late");
  EXPECT_GE(Clock::now() - began, 1s);
  EXPECT_LT(Clock::now() - began, 10s);
  // Who waits already can become late by a change.
  set_patience(patience);
  ASSERT_TRUE(client.send("remote\n"));
  ASSERT_TRUE(eventually([&] { return count_in_state("remote") == 2; }));
  set_patience(0s);
  EXPECT_EQ(client.line(), "late");
  end_hold(holder);
}

TEST_F(RemoteThreads, ExecuteNothingThatIsLateWhenTheyTakeIt) {
  Client holder = hold_thread();
  Client client = connect();
  ASSERT_TRUE(client.send("remote\nafter\n"));
  ASSERT_TRUE(eventually([&] { return count_in_state("remote") == 2; }));
  // The worker does not look meanwhile.
  fixture_.board.release_over = false;
  Client other = connect();
  ASSERT_TRUE(other.send("hello\n"));
  ASSERT_EQ(other.line(), "hello");
  set_patience(1ms);
  std::this_thread::sleep_for(2ms);
  fixture_.board.holds_over = 1;
  EXPECT_EQ(client.line(), "late there");
  set_patience(patience);
  fixture_.board.release_over = true;
  EXPECT_EQ(client.line(), "after");
  EXPECT_EQ(holder.line(), "remote");
}

TEST_F(RemoteThreads, NeedNotTakeWhoEndsMeanwhile) {
  Client holder = hold_thread();
  std::vector<Client> finished;
  std::vector<Client> closed;
  std::vector<Client> gone;
  for (int i = 0; i < 5; ++i) {
    for (std::vector<Client>* const some : {&finished, &closed, &gone}) {
      some->push_back(connect());
      ASSERT_TRUE(some->back().send("remote\n"));
    }
    finished.back().finish_sending();
  }
  ASSERT_TRUE(eventually([&] { return count_in_state("remote") == 16; }));
  set_patience(200ms);
  for (Client& client : gone) client.abort();
  for (const Client& client : closed) {
    EXPECT_NE(fixture_.server.close_connection(id_of(client), patience), Closing::unanswered);
  }
  for (Client& client : closed) {
    const std::string rest = client.rest();
    EXPECT_TRUE(rest.empty() || rest == "late\n") << rest;
    client.close();
  }
  for (Client& client : finished) EXPECT_EQ(client.rest(), "late\n");
  EXPECT_TRUE(eventually([&] { return fixture_.server.connections() == 1; }));
  EXPECT_EQ(fixture_.board.dialogues, 1U);
  EXPECT_EQ(fixture_.board.strange_dialogues, 0U);
  end_hold(holder);
}

TEST_F(RemoteThreads, EndTheConnectionIfItsAnswerFails) {
  Client holder = hold_thread();
  fixture_.board.late_throws = true;
  set_patience(100ms);
  Client client = connect();
  ASSERT_TRUE(client.send("remote\nafter\n"));
  EXPECT_EQ(client.line(), "<end>");
  fixture_.board.late_throws = false;
  Client next = connect();
  ASSERT_TRUE(next.send("remote\nafter\n"));
  EXPECT_EQ(next.line(), "late");
  EXPECT_EQ(next.line(), "after");
  end_hold(holder);
}

// A connection that is answered may be chosen to go as before.
TEST_F(RemoteThreads, GiveBackWhatWasLent) {
  Client holder = hold_thread();
  // The worker is held up until everything has come, because nothing is read while it waits. It must
  // not be held up in the pass of the first client.
  ASSERT_TRUE(eventually([&] { return fixture_.board.releases == fixture_.board.passes; }));
  fixture_.board.release_over = false;
  Client other = connect();
  ASSERT_TRUE(other.send("hello\n"));
  ASSERT_EQ(other.line(), "hello");
  Client client = connect();
  ASSERT_TRUE(client.send("remote\n" + std::string(50'000, 'x')));
  set_patience(100ms);
  fixture_.board.release_over = true;
  EXPECT_EQ(client.line(), "late");
  ASSERT_GE(waiting_.held(), 50'000U);
  waiting_.set_limit(50'000);
  // More than is free of charge. To keep it takes less than the limit, also while its buffer grows.
  ASSERT_TRUE(other.send(std::string(6'000, 'y')));
  EXPECT_EQ(client.line(), "no room");
  ASSERT_TRUE(other.send("\n"));
  EXPECT_EQ(other.line().size(), 6'000U);
  end_hold(holder);
}

// Workers take connections back while remote threads take them, and somebody closes some.
TEST(RemoteThreadsOfSeveralWorkers, AnswerEachRequestOnce) {
  ServerConfig config = Fixture::loopback();
  config.crews.front().workers = 2;
  config.crews.front().remote_threads = 2;
  config.remote_patience = 0ms;
  Fixture fixture(std::move(config));
  ASSERT_TRUE(fixture.start());
  std::atomic<bool> over{false};
  std::atomic<std::size_t> answered{0};
  // False: its connection has ended.
  const auto ask = [&](Client& client) {
    if (!client.send("remote\nremote\nlast\n")) return false;
    for (const char* const wanted : {"late", "late", "last"}) {
      const std::string line = client.line();
      if (line == "<end>" || line == "<error>") return false;
      EXPECT_TRUE(line.starts_with(wanted)) << line;
    }
    ++answered;
    return true;
  };
  std::vector<std::thread> threads(6);
  for (std::thread& thread : threads) {
    thread = std::thread([&] {
      while (!over) {
        Client client = Client::tcp(fixture.server.bound_port());
        while (!over && ask(client)) continue;
      }
    });
  }
  const auto end = Clock::now() + 2s;
  while (Clock::now() < end) {
    for (const ConnectionInfo& one : fixture.server.describe_connections(patience).connections) {
      if (one.state == "remote") fixture.server.close_connection(one.id, patience);
    }
    std::this_thread::sleep_for(5ms);
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(answered, 0U);
  EXPECT_EQ(fixture.board.shared_dialogues, 0U);
  EXPECT_TRUE(eventually([&] { return fixture.server.connections() == 0; }));
  EXPECT_EQ(fixture.board.dialogues, 0U);
}

TEST(ConnectionQueue, GivesAWorkerBackWhatHasWaitedTooLong) {
  WaitingBytes waiting;
  Inbox inbox(0, waiting);
  Inbox other(1, waiting);
  std::vector<std::unique_ptr<Connection>> connections;
  ConnectionQueue queue;
  queue.join();
  const auto push = [&](Inbox& home, std::uint64_t listed_at) {
    connections.push_back(std::make_unique<Connection>(Accepted{}, nullptr, home, 0));
    connections.back()->listed_at = listed_at;
    EXPECT_TRUE(queue.push(*connections.back()));
  };
  const auto times = [](const Connection* taken) {
    std::vector<std::uint64_t> times;
    for (; taken != nullptr; taken = taken->next_in_queue) times.push_back(taken->listed_at);
    return times;
  };
  using Times = std::vector<std::uint64_t>;
  EXPECT_EQ(times(queue.take_back(inbox, 100, 10)), Times{});
  for (const std::uint64_t time : {1, 2, 3, 4, 5, 6}) push(time % 2 == 0 ? other : inbox, time);
  EXPECT_EQ(times(queue.take_back(inbox, 0, 10)), Times{});
  EXPECT_EQ(times(queue.take_back(inbox, 3, 10)), (Times{1, 3}));
  EXPECT_EQ(times(queue.take_back(other, 100, 2)), (Times{2, 4}));
  EXPECT_EQ(times(queue.take_back(other, 100, 2)), (Times{6})) << "it was the last one";
  push(inbox, 7);
  for (const std::uint64_t time : {5, 7}) EXPECT_EQ(queue.pop(0ms)->listed_at, time);
  EXPECT_EQ(queue.pop(0ms), nullptr);
  push(inbox, 8);
  EXPECT_EQ(times(queue.take_back(inbox, 8, 10)), (Times{8})) << "it was the only one";
  push(inbox, 9);
  EXPECT_EQ(queue.pop(0ms)->listed_at, 9U);
}

TEST(ConnectionQueue, GivesAWorkerBackWhoseDeadlineHasCome) {
  WaitingBytes waiting;
  Inbox inbox(0, waiting);
  Inbox other(1, waiting);
  std::vector<std::unique_ptr<Connection>> connections;
  ConnectionQueue queue;
  queue.join();
  for (const std::uint64_t deadline : {0, 5, 3, 9, 4, 3}) {
    Inbox& home = connections.size() == 4 ? other : inbox;
    connections.push_back(std::make_unique<Connection>(Accepted{}, nullptr, home, 0));
    connections.back()->deadline = deadline;
    EXPECT_TRUE(queue.push(*connections.back()));
  }
  std::uint64_t next = 100;
  const auto taken = [&](std::uint64_t now, std::size_t most) {
    std::vector<std::uint64_t> deadlines;
    const Connection* connection = queue.take_overdue(inbox, now, most, next);
    for (; connection != nullptr; connection = connection->next_in_queue)
      deadlines.push_back(connection->deadline);
    return deadlines;
  };
  using Deadlines = std::vector<std::uint64_t>;
  EXPECT_EQ(taken(2, 10), Deadlines{});
  EXPECT_EQ(next, 3U);
  next = 100;
  EXPECT_EQ(taken(4, 1), Deadlines{3});
  EXPECT_EQ(next, 3U) << "there is one more";
  next = 100;
  EXPECT_EQ(taken(5, 10), (Deadlines{5, 3}));
  EXPECT_EQ(next, 9U);
  for (const std::uint64_t deadline : {0, 9, 4}) EXPECT_EQ(queue.pop(0ms)->deadline, deadline);
  EXPECT_EQ(queue.pop(0ms), nullptr);
}

// The patience of all is without an end in these tests.
TEST_F(RemoteThreads, LeaveToTheWorkerWhoseDeadlineComes) {
  Client holder = hold_thread();
  Client patient = connect();
  ASSERT_TRUE(patient.send("remote\n"));
  EXPECT_TRUE(eventually([&] { return count_in_state("remote") == 2; }));
  fixture_.board.deadline_ms = 1500;
  Client later = connect();
  const auto begin = Clock::now();
  ASSERT_TRUE(later.send("remote\nend\n"));
  EXPECT_TRUE(eventually([&] { return count_in_state("remote") == 3; }));
  fixture_.board.deadline_ms = 50;
  Client sooner = connect();
  ASSERT_TRUE(sooner.send("before\nremote\nafter\nhal"));
  for (const char* const line : {"before", "late", "after"}) EXPECT_EQ(sooner.line(), line);
  EXPECT_GE(Clock::now() - begin, 50ms);
  ASSERT_TRUE(sooner.send("f\n"));
  EXPECT_EQ(sooner.line(), "half");
  EXPECT_EQ(later.line(), "late");
  EXPECT_GE(Clock::now() - begin, 1500ms);
  EXPECT_LT(Clock::now() - begin, patience);
  EXPECT_EQ(later.line(), "end");
  end_hold(holder);
  EXPECT_EQ(patient.line(), "remote");
  EXPECT_EQ(fixture_.board.wrongly_late, 0U);
  EXPECT_EQ(fixture_.board.wrongly_scanned, 0U);
}

TEST(Streamers, LeaveToTheWorkerWhoseDeadlineComes) {
  ServerConfig config = Fixture::loopback();
  config.crews.front().streamers = 1;
  Fixture fixture(std::move(config));
  ASSERT_TRUE(fixture.start());
  Client busy = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(busy.send("stream 1 quiet\n"));
  EXPECT_TRUE(eventually([&] { return fixture.board.streaming.load(); }));
  fixture.board.deadline_ms = 50;
  Client client = Client::tcp(fixture.server.bound_port());
  const auto begin = Clock::now();
  ASSERT_TRUE(client.send("stream 1 1\nafter\n"));
  EXPECT_EQ(client.line(), "late");
  EXPECT_GE(Clock::now() - begin, 50ms);
  EXPECT_EQ(client.line(), "after");
}

}  // namespace
}  // namespace hs::net::test
