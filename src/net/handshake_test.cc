// Connections with a byte filter: handshakes beside the workers, and everything that may end them.
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "net/scrambled_filter.h"
#include "net/test_support.h"
#include "net/waiting_bytes.h"

namespace hs::net::test {
namespace {

using namespace std::chrono_literals;

ServerConfig with_filter(std::size_t memory = 0) {
  ServerConfig config = Fixture::loopback();
  config.filter = [memory](int socket, std::string_view begin) {
    return std::make_unique<ScrambledFilter>(socket, begin, memory);
  };
  return config;
}

std::string scrambled(std::string text) {
  ScrambledFilter::scramble(text);
  return text;
}

// After the welcome, which it reads.
void greet(Client& client) {
  ASSERT_TRUE(client.send(ScrambledFilter::hello));
  ASSERT_EQ(client.read_some(ScrambledFilter::welcome.size()), ScrambledFilter::welcome.size());
}

std::string state_of_the_only_one(Fixture& fixture) {
  const ConnectionList list = fixture.server.describe_connections(10s);
  return list.connections.size() == 1 ? std::string(list.connections.front().state) : "";
}

TEST(Handshake, IsFollowedByRequests) {
  Fixture fixture(with_filter());
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  // What is behind the hello has come with it.
  ASSERT_TRUE(client.send(std::string(ScrambledFilter::hello) + scrambled("one\ntwo\n")));
  const std::string expected = std::string(ScrambledFilter::welcome) + scrambled("one\ntwo\n");
  std::string received;
  while (received.size() < expected.size()) received += client.bytes(expected.size());
  EXPECT_EQ(received, expected);
  EXPECT_EQ(fixture.count(Counter::tls_handshakes), 1U);
  EXPECT_EQ(fixture.server.describe_connections(10s).connections.front().tls, "scrambled");
}

TEST(Handshake, IsFollowedByALongReply) {
  Fixture fixture(with_filter());
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port(), 4096);
  greet(client);
  ASSERT_TRUE(client.send(scrambled("stream 30 100000\n")));
  const std::string expected = std::string(3'000'000, 's') + "end\n";
  std::string received;
  while (received.size() < expected.size()) {
    const std::string piece = client.bytes(1 << 20);
    ASSERT_FALSE(piece.empty());
    received += piece;
  }
  EXPECT_TRUE(scrambled(received) == expected);
}

TEST(Handshake, ThatIsWrongEndsItsConnection) {
  Fixture fixture(with_filter());
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(client.send("\x16help!\n"));
  EXPECT_EQ(client.line(), "<end>");
  EXPECT_EQ(fixture.count(Counter::tls_handshakes_failed), 1U);
  Client other = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(other.send("hello\n"));
  EXPECT_EQ(other.line(), "hello");
}

TEST(Handshake, HasATimeLimitInAll) {
  ServerConfig config = with_filter();
  config.handshake_timeout = 1s;
  Fixture fixture(config);
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(client.send(ScrambledFilter::hello.substr(0, 1)));
  EXPECT_TRUE(eventually([&] { return state_of_the_only_one(fixture) == "handshake"; }));
  // A byte now and then brings no more time: if it did, the last one would have brought another second.
  for (const char byte : ScrambledFilter::hello.substr(1, 5)) {
    std::this_thread::sleep_for(300ms);
    if (fixture.count(Counter::tls_handshakes_failed) == 0) client.send({&byte, 1});
  }
  EXPECT_EQ(fixture.count(Counter::tls_handshakes_failed), 1U);
  EXPECT_EQ(client.line(), "<end>");
}

TEST(Handshake, CanBeClosedFromOutside) {
  Fixture fixture(with_filter());
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(client.send(ScrambledFilter::hello.substr(0, 3)));
  ASSERT_TRUE(eventually([&] { return state_of_the_only_one(fixture) == "handshake"; }));
  const std::uint64_t id = fixture.server.describe_connections(10s).connections.front().id;
  EXPECT_EQ(fixture.server.close_connection(id, 10s), Closing::begun);
  EXPECT_EQ(client.line(), "<end>");
}

TEST(Handshake, EndsWithTheServer) {
  Fixture fixture(with_filter());
  ASSERT_TRUE(fixture.start());
  Client half = Client::tcp(fixture.server.bound_port());
  Client whole = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(half.send(ScrambledFilter::hello.substr(0, 3)));
  greet(whole);
  fixture.server.stop();
  EXPECT_EQ(half.line(), "<end>");
  EXPECT_EQ(whole.line(), "<end>");
  EXPECT_EQ(fixture.server.connections(), 0U);
}

TEST(Handshake, CountsItsMemory) {
  WaitingBytes waiting(std::size_t{1} << 20);
  ServerConfig config = with_filter(200 << 10);
  config.waiting = &waiting;
  Fixture fixture(config);
  ASSERT_TRUE(fixture.start());
  std::vector<Client> clients;
  for (std::size_t i = 1; i <= 4; ++i) {
    greet(clients.emplace_back(Client::tcp(fixture.server.bound_port())));
    ASSERT_TRUE(eventually([&] { return fixture.count(Counter::tls_handshakes) == i; }));
    EXPECT_EQ(waiting.held(), i * (std::size_t{200} << 10));
  }
  // Until its hands are shaken, the next one is a stranger, for whose sake nobody goes. Then there
  // is no room for all.
  greet(clients.emplace_back(Client::tcp(fixture.server.bound_port())));
  EXPECT_EQ(clients.front().line(), "<end>");
  clients.clear();
  EXPECT_TRUE(eventually([&] { return waiting.held() == 0; }));
}

TEST(Handshake, OfAStrangerCostsOnlyStrangersTheirPlace) {
  WaitingBytes waiting(std::size_t{1} << 20);
  ServerConfig config = with_filter(100 << 10);
  config.waiting = &waiting;
  Fixture fixture(config);
  ASSERT_TRUE(fixture.start());
  std::vector<Client> known;
  for (int i = 0; i < 6; ++i) greet(known.emplace_back(Client::tcp(fixture.server.bound_port())));
  std::vector<Client> strangers;
  for (int i = 0; i < 40; ++i) {
    Client& stranger = strangers.emplace_back(Client::tcp(fixture.server.bound_port()));
    ASSERT_TRUE(stranger.send(ScrambledFilter::hello.substr(0, 3)));
  }
  // There is room for two of them.
  ASSERT_TRUE(eventually([&] { return fixture.server.connections() <= known.size() + 2; }));
  EXPECT_LE(waiting.held(), waiting.most_held());
  for (Client& client : known) {
    ASSERT_TRUE(client.send(scrambled("hello\n")));
    EXPECT_EQ(client.read_some(6), 6U);
  }
  // One that makes progress comes in. While those before it go, it may have to come again.
  strangers.clear();
  EXPECT_TRUE(eventually([&] {
    Client stranger = Client::tcp(fixture.server.bound_port());
    const std::size_t welcome = ScrambledFilter::welcome.size();
    return stranger.send(ScrambledFilter::hello) && stranger.read_some(welcome) == welcome;
  }));
}

TEST(Handshake, IsAnOrdinaryLineWithoutAFilter) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(client.send("\x16hello!\n"));
  EXPECT_EQ(client.line(), "\x16hello!");
}

TEST(PlainTcp, CanBeRefusedAtAnyTime) {
  std::atomic<bool> is_refused{false};
  ServerConfig config = with_filter();
  config.plain_is_refused = [&] { return is_refused.load(); };
  Fixture fixture(config);
  ASSERT_TRUE(fixture.start());
  Client before = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(before.send("one\n"));
  EXPECT_EQ(before.line(), "one");
  is_refused = true;
  Client plain = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(plain.send("hello\nhello\n"));
  EXPECT_EQ(plain.line(), "no TLS");
  EXPECT_EQ(plain.line(), "<end>");
  Client filtered = Client::tcp(fixture.server.bound_port());
  greet(filtered);
  ASSERT_TRUE(before.send("two\n"));
  EXPECT_EQ(before.line(), "two");
}

}  // namespace
}  // namespace hs::net::test
