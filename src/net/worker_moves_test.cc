// Connections that workers give to one another: within a crew, and from one crew to another.
#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "net/scrambled_filter.h"
#include "net/server.h"
#include "net/test_support.h"

namespace hs::net::test {
namespace {

ServerConfig of_workers(unsigned workers) {
  ServerConfig config = Fixture::loopback();
  config.crews.front().workers = workers;
  return config;
}

class Moves : public ::testing::Test {
 protected:
  void connect(std::size_t count) {
    ASSERT_TRUE(fixture_.start());
    for (std::size_t i = 0; i < count; ++i) {
      clients_.push_back(Client::tcp(fixture_.server.bound_port()));
      ASSERT_TRUE(clients_.back().send("hello\n"));
      ASSERT_EQ(clients_.back().line(), "hello");
    }
  }
  std::string ask(Client& client, const std::string& line) {
    return client.send(line + "\n") ? client.line() : "<unsent>";
  }
  // The workers that serve the clients.
  std::multiset<std::string> workers() {
    std::multiset<std::string> found;
    for (Client& client : clients_) found.insert(ask(client, "who"));
    return found;
  }
  // Whether exactly `wanted` workers serve, each about as many as the others: two workers may move
  // some at the same time.
  bool are_spread_over(std::size_t wanted) {
    const std::multiset<std::string> found = workers();
    const std::set<std::string> names(found.begin(), found.end());
    std::size_t least = clients_.size();
    std::size_t most = 0;
    for (const std::string& name : names) {
      least = std::min(least, found.count(name));
      most = std::max(most, found.count(name));
    }
    return names.size() == wanted && most - least <= 2;
  }
  void spread_over(unsigned workers) {
    fixture_.server.set_spread(workers);
    EXPECT_TRUE(eventually([&] { return are_spread_over(workers); }))
        << "over " << workers << ": " << ::testing::PrintToString(this->workers());
  }
  ~Moves() override {
    EXPECT_EQ(fixture_.board.shared_dialogues, 0U);
    EXPECT_EQ(fixture_.board.strange_dialogues, 0U);
    EXPECT_EQ(fixture_.board.wrongly_scanned, 0U);
  }

