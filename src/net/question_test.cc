// What other threads learn about connections, and how they close them.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "net/peer.h"
#include "net/server.h"
#include "net/test_support.h"

namespace hs::net::test {
namespace {

using namespace std::chrono_literals;

class Questions : public testing::Test {
 protected:
  Questions() : fixture_(config()) { EXPECT_TRUE(fixture_.start()); }
  static ServerConfig config() {
    ServerConfig config = Fixture::loopback();
    config.crews.front().workers = 2;
    return config;
  }

  Client connect() { return Client::tcp(fixture_.server.bound_port()); }
  // What is known about a client's connection; an id of 0 if it has none.
  ConnectionInfo info(const Client& client) {
    return info("127.0.0.1:" + std::to_string(client.port()));
  }
  ConnectionInfo info(const std::string& peer) {
    const ConnectionList list = fixture_.server.describe_connections(patience);
    EXPECT_TRUE(list.is_complete);
    const auto found = std::ranges::find(list.connections, peer, &ConnectionInfo::peer);
    return found == list.connections.end() ? ConnectionInfo{} : *found;
  }
  // Waits for the state, closes the connection, and waits until it has ended for its client.
  void close_in_state(Client& client, const std::string& state) {
    const std::string peer = "127.0.0.1:" + std::to_string(client.port());
    ASSERT_TRUE(eventually([&] { return info(peer).state == state; })) << info(peer).state;
    EXPECT_EQ(info(peer).user, "somebody");
    EXPECT_EQ(fixture_.server.close_connection(info(peer).id, patience), Closing::begun);
    EXPECT_TRUE(eventually([&] {
      const ConnectionInfo left = info(peer);
      return left.id == 0 || left.state == "lingering";
    })) << info(peer).state;
  }
  void expect_service() {
    Client other = connect();
    ASSERT_TRUE(other.send("hello\nstream 2 2\n"));
    EXPECT_EQ(other.line(), "hello");
    EXPECT_EQ(other.line(), "ssssend");
  }

