// Several ports of one server: their listeners, their limits, their counters, and the workers that
// they share.
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "net/server.h"
#include "net/test_support.h"

namespace hs::net::test {
namespace {

using namespace std::chrono_literals;

class PortsTest : public testing::Test {
 protected:
  static ServerConfig two_ports(CounterSet& second) {
    ServerConfig config = Fixture::loopback();
    config.ports.push_back({.port = "0", .protocol = "other lines", .counters = &second});
    config.crews.front().workers = 1;
    return config;
  }
  explicit PortsTest(ServerConfig config) : fixture_(std::move(config)) {
    EXPECT_TRUE(fixture_.start());
  }
  PortsTest() : PortsTest(two_ports(second_)) {}

  Client come_to(std::size_t port) { return Client::tcp(fixture_.server.bound_port(port)); }
  static std::string ask(Client& client, const std::string& line) {
    EXPECT_TRUE(client.send(line + "\n"));
    return client.line();
  }

  CounterSet second_;
  Fixture fixture_;
};

TEST_F(PortsTest, GiveTheirConnectionsTheirDialogues) {
  Client first = come_to(0);
  Client second = come_to(1);
  EXPECT_EQ(ask(first, "port"), "0");
  EXPECT_EQ(ask(second, "port"), "1");
  // The same worker serves both.
  EXPECT_EQ(ask(first, "who"), ask(second, "who"));
}

TEST_F(PortsTest, CountTheirOwn) {
  Client first = come_to(0);
  Client second = come_to(1);
  EXPECT_EQ(ask(first, "port"), "0");
  EXPECT_EQ(ask(second, "known"), "known");
  EXPECT_EQ(ask(second, "known"), "known");
  EXPECT_EQ(fixture_.count(Counter::connections_opened), 1U);
  EXPECT_EQ(second_.sum(Counter::connections_opened), 1U);
  EXPECT_EQ(fixture_.count(Counter::bytes_received), 5U);
  EXPECT_EQ(second_.sum(Counter::bytes_received), 12U);
  EXPECT_TRUE(eventually([&] { return second_.sum(Counter::bytes_sent) == 12; }));
  second.close();
  EXPECT_TRUE(eventually([&] { return second_.sum(Counter::connections_closed) == 1; }));
  EXPECT_EQ(fixture_.count(Counter::connections_closed), 0U);
}

TEST_F(PortsTest, CountWhatAStreamerSends) {
  Client second = come_to(1);
  EXPECT_EQ(ask(second, "stream 1 5"), "sssssend");
  EXPECT_TRUE(eventually([&] { return second_.sum(Counter::bytes_sent) == 9; }));
  EXPECT_EQ(second_.sum(Counter::long_finds), 1U);
  EXPECT_EQ(fixture_.count(Counter::bytes_sent), 0U);
}

TEST_F(PortsTest, AreSeenAtTheirConnections) {
  Client first = come_to(0);
  Client second = come_to(1);
  EXPECT_EQ(ask(first, "port"), "0");
  EXPECT_EQ(ask(second, "port"), "1");
  ConnectionList list = fixture_.server.describe_connections(10s);
  ASSERT_EQ(list.connections.size(), 2U);
  std::ranges::sort(list.connections, {}, &ConnectionInfo::port);
  EXPECT_EQ(list.connections[0].port, 0U);
  EXPECT_EQ(list.connections[1].port, 1U);
  EXPECT_EQ(list.connections[1].peer, "127.0.0.1:" + std::to_string(second.port()));
}

TEST_F(PortsTest, HaveTheirConnectionsWithinTheSameLimitEach) {
  fixture_.server.config().max_connections = 1;
  Client first = come_to(0);
  EXPECT_EQ(ask(first, "port"), "0");
  Client refused = come_to(0);
  EXPECT_EQ(refused.line(), "<end>");
  Client second = come_to(1);
  EXPECT_EQ(ask(second, "port"), "1");
  EXPECT_EQ(fixture_.count(Counter::connections_refused), 1U);
  EXPECT_EQ(second_.sum(Counter::connections_refused), 0U);
}

TEST_F(PortsTest, SayWhatTheirClientsShouldHaveSpoken) {
  Client second = come_to(1);
  EXPECT_EQ(ask(second, "foreign"), "wrong port");
  EXPECT_TRUE(fixture_.log.contains(", which is a port of other lines"));
  EXPECT_EQ(second_.sum(Counter::connections_foreign), 1U);
}

// What cannot be listened on is told, and the other port serves.
TEST(Ports, ServeWithoutOneThatCannotListen) {
  CounterSet second;
  ServerConfig config = Fixture::loopback();
  config.ports.push_back(
      {.socket_path = "/nowhere/at.sock", .protocol = "lines", .counters = &second});
  Fixture fixture(std::move(config));
  ASSERT_TRUE(fixture.start());
  EXPECT_TRUE(fixture.log.contains("cannot listen on /nowhere/at.sock"));
  EXPECT_EQ(fixture.server.places(1).size(), 0U);
  EXPECT_EQ(fixture.server.bound_port(1), 0U);
  Client client = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(client.send("port\n"));
  EXPECT_EQ(client.line(), "0");
}

}  // namespace
}  // namespace hs::net::test