  Fixture fixture_{of_workers(3)};
  std::vector<Client> clients_;
};

TEST_F(Moves, GoToFewerWorkersAndToMore) {
  connect(12);
  for (const unsigned workers : {1U, 3U, 2U, 1U, 2U, 3U, 1U}) spread_over(workers);
  EXPECT_GE(fixture_.board.departures, 12U);
  EXPECT_EQ(fixture_.count(Counter::connections_moved), fixture_.board.departures);
  EXPECT_EQ(fixture_.server.connections(), 12U);
}

TEST_F(Moves, OfManyAtOnceLoseNone) {
  connect(300);
  for (const unsigned workers : {1U, 3U, 1U}) spread_over(workers);
}

TEST_F(Moves, TakeTheBeginningOfARequestAlong) {
  connect(6);
  spread_over(1);
  for (Client& client : clients_) ASSERT_TRUE(client.send("half and "));
  // From one worker to three, and back.
  for (const unsigned workers : {3U, 1U, 3U}) {
    const std::size_t departures = fixture_.board.departures;
    fixture_.server.set_spread(workers);
    EXPECT_TRUE(eventually([&] { return fixture_.board.departures >= departures + 3; }))
        << "to " << workers << ": " << fixture_.board.departures - departures;
  }
  for (Client& client : clients_) EXPECT_EQ(ask(client, "half"), "half and half");
}

TEST_F(Moves, LeaveThoseThatWaitForSomethingUntilTheyHaveIt) {
  connect(3);
  fixture_.server.set_spread(1);
  ASSERT_TRUE(eventually([&] { return are_spread_over(1); }));
  for (Client& client : clients_) ASSERT_TRUE(client.send("gate\n"));
  fixture_.server.set_spread(3);
  ASSERT_TRUE(eventually([&] { return fixture_.board.gate_turns >= 30; }));
  fixture_.board.gate_open = true;
  for (Client& client : clients_) EXPECT_EQ(client.line(), "passed");
  fixture_.server.set_spread(1);
  EXPECT_TRUE(eventually([&] { return are_spread_over(1); }));
}

TEST_F(Moves, OfClientsThatKeepAsking) {
  connect(6);
  for (unsigned round = 0; round < 30; ++round) {
    fixture_.server.set_spread(1 + round % 3);
    for (std::size_t i = 0; i < 200; ++i) {
      Client& client = clients_[i % clients_.size()];
      const std::string line = std::to_string(round) + "/" + std::to_string(i);
      ASSERT_EQ(ask(client, line), line);
    }
  }
}

TEST_F(Moves, HideNoConnectionFromWhoLooks) {
  connect(20);
  for (unsigned round = 0; round < 50; ++round) {
    fixture_.server.set_spread(1 + round % 3);
    const ConnectionList list = fixture_.server.describe_connections(patience);
    ASSERT_TRUE(list.is_complete);
    std::set<std::uint64_t> ids;
    for (const ConnectionInfo& one : list.connections) ids.insert(one.id);
    ASSERT_EQ(ids.size(), 20U);
    ASSERT_EQ(list.connections.size(), 20U);
  }
}

TEST_F(Moves, HideNoConnectionFromWhoClosesIt) {
  connect(20);
  const ConnectionList list = fixture_.server.describe_connections(patience);
  ASSERT_EQ(list.connections.size(), 20U);
  unsigned round = 0;
  for (const ConnectionInfo& one : list.connections) {
    fixture_.server.set_spread(1 + round++ % 3);
    ASSERT_EQ(fixture_.server.close_connection(one.id, patience), Closing::begun);
  }
  for (Client& client : clients_) EXPECT_EQ(client.line(), "<end>");
}

TEST_F(Moves, OfAClientThatIsGoneEndItsConnection) {
  connect(6);
  fixture_.server.set_spread(1);
  clients_.clear();
  EXPECT_TRUE(eventually([&] { return fixture_.server.connections() == 0; }));
}

TEST_F(Moves, AreOverWhenTheServerStops) {
  connect(50);
  for (unsigned round = 0; round < 10; ++round) fixture_.server.set_spread(1 + round % 3);
  fixture_.server.stop();
  for (Client& client : clients_) EXPECT_EQ(client.line(), "<end>");
  EXPECT_EQ(fixture_.board.dialogues, 0U);
}

TEST_F(Moves, GoToNoWorkerThatHasLeft) {
  connect(6);
  spread_over(1);
  spread_over(3);
  const std::string first = ask(clients_[0], "who");
  // Only one client's worker is told to leave; its clients read an end.
  fixture_.board.leaver = std::stoul(first);
  EXPECT_EQ(clients_[0].line(), "<end>");
  std::erase_if(clients_, [&](Client& client) { return ask(client, "hello") != "hello"; });
  for (const unsigned workers : {1U, 2U, 3U}) {
    fixture_.server.set_spread(workers);
    for (Client& client : clients_) EXPECT_EQ(ask(client, "hello"), "hello");
  }
}

// The first crew only reads, and leaves the writes of its port to the second.
class TwoCrews : public ::testing::Test {
 protected:
  static ServerConfig config() {
    ServerConfig config = Fixture::loopback();
    config.crews.resize(2);
    config.crews[0].workers = 2;
    config.ports.front().writing_crew = 1;
    return config;
  }
  TwoCrews() {
    fixture_.board.reading_crew = 0;
    EXPECT_TRUE(fixture_.start());
  }
  ~TwoCrews() override {
    EXPECT_EQ(fixture_.board.shared_dialogues, 0U);
    EXPECT_EQ(fixture_.board.strange_dialogues, 0U);
    EXPECT_EQ(fixture_.board.wrongly_scanned, 0U);
  }
  Client connect() { return Client::tcp(fixture_.server.bound_port()); }
  std::vector<Client> connect(std::size_t count) {
    std::vector<Client> clients;
    clients.reserve(count);
    while (clients.size() < count) clients.push_back(connect());
    return clients;
  }
  static std::string ask(Client& client, const std::string& line) {
    return client.send(line + "\n") ? client.line() : "<unsent>";
  }
  std::size_t moved() { return fixture_.count(Counter::connections_moved); }

