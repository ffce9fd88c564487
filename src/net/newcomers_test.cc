// Clients that have come to the wrong port: who speaks another protocol, and who waits to be greeted.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "net/scrambled_filter.h"
#include "net/test_support.h"

namespace hs::net::test {
namespace {

using namespace std::chrono_literals;

std::string scrambled(std::string text) {
  ScrambledFilter::scramble(text);
  return text;
}

// Has nothing to shake hands with.
struct FilterWithoutCertificate final : ByteFilter {
  Progress shake_hands() override { return Progress::unavailable; }
  Transfer receive(std::span<char>) override { return {.result = Transfer::Result::failed}; }
  std::size_t peek(std::span<char>) override { return 0; }
  Transfer send(std::string_view) override { return {.result = Transfer::Result::failed}; }
  void say_farewell() override {}
  std::size_t memory() const override { return 1000; }
  const char* protocol() const override { return ""; }
};

// Everything that the server says to who sends `bytes`.
std::string answer(Fixture& fixture, std::string_view bytes) {
  Client client = Client::tcp(fixture.server.bound_port());
  return client.send(bytes) ? client.rest() : "<error>";
}

TEST(Foreigners, AreToldWhereTheyAreAtOnce) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  EXPECT_EQ(answer(fixture, "foreign\nhello\nhello\n"), "wrong port\n");
  EXPECT_EQ(fixture.board.requests, 0U);
  EXPECT_EQ(fixture.count(Counter::connections_foreign), 1U);
  EXPECT_TRUE(fixture.log.contains("speaks something else and was disconnected from port 0"));
  EXPECT_TRUE(fixture.log.contains("handlersocket: 127.0.0.1:"));
}

TEST(Foreigners, AreLoggedOnceAMinute) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(answer(fixture, "foreign\n"), "wrong port\n");
  EXPECT_EQ(fixture.count(Counter::connections_foreign), 3U);
  EXPECT_EQ(fixture.count(Counter::errors), 3U);
  EXPECT_EQ(fixture.log.size(), 1U);
}

TEST(Foreigners, AreKnownIfTheySpeakInPieces) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  for (const char byte : std::string("foreign\n")) {
    ASSERT_TRUE(client.send({&byte, 1}));
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_EQ(client.rest(), "wrong port\n");
}

TEST(Foreigners, AreKnownByTheirFirstLineOnly) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(client.send("hello\nforeign\n"));
  EXPECT_EQ(client.line(), "hello");
  EXPECT_EQ(client.line(), "foreign");
  ASSERT_TRUE(client.send("foreign\n"));
  EXPECT_EQ(client.line(), "foreign");
}

TEST(Foreigners, AreKnownBehindAHandshake) {
  ServerConfig config = Fixture::loopback();
  config.filter = [](int socket, std::string_view begin) {
    return std::make_unique<ScrambledFilter>(socket, begin);
  };
  Fixture fixture(config);
  ASSERT_TRUE(fixture.start());
  const std::string hello(ScrambledFilter::hello);
  const std::string welcome(ScrambledFilter::welcome);
  EXPECT_EQ(answer(fixture, hello + scrambled("foreign\n")), welcome + scrambled("wrong port\n"));
  Client client = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(client.send(hello + scrambled("hello\n")));
  std::string received;
  while (received.size() < welcome.size() + 6) received += client.bytes(100);
  ASSERT_TRUE(client.send(scrambled("foreign\n")));
  EXPECT_EQ(client.bytes(100), scrambled("foreign\n"));
}

TEST(Foreigners, AreThoseWhoShakeHandsInVain) {
  ServerConfig config = Fixture::loopback();
  config.filter = [](int, std::string_view) {
    return std::make_unique<FilterWithoutCertificate>();
  };
  Fixture fixture(config);
  ASSERT_TRUE(fixture.start());
  EXPECT_EQ(answer(fixture, ScrambledFilter::hello), "wrong port\n");
  EXPECT_TRUE(fixture.log.contains("speaks TLS, for which the server has no certificate"));
  EXPECT_EQ(fixture.count(Counter::connections_foreign), 1U);
  EXPECT_EQ(fixture.count(Counter::tls_handshakes_failed), 0U);
}

TEST(SilentClients, AreClosedIfTheyNeverSendAByte) {
  ServerConfig config = Fixture::loopback();
  config.log_in_timeout = 2s;
  Fixture fixture(config);
  ASSERT_TRUE(fixture.start());
  const auto begun = std::chrono::steady_clock::now();
  Client half = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(half.send("h"));
  Client silent = Client::tcp(fixture.server.bound_port());
  Client other = Client::tcp(fixture.server.bound_port());
  EXPECT_EQ(silent.line() + other.line(), "<end><end>");
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 1900ms);
  EXPECT_EQ(fixture.count(Counter::connections_silent), 2U);
  EXPECT_EQ(fixture.count(Counter::log_ins_late), 0U);
  EXPECT_EQ(fixture.log.size(), 1U);
  EXPECT_TRUE(fixture.log.contains("has sent nothing for handlersocket_log_in_timeout"));
  std::this_thread::sleep_for(500ms);
  ASSERT_TRUE(half.send("ello\n"));
  EXPECT_EQ(half.line(), "hello");
}

TEST(SilentClients, MayBeSilentIfThereIsNoTimeout) {
  ServerConfig config = Fixture::loopback();
  config.log_in_timeout = 0s;
  Fixture fixture(config);
  ASSERT_TRUE(fixture.start());
  Client silent = Client::tcp(fixture.server.bound_port());
  std::this_thread::sleep_for(1200ms);
  ASSERT_TRUE(silent.send("hello\n"));
  EXPECT_EQ(silent.line(), "hello");
}

}  // namespace
}  // namespace hs::net::test