  Fixture fixture_;
};

TEST_F(Questions, NameEachConnectionWithItsPeer) {
  std::vector<Client> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(connect());
    ASSERT_TRUE(clients.back().send("hello\n"));
    ASSERT_EQ(clients.back().line(), "hello");
  }
  const ConnectionList list = fixture_.server.describe_connections(patience);
  EXPECT_TRUE(list.is_complete);
  EXPECT_EQ(list.connections.size(), clients.size());
  std::set<std::uint64_t> ids;
  for (const Client& client : clients) {
    const ConnectionInfo of_client = info(client);
    EXPECT_EQ(of_client.state, "waiting");
    EXPECT_LT(of_client.age, patience);
    ids.insert(of_client.id);
  }
  EXPECT_EQ(ids.size(), clients.size());
  EXPECT_FALSE(ids.contains(0));
  // Not even another server uses an id again.
  Fixture other;
  ASSERT_TRUE(other.start());
  Client client = Client::tcp(other.server.bound_port());
  ASSERT_TRUE(client.send("hello\n"));
  ASSERT_EQ(client.line(), "hello");
  const ConnectionList of_other = other.server.describe_connections(patience);
  ASSERT_EQ(of_other.connections.size(), 1U);
  EXPECT_GT(of_other.connections[0].id, *ids.rbegin());
}

TEST_F(Questions, TellWhatAConnectionHasDone) {
  Client client = connect();
  Client other = connect();
  ASSERT_TRUE(client.send("hello\nstream 3 1000\n"));
  ASSERT_EQ(client.line(), "hello");
  ASSERT_EQ(client.line(), std::string(3000, 's') + "end");
  EXPECT_TRUE(eventually([&] { return info(client).state == "waiting"; }));
  EXPECT_EQ(info(client).received, 20U);
  EXPECT_EQ(info(client).sent, 6U + 3004U);
  EXPECT_EQ(info(client).requests, 2U);
  EXPECT_EQ(info(client).last_request, "find");
  EXPECT_EQ(info(client).waiting_bytes, 0U);
  ASSERT_TRUE(client.send(std::string(100'000, 'x')));
  EXPECT_TRUE(eventually([&] { return info(client).received == 100'020; }));
  EXPECT_GE(info(client).waiting_bytes, 100'000U);
  EXPECT_TRUE(eventually([&] { return info(client).idle > 200ms; }));
  EXPECT_GE(info(other).age, info(client).idle);
  EXPECT_EQ(info(other).received, 0U);
  EXPECT_EQ(info(other).requests, 0U);
  EXPECT_EQ(info(other).last_request, "");
  ASSERT_TRUE(other.send("hello\nhello\n"));
  EXPECT_TRUE(eventually([&] { return info(other).requests == 2; }));
  EXPECT_EQ(info(other).last_request, "find");
}

TEST_F(Questions, CloseAConnectionThatWaits) {
  Client client = connect();
  Client other = connect();
  ASSERT_TRUE(client.send("hello\nhalf a requ"));
  ASSERT_EQ(client.line(), "hello");
  ASSERT_TRUE(other.send("hello\n"));
  ASSERT_EQ(other.line(), "hello");
  const std::uint64_t id = info(client).id;
  EXPECT_EQ(fixture_.server.close_connection(id, patience), Closing::begun);
  EXPECT_EQ(client.rest(), "");
  client.close();
  EXPECT_TRUE(eventually(
      [&] { return fixture_.server.close_connection(id, patience) == Closing::unknown; }));
  EXPECT_EQ(fixture_.server.close_connection(0, patience), Closing::unknown);
  ASSERT_TRUE(other.send("still here\n"));
  EXPECT_EQ(other.line(), "still here");
  EXPECT_EQ(fixture_.server.connections(), 1U);
  EXPECT_EQ(fixture_.board.dialogues, 1U);
}

TEST_F(Questions, CloseAConnectionThatIsBlocked) {
  Client client = connect();
  ASSERT_TRUE(client.send("gate\n"));
  close_in_state(client, "blocked");
  EXPECT_EQ(client.rest(), "");
  expect_service();
}

TEST_F(Questions, CloseAConnectionThatDoesNotRead) {
  Client client = connect();
  ASSERT_TRUE(client.send("big 30000000\nhello\n"));
  close_in_state(client, "flushing");
  expect_service();
}

TEST_F(Questions, CloseAConnectionWhoseLongFindWaitsForItsClient) {
  Client client = connect();
  ASSERT_TRUE(client.send("stream 1000000 100000\n"));
  ASSERT_TRUE(eventually([&] { return fixture_.board.streaming.load(); }));
  close_in_state(client, "streaming");
  expect_service();
  EXPECT_EQ(fixture_.board.strange_dialogues, 0U);
}

TEST_F(Questions, CloseAConnectionWhoseLongFindIsParked) {
  Client client = connect();
  ASSERT_TRUE(client.send("stream 1000000 100000 parks\n"));
  ASSERT_TRUE(eventually([&] { return fixture_.board.parked != 0; }));
  close_in_state(client, "flushing");
  expect_service();
}

TEST_F(Questions, CloseAConnectionWhoseLongFindFindsNothing) {
  Client client = connect();
  ASSERT_TRUE(client.send("stream 1 quiet\n"));
  ASSERT_TRUE(eventually([&] { return fixture_.board.streaming.load(); }));
  close_in_state(client, "streaming");
  expect_service();
}

// The only streamer is busy for a long time.
TEST_F(Questions, CloseAConnectionThatWaitsForAStreamer) {
  Client busy = connect();
  ASSERT_TRUE(busy.send("stream 1 quiet\n"));
  ASSERT_TRUE(eventually([&] { return fixture_.board.streaming.load(); }));
  Client client = connect();
  ASSERT_TRUE(client.send("hello\nstream 1 1\n"));
  ASSERT_EQ(client.line(), "hello");
  close_in_state(client, "streaming");
  EXPECT_EQ(client.rest(), "");
  EXPECT_TRUE(fixture_.board.streaming);
  EXPECT_EQ(info(busy).state, "streaming");
}

TEST_F(Questions, DoNotWaitForAWorkerThatIsBusy) {
  Client client = connect();
  ASSERT_TRUE(client.send("hold\n"));
  ASSERT_TRUE(eventually([&] { return fixture_.board.holding == 1; }));
  // More questions than a worker's inbox has room for.
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(fixture_.server.describe_connections(1ms).is_complete);
  }
  EXPECT_EQ(fixture_.server.close_connection(1, 1ms), Closing::unanswered);
  fixture_.board.holds_over = 1;
  EXPECT_EQ(client.line(), "held");
  EXPECT_TRUE(
      eventually([&] { return fixture_.server.describe_connections(patience).is_complete; }));
  EXPECT_EQ(info(client).state, "waiting");
}

// The inbox of a busy worker is full of questions whose askers have gone.
TEST_F(Questions, ThatNobodyWaitsForMakeRoom) {
  Client client = connect();
  ASSERT_TRUE(client.send("hold\n"));
  ASSERT_TRUE(eventually([&] { return fixture_.board.holding == 1; }));
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(fixture_.server.describe_connections(1ms).is_complete);
  }
  std::atomic<bool> complete{false};
  std::thread patient(
      [&] { complete = fixture_.server.describe_connections(patience).is_complete; });
  std::this_thread::sleep_for(50ms);
  fixture_.board.holds_over = 1;
  patient.join();
  EXPECT_TRUE(complete);
}

TEST_F(Questions, MayBeAskedWhileTheServerStops) {
  std::vector<Client> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(connect());
    ASSERT_TRUE(clients.back().send("hello\n"));
    ASSERT_EQ(clients.back().line(), "hello");
  }
  std::atomic<bool> over{false};
  std::thread asker([&] {
    while (!over) {
      const ConnectionList list = fixture_.server.describe_connections(patience);
      EXPECT_TRUE(list.is_complete);
      for (const ConnectionInfo& one : list.connections)
        EXPECT_NE(fixture_.server.close_connection(one.id, patience), Closing::unanswered);
    }
  });
  EXPECT_TRUE(eventually([&] { return clients[0].rest().empty(); }));
  fixture_.server.stop();
  over = true;
  asker.join();
  EXPECT_TRUE(fixture_.server.describe_connections(patience).is_complete);
  EXPECT_EQ(fixture_.server.connections(), 0U);
}

}  // namespace
}  // namespace hs::net::test
