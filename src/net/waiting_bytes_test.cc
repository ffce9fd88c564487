// What waits in memory to be read or sent: which connections go when it is too much, and that no
// others do.
#include "net/waiting_bytes.h"

#include <deque>
#include <future>
#include <string>
#include <vector>

#include "net/inbox.h"
#include "net/server.h"
#include "net/test_support.h"

namespace hs::net::test {
namespace {

// Connections without sockets. They belong to two workers alternately.
class Shares : public testing::Test {
 protected:
  Shares() {
    for (int i = 0; i < 6; ++i) {
      connections_.emplace_back(Accepted(), nullptr, i % 2 == 0 ? even_ : odd_, 0);
    }
  }
  WaitingBytes::Share& share(std::size_t i) { return connections_[i].share; }
  // The numbers of the connections that a worker has to end.
  std::vector<std::size_t> leavers(Inbox& inbox) {
    std::vector<std::size_t> numbers;
    while (const Connection* const leaver = waiting_.next_to_go(inbox.leavers)) {
      for (std::size_t i = 0; i < connections_.size(); ++i) {
        if (&connections_[i] == leaver) numbers.push_back(i);
      }
    }
    return numbers;
  }

  using Numbers = std::vector<std::size_t>;
  WaitingBytes waiting_{800'000, 1000};
  Inbox even_{0, waiting_};
  Inbox odd_{1, waiting_};
  std::deque<Connection> connections_;
};

TEST_F(Shares, ALittleIsFreeOfCharge) {
  EXPECT_TRUE(share(0).set(1000));
  EXPECT_EQ(waiting_.held(), 0U);
  EXPECT_TRUE(share(0).set(1001));
  EXPECT_EQ(waiting_.held(), 1001U);
  EXPECT_TRUE(share(0).set(10));
  EXPECT_EQ(waiting_.held(), 0U);
}

TEST_F(Shares, WhoeverHoldsMostGoesFirst) {
  share(0).set(90'000);
  share(1).set(300'000);
  share(2).set(150'000);
  EXPECT_FALSE(even_.leavers.any() || odd_.leavers.any());
  // More than seven eighths are held, so it goes down to three quarters.
  EXPECT_TRUE(share(3).set(200'000));
  EXPECT_TRUE(odd_.leavers.any());
  EXPECT_EQ(leavers(odd_), Numbers{1});
  EXPECT_EQ(leavers(even_), Numbers{});
  EXPECT_FALSE(odd_.leavers.any());
  EXPECT_EQ(waiting_.held(), 740'000U) << "until it has gone";
  share(1).set(0);
  EXPECT_EQ(waiting_.held(), 440'000U);
}

TEST_F(Shares, OfThoseThatHoldAboutTheSameWhoHasHeldItLongestGoes) {
  for (const std::size_t i : {3U, 1U, 2U, 0U}) share(i).set(170'000);
  share(4).set(40'000);
  EXPECT_EQ(leavers(odd_), Numbers{3});
  EXPECT_EQ(leavers(even_), Numbers{});
}

TEST_F(Shares, NoMoreAreChosenThanHaveToGo) {
  for (std::size_t i = 0; i < 5; ++i) share(i).set(150'000);
  EXPECT_EQ(leavers(even_), Numbers{0});
  // No connection has gone yet, but one is about to.
  share(5).set(90'000);
  EXPECT_FALSE(even_.leavers.any() || odd_.leavers.any());
}

TEST_F(Shares, WhoHasGotRidOfItNeedNotGo) {
  for (std::size_t i = 0; i < 5; ++i) share(i).set(150'000);
  ASSERT_TRUE(even_.leavers.any());
  share(0).set(100);
  EXPECT_EQ(leavers(even_), Numbers{});
  EXPECT_EQ(waiting_.held(), 600'000U);
  share(0).set(150'000);
  EXPECT_EQ(leavers(odd_), Numbers{1});
}

TEST_F(Shares, WhatIsLentCannotBeChosen) {
  share(0).set(400'000);
  EXPECT_TRUE(share(0).lend());
  share(1).set(200'000);
  share(2).set(150'000);
  EXPECT_EQ(leavers(even_), Numbers{});
  EXPECT_EQ(leavers(odd_), Numbers{1});
  // It can be chosen as soon as it is back.
  share(0).set(400'000);
  share(3).set(250'000);
  EXPECT_EQ(leavers(even_), Numbers{0});
  EXPECT_FALSE(share(0).lend());
  EXPECT_TRUE(share(4).lend()) << "it holds nothing";
}

TEST_F(Shares, ThereIsNoMoreRoomThanTheLimit) {
  share(0).set(400'000);
  share(1).set(200'000);
  EXPECT_TRUE(share(1).grow(100'000));
  EXPECT_EQ(waiting_.held(), 700'000U);
  EXPECT_FALSE(share(2).grow(1)) << "the last eighth is for those who come with little";
  EXPECT_EQ(waiting_.held(), 700'000U) << "nothing was taken";
  EXPECT_TRUE(share(2).set(100'000));
  EXPECT_FALSE(share(3).set(1001)) << "what is there already is counted";
  EXPECT_EQ(waiting_.held(), 801'001U);
  EXPECT_TRUE(share(3).set(1000));
  EXPECT_TRUE(share(0).set(300'000)) << "who takes less is never refused";
}

TEST_F(Shares, WhoWantsMoreMakesNobodyGoThatHoldsLess) {
  share(0).set(100'000);
  share(1).set(100'000);
  share(2).set(300'000);
  EXPECT_FALSE(share(2).grow(600'000));
  EXPECT_EQ(leavers(even_), Numbers{2});
  EXPECT_EQ(leavers(odd_), Numbers{});
}

// Its worker may go on reading from it before it looks at who has to go.
TEST_F(Shares, WhoHasBeenChosenMakesNobodyElseGoByWantingMore) {
  for (const std::size_t i : {0U, 1U}) share(i).set(170'000);
  share(2).set(300'000);
  share(3).set(100'000);
  EXPECT_FALSE(share(2).grow(600'000));
  EXPECT_FALSE(odd_.leavers.any());
  EXPECT_EQ(leavers(even_), Numbers{2});
  EXPECT_FALSE(share(2).grow(600'000)) << "its worker has not ended it yet";
  EXPECT_EQ(leavers(even_), Numbers{});
  EXPECT_EQ(leavers(odd_), Numbers{});
}

TEST_F(Shares, NobodyGoesForTheSakeOfAStranger) {
  for (const std::size_t i : {1U, 2U, 3U, 4U}) share(i).introduce(true);
  share(0).set(650'000);
  // They have a quarter for themselves.
  EXPECT_TRUE(share(2).grow(60'000));
  EXPECT_TRUE(share(3).set(80'000));
  EXPECT_TRUE(share(4).has_room(35'000));
  EXPECT_FALSE(share(4).has_room(36'000));
  EXPECT_FALSE(even_.leavers.any() || odd_.leavers.any());
  EXPECT_TRUE(share(4).grow(60'000));
  EXPECT_EQ(leavers(even_), Numbers{2});
  EXPECT_FALSE(share(1).grow(70'000));
  EXPECT_EQ(leavers(odd_), Numbers{3});
  share(2).set(0);
  share(3).set(0);
  EXPECT_TRUE(share(1).grow(70'000));
  EXPECT_FALSE(even_.leavers.any() || odd_.leavers.any());
  EXPECT_EQ(waiting_.held(), 780'000U);
}

TEST_F(Shares, AStrangerThatMakesProgressStays) {
  for (const std::size_t i : {0U, 1U, 2U}) share(i).introduce(true);
  for (const std::size_t i : {0U, 1U}) share(i).set(70'000);
  ASSERT_TRUE(share(0).lend());
  share(0).set(70'000);
  share(2).set(50'000);
  EXPECT_EQ(leavers(odd_), Numbers{1});
  EXPECT_EQ(leavers(even_), Numbers{});
}

TEST_F(Shares, WhoBecomesKnownCountsAsTheOthersDo) {
  share(2).introduce(true);
  share(0).set(650'000);
  share(2).set(120'000);
  EXPECT_FALSE(even_.leavers.any());
  EXPECT_TRUE(share(2).introduce(false));
  EXPECT_EQ(leavers(even_), Numbers{0});
  // Nobody has gone yet, so there is no room for another.
  share(1).introduce(true);
  share(1).set(60'000);
  EXPECT_FALSE(share(1).introduce(false));
  EXPECT_EQ(waiting_.held(), 830'000U);
}

TEST_F(Shares, AreGivenBackWithTheirConnections) {
  for (std::size_t i = 0; i < 6; ++i) share(i).set(130'000);
  ASSERT_TRUE(even_.leavers.any());
  connections_.clear();
  EXPECT_EQ(waiting_.held(), 0U);
  EXPECT_EQ(leavers(even_), Numbers{});
  EXPECT_EQ(leavers(odd_), Numbers{});
}

constexpr std::size_t mib = std::size_t{1} << 20;

class Waiting : public testing::Test {
 protected:
  static ServerConfig config(WaitingBytes& waiting) {
    ServerConfig config = Fixture::loopback();
    config.waiting = &waiting;
    config.max_request_size = mib;
    config.send_buffer = 64 << 10;
    return config;
  }
  void greet(Client& client) {
    ASSERT_TRUE(client.send("hello\n"));
    ASSERT_EQ(client.line(), "hello");
    most_held_ = std::max(most_held_, waiting_.held());
  }

  // Four connections of one worker, which does nothing else until the board says so, and `others`
  // of another. Three of the four hold three quarters of the budget.
  struct TwoWorkers {
    std::vector<Client> of_busy;
    std::vector<Client> of_other;
  };
  TwoWorkers hold_one_worker(Fixture& fixture, std::size_t others) {
    TwoWorkers clients;
    std::string busy;
    while (clients.of_busy.size() < 4 || clients.of_other.size() < others) {
      Client client = Client::tcp(fixture.server.bound_port(), 32 << 10);
      EXPECT_TRUE(client.send("who\n"));
      const std::string worker = client.line();
      if (busy.empty()) busy = worker;
      (worker == busy ? clients.of_busy : clients.of_other).push_back(std::move(client));
    }
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(clients.of_busy[i].send("big 1150000\n"));
    EXPECT_TRUE(eventually([&] { return waiting_.held() >= 3'000'000; }));
    EXPECT_TRUE(clients.of_busy[3].send("hold\n"));
    EXPECT_TRUE(eventually([&] { return fixture.board.holding == 1; }));
    return clients;
  }

  WaitingBytes waiting_{4 * mib};
  std::size_t most_held_ = 0;
};

TEST_F(Waiting, HalfRequestsHaveABoundInAll) {
  ServerConfig two_workers = config(waiting_);
  two_workers.crews.front().workers = 2;
  Fixture fixture(two_workers);
  ASSERT_TRUE(fixture.start());
  Client bystander = Client::tcp(fixture.server.bound_port());
  const std::string half(900'000, 'x');
  std::vector<Client> greedy;
  for (int i = 0; i < 20; ++i) {
    greedy.push_back(Client::tcp(fixture.server.bound_port()));
    ASSERT_TRUE(greedy.back().send(half));
    greet(bystander);
  }
  ASSERT_TRUE(eventually([&] { return fixture.count(Counter::connections_shed) >= 16; }));
  greet(bystander);
  EXPECT_LE(most_held_, waiting_.limit());
  EXPECT_TRUE(fixture.log.contains("handlersocket_max_waiting_bytes"));

  // The connections that are left are served. Those that had to go are told why.
  int served = 0;
  for (Client& client : greedy) {
    client.send("\n");
    const std::string line = client.line();
    if (line == half) {
      ++served;
    } else {
      EXPECT_EQ(line, "no room");
      EXPECT_EQ(client.line(), "<end>");
    }
  }
  EXPECT_GE(served, 1);
  EXPECT_LE(served, 4);
  greet(bystander);
}

TEST_F(Waiting, RepliesThatNobodyReadsHaveABoundInAll) {
  Fixture fixture(config(waiting_));
  ASSERT_TRUE(fixture.start());
  Client bystander = Client::tcp(fixture.server.bound_port());
  std::vector<Client> greedy;
  for (int i = 0; i < 30; ++i) {
    greedy.push_back(Client::tcp(fixture.server.bound_port(), 32 << 10));
    ASSERT_TRUE(greedy.back().send("big 1000000\n"));
    greet(bystander);
  }
  EXPECT_TRUE(eventually([&] { return fixture.count(Counter::connections_shed) >= 20; }));
  greet(bystander);
  // A reply for which there is no room is counted until the worker has ended its connection.
  EXPECT_LE(most_held_, waiting_.limit() + mib);
  // A connection that is left gets its reply once it reads. The others get a part of it and an end
  // of file.
  EXPECT_EQ(greedy.back().line(), std::string(1'000'000, 'b'));
  EXPECT_LT(greedy.front().rest().size(), 1'000'000U);
}

TEST_F(Waiting, IsOneBudgetForBothPorts) {
  Fixture one(config(waiting_));
  Fixture other(config(waiting_));
  ASSERT_TRUE(one.start() && other.start());
  Client large = Client::tcp(one.server.bound_port());
  ASSERT_TRUE(large.send(std::string(mib, 'x')));
  ASSERT_TRUE(eventually([&] { return waiting_.held() >= mib; }));
  std::vector<Client> smaller;
  for (int i = 0; i < 20 && one.count(Counter::connections_shed) == 0; ++i) {
    smaller.push_back(Client::tcp(other.server.bound_port(), 32 << 10));
    ASSERT_TRUE(smaller.back().send("big 400000\n"));
    ASSERT_TRUE(eventually([&] { return other.board.requests > static_cast<std::size_t>(i); }));
    // On a busy machine the connection that has to go takes a while. More replies would then cost
    // other connections.
    ASSERT_TRUE(eventually([&] {
      return waiting_.held() <= 7 * mib / 2 || one.count(Counter::connections_shed) != 0;
    }));
  }
  EXPECT_EQ(large.line(), "no room");
  EXPECT_EQ(large.line(), "<end>");
  EXPECT_EQ(other.count(Counter::connections_shed), 0U);
  for (Client& client : smaller) EXPECT_EQ(client.line(), std::string(400'000, 'b'));
}

// The find's reply has begun, and it waits for a lock that it has met since it was parked.
TEST_F(Waiting, AFindThatWasParkedEndsWithoutAWordInItsReply) {
  WaitingBytes little(512 << 10);
  Fixture fixture(config(little));
  fixture.board.gate_open = true;
  ASSERT_TRUE(fixture.start());
  // The worker is held up until everything has come, because nothing is read during a long find.
  Client holder = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(holder.send("hold\n"));
  ASSERT_TRUE(eventually([&] { return fixture.board.holding == 1; }));
  Client client = Client::tcp(fixture.server.bound_port(), 32 << 10);
  ASSERT_TRUE(client.send("stream 1000000 1000 parks gate\n" + std::string(50'000, 'x')));
  fixture.board.holds_over = 1;
  ASSERT_TRUE(eventually([&] { return fixture.board.parked != 0; }));
  ASSERT_GT(little.held(), 40'000U) << "it has to hold more than the others";
  fixture.board.gate_open = false;
  const std::size_t turns = fixture.board.gate_turns;
  std::future<std::string> reply = std::async(std::launch::async, [&] { return client.rest(); });
  ASSERT_TRUE(eventually([&] { return fixture.board.gate_turns > turns; }));

  std::vector<Client> others;
  // While a streamer tries the find again, its connection cannot be chosen. Then others go, and
  // more come.
  while (others.size() < 400 &&
         reply.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    others.push_back(Client::tcp(fixture.server.bound_port()));
    ASSERT_TRUE(others.back().send(std::string(20'000, 'y')));
    greet(others.emplace_back(Client::tcp(fixture.server.bound_port())));
  }
  const std::string sent = reply.get();
  EXPECT_GT(sent.size(), 1'000U);
  EXPECT_EQ(sent.find_first_not_of('s'), std::string::npos);
}

// As long as the worker of the connections that have to go is busy, nobody else goes. Who comes
// with more than is free of charge waits.
TEST_F(Waiting, WhoComesWhileTheGreediestHasNotEndedYetWaits) {
  ServerConfig two_workers = config(waiting_);
  two_workers.crews.front().workers = 2;
  Fixture fixture(two_workers);
  ASSERT_TRUE(fixture.start());
  auto [of_busy, of_other] = hold_one_worker(fixture, 42);
  Client bystander = std::move(of_other.back());
  of_other.pop_back();
  Client whole = std::move(of_other.back());
  of_other.pop_back();
  const std::string request(40'000, 'y');
  for (Client& client : of_other) ASSERT_TRUE(client.send(request));
  for (int i = 0; i < 200; ++i) greet(bystander);
  std::string two_and_a_part = request + "\n";
  two_and_a_part.append(request).append("\n").append(request, 0, 1000);
  // Of a whole request nothing is kept, so it need not wait.
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(whole.send(two_and_a_part));
    EXPECT_EQ(whole.line(), request);
    EXPECT_EQ(whole.line(), request);
    ASSERT_TRUE(whole.send("\n"));
    EXPECT_EQ(whole.line(), request.substr(0, 1000));
  }
  EXPECT_LE(most_held_, waiting_.limit());
  EXPECT_EQ(fixture.count(Counter::connections_shed), 0U);

  fixture.board.holds_over = 1;
  EXPECT_EQ(of_busy[3].line(), "held");
  for (Client& client : of_other) {
    ASSERT_TRUE(client.send("\n"));
    EXPECT_EQ(client.line(), request);
  }
  EXPECT_GE(fixture.count(Counter::connections_shed), 1U);
  EXPECT_LT(of_busy[0].rest().size(), 1'150'000U);
}

// The connections that have to go belong to a worker that is busy. Meanwhile nobody takes more
// memory, and no other connection has to go.
TEST_F(Waiting, ARequestWaitsUntilThereIsRoomForMoreOfIt) {
  ServerConfig two_workers = config(waiting_);
  two_workers.crews.front().workers = 2;
  Fixture fixture(two_workers);
  ASSERT_TRUE(fixture.start());
  auto [of_busy, of_other] = hold_one_worker(fixture, 2);
  const std::size_t before = waiting_.held();
  const std::string request(900'000, 'y');
  ASSERT_TRUE(of_other[0].send(request + "\n"));
  ASSERT_TRUE(eventually([&] { return waiting_.held() >= before + mib / 2; }));
  for (int i = 0; i < 200; ++i) greet(of_other[1]);
  EXPECT_LE(most_held_, waiting_.limit());
  EXPECT_EQ(fixture.count(Counter::connections_shed), 0U);
  EXPECT_LT(waiting_.held(), before + mib);
  fixture.board.holds_over = 1;
  EXPECT_EQ(of_other[0].line(), request);
  EXPECT_EQ(of_busy[3].line(), "held");
  EXPECT_GE(fixture.count(Counter::connections_shed), 1U);
  EXPECT_LT(of_busy[0].rest().size(), 1'150'000U);
}

// Who is told that there is no room does not know what was executed: the reply that was not sent yet
// is thrown away with the rest.
TEST_F(Waiting, WhoIsToldThatThereIsNoRoomMayHaveBeenServed) {
  Fixture fixture(config(waiting_));
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  greet(client);
  ASSERT_TRUE(client.send("hold\n" + std::string(40'000, 'x')));
  ASSERT_TRUE(eventually([&] { return fixture.board.holding == 1; })) << "it is being executed";
  waiting_.set_limit(5000);
  fixture.board.holds_over = 1;
  EXPECT_EQ(client.rest(), "no room\n");
  EXPECT_EQ(fixture.count(Counter::connections_shed), 1U);
}

TEST_F(Waiting, WhoMayHoldLittleIsNotReadFurther) {
  Fixture fixture(config(waiting_));
  fixture.board.most_waiting = 4096;
  ASSERT_TRUE(fixture.start());
  Client whole = Client::tcp(fixture.server.bound_port());
  std::string requests;
  for (int i = 0; i < 1000; ++i) requests += std::string(99, 'a') + "\n";
  ASSERT_TRUE(whole.send(requests));
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(whole.line(), std::string(99, 'a'));
  ASSERT_TRUE(whole.send(std::string(4096, 'b') + "\n"));
  EXPECT_EQ(whole.line(), std::string(4096, 'b'));
  const std::uint64_t received = fixture.count(Counter::bytes_received);

  Client half = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(half.send(std::string(5000, 'c')));
  EXPECT_EQ(half.line(), "too large");
  EXPECT_EQ(half.line(), "<end>");
  EXPECT_EQ(fixture.count(Counter::bytes_received) - received, 4098U);
  EXPECT_EQ(waiting_.held(), 0U);

  Client not_reading = Client::tcp(fixture.server.bound_port(), 32 << 10);
  ASSERT_TRUE(not_reading.send("big 1000000\n"));
  EXPECT_TRUE(eventually([&] { return fixture.board.requests >= 1002; }));
  EXPECT_LT(not_reading.rest().size(), 1'000'000U);
}

}  // namespace
}  // namespace hs::net::test