  Fixture fixture_{config()};
};

TEST_F(TwoCrews, AWriteGoesToTheOneThatWritesAndReadsComeBack) {
  Client client = connect();
  const std::string reader = ask(client, "who");
  const std::string writer = ask(client, "write who");
  EXPECT_NE(writer, reader);
  EXPECT_EQ(ask(client, "who"), writer) << "it may write again";
  EXPECT_TRUE(eventually([&] { return ask(client, "who") != writer; }));
  EXPECT_EQ(moved(), 2U);
  EXPECT_EQ(ask(client, "write who"), writer);
}

TEST_F(TwoCrews, WhoMostlyWritesStaysWithTheOneThatWrites) {
  Client client = connect();
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(ask(client, "write a"), "a");
    EXPECT_EQ(ask(client, "b"), "b");
  }
  EXPECT_EQ(moved(), 1U);
}

TEST_F(TwoCrews, WhoWritesInManyPartsStaysWithTheOneThatWrites) {
  Client client = connect();
  for (int i = 0; i < 3; ++i) {
    for (const char byte : std::string_view("write a long line")) {
      ASSERT_TRUE(client.send({&byte, 1}));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    EXPECT_EQ(ask(client, ""), "a long line");
  }
  EXPECT_EQ(moved(), 1U);
}

TEST_F(TwoCrews, RepliesKeepTheirOrder) {
  Client client = connect();
  std::string lines;
  for (int i = 0; i < 300; ++i) lines += (i % 37 == 36 ? "write " : "") + std::to_string(i) + "\n";
  ASSERT_TRUE(client.send(lines));
  for (int i = 0; i < 300; ++i) ASSERT_EQ(client.line(), std::to_string(i));
}

TEST_F(TwoCrews, TheBeginningOfARequestGoesAlong) {
  Client client = connect();
  EXPECT_EQ(ask(client, "a"), "a");
  ASSERT_TRUE(client.send("write b\nhalf and "));
  EXPECT_EQ(client.line(), "b");
  EXPECT_EQ(ask(client, "half"), "half and half");
  ASSERT_TRUE(client.send("c\nwrite half and "));
  EXPECT_EQ(client.line(), "c");
  EXPECT_EQ(ask(client, "half"), "half and half");
}

TEST_F(TwoCrews, ManyClientsGoToAndFro) {
  std::vector<Client> clients = connect(40);
  for (int round = 0; round < 60; ++round) {
    for (std::size_t i = 0; i < clients.size(); ++i) {
      const bool writes = (static_cast<std::size_t>(round) + i) % 15 == 0;
      ASSERT_TRUE(clients[i].send((writes ? "write " : "") + std::to_string(round) + "\n"));
    }
    for (Client& client : clients) ASSERT_EQ(client.line(), std::to_string(round));
    if (round % 10 == 0) {
      const ConnectionList list = fixture_.server.describe_connections(patience);
      ASSERT_TRUE(list.is_complete);
      ASSERT_EQ(list.connections.size(), clients.size());
    }
  }
  EXPECT_GT(moved(), clients.size());
}

TEST_F(TwoCrews, AConnectionOnItsWayIsSeenAndClosed) {
  std::vector<Client> clients = connect(8);
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  threads.reserve(clients.size());
  for (Client& client : clients) {
    threads.emplace_back([&over, &client] {
      for (int i = 0; !over; ++i) {
        if (ask(client, i % 10 == 0 ? "write a" : "a") != "a") return;
      }
    });
  }
  EXPECT_TRUE(eventually([&] { return fixture_.server.connections() == 8 && moved() > 20; }));
  std::vector<std::uint64_t> ids;
  for (int look = 0; look < 200; ++look) {
    const ConnectionList list = fixture_.server.describe_connections(patience);
    ASSERT_TRUE(list.is_complete);
    ASSERT_EQ(list.connections.size(), 8U);
    for (const ConnectionInfo& one : list.connections) ids.push_back(one.id);
  }
  ids.resize(8);
  for (const std::uint64_t id : ids)
    EXPECT_EQ(fixture_.server.close_connection(id, patience), Closing::begun);
  EXPECT_TRUE(eventually([&] { return fixture_.server.connections() == 0; }));
  over = true;
  for (std::thread& thread : threads) thread.join();
}

TEST_F(TwoCrews, IfNobodyIsLeftWhoWritesReadsAreServed) {
  Client client = connect();
  fixture_.board.leaver = std::stoul(ask(client, "write who"));
  EXPECT_EQ(client.line(), "<end>");
  Client other = connect();
  EXPECT_EQ(ask(other, "a"), "a");
  EXPECT_EQ(ask(other, "write b"), "<end>");
  Client third = connect();
  EXPECT_EQ(ask(third, "a"), "a");
}

// Its requests may be in the filter, of which the kernel knows nothing.
TEST(TwoCrewsBehindAFilter, WhatIsReadAlreadyGoesAlong) {
  ServerConfig config = Fixture::loopback();
  config.crews.resize(2);
  config.ports.front().writing_crew = 1;
  config.read_size = 0;  // the smallest: one turn leaves most of what has come
  config.filter = [](int socket, std::string_view begin) {
    return std::make_unique<ScrambledFilter>(socket, begin);
  };
  Fixture fixture(config);
  fixture.board.reading_crew = 0;
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(client.send(ScrambledFilter::hello));
  ASSERT_EQ(client.read_some(ScrambledFilter::welcome.size()), ScrambledFilter::welcome.size());
  const std::string line = std::string(59, 'r') + "\n";
  std::string requests = "write w\n";
  std::string replies = "w\n";
  for (int i = 0; i < 200; ++i) {
    requests += line;
    replies += line;
  }
  ScrambledFilter::scramble(requests);
  ScrambledFilter::scramble(replies);
  ASSERT_TRUE(client.send(requests));
  std::string received;
  while (received.size() < replies.size()) {
    const std::string piece = client.bytes(replies.size());
    ASSERT_FALSE(piece.empty()) << received.size() << " of " << replies.size();
    received += piece;
  }
  EXPECT_EQ(received, replies);
  EXPECT_EQ(fixture.count(Counter::connections_moved), 2U);
}

TEST_F(TwoCrews, StopWhileConnectionsAreOnTheirWay) {
  std::vector<Client> clients = connect(30);
  for (Client& client : clients) ASSERT_TRUE(client.send("a\nwrite b\n"));
  fixture_.server.stop();
  for (Client& client : clients) client.rest();
  EXPECT_EQ(fixture_.board.dialogues, 0U);
}

}  // namespace
}  // namespace hs::net::test
