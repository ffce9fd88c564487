// Connections that workers give to one another.
#include <set>
#include <string>
#include <vector>

#include "net/server.h"
#include "net/test_support.h"

namespace hs::net::test {
namespace {

ServerConfig of_workers(unsigned workers) {
  ServerConfig config = Fixture::loopback();
  config.workers = workers;
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
  for (Client& client : clients_) ASSERT_TRUE(client.send("half and "));
  for (const unsigned workers : {1U, 3U, 1U}) {
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

}  // namespace
}  // namespace hs::net::test
