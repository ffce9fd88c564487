// Clients that have to log in: how long they may take, and how many of one address there may be.
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>

#include "net/scrambled_filter.h"
#include "net/test_support.h"

namespace hs::net::test {
namespace {

using namespace std::chrono_literals;

ServerConfig with_limits(std::size_t most, std::chrono::seconds timeout) {
  ServerConfig config = Fixture::loopback();
  config.max_strangers = most;
  config.log_in_timeout = timeout;
  config.filter = [](int socket, std::string_view begin) {
    return std::make_unique<ScrambledFilter>(socket, begin, 0);
  };
  return config;
}

// All its clients are strangers until they say "known".
struct Guarded : Fixture {
  explicit Guarded(const ServerConfig& config) : Fixture(config) { board.most_waiting = 100; }
  Client client() { return Client::tcp(server.bound_port()); }
};

std::string ask(Client& client, const std::string& line) {
  return client.send(line + '\n') ? client.line() : "<error>";
}

TEST(Strangers, AreClosedIfTheyTakeTooLong) {
  Guarded fixture(with_limits(10, 2s));
  ASSERT_TRUE(fixture.start());
  Client known = fixture.client();
  EXPECT_EQ(ask(known, "known"), "known");
  const auto begun = std::chrono::steady_clock::now();
  Client silent = fixture.client();
  Client busy = fixture.client();
  std::string reply;
  while ((reply = ask(busy, "hello")) == "hello") std::this_thread::sleep_for(10ms);
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 1900ms);
  EXPECT_EQ(silent.line(), "<end>");
  EXPECT_EQ(fixture.count(Counter::log_ins_late), 2U);
  EXPECT_EQ(ask(known, "hello"), "hello");
}

TEST(Strangers, AreClosedInTheMiddleOfAHandshakeToo) {
  Guarded fixture(with_limits(10, 1s));
  ASSERT_TRUE(fixture.start());
  Client half = fixture.client();
  ASSERT_TRUE(half.send(ScrambledFilter::hello.substr(0, 3)));
  EXPECT_EQ(half.line(), "<end>");
  EXPECT_EQ(fixture.count(Counter::log_ins_late), 1U);
}

TEST(Strangers, MayTakeAsLongAsTheyLikeIfThereIsNoTimeout) {
  Guarded fixture(with_limits(10, 0s));
  ASSERT_TRUE(fixture.start());
  Client first = fixture.client();
  EXPECT_EQ(ask(first, "hello"), "hello");
  fixture.server.config().log_in_timeout = 1s;
  EXPECT_EQ(first.line(), "<end>");
}

TEST(Strangers, OfOneAddressAreBoundedInNumber) {
  Guarded fixture(with_limits(2, 0s));
  ASSERT_TRUE(fixture.start());
  Client first = fixture.client();
  Client second = fixture.client();
  EXPECT_EQ(ask(first, "hello") + ask(second, "hello"), "hellohello");
  EXPECT_EQ(fixture.client().line(), "<end>");
  EXPECT_EQ(fixture.count(Counter::connections_refused), 1U);

  EXPECT_EQ(ask(first, "known"), "known");
  Client third = fixture.client();
  EXPECT_EQ(ask(third, "hello"), "hello");
  EXPECT_EQ(fixture.client().line(), "<end>");

  second.close();
  ASSERT_TRUE(eventually([&] { return fixture.server.connections() == 2; }));
  Client fourth = fixture.client();
  EXPECT_EQ(ask(fourth, "hello"), "hello");
  EXPECT_EQ(fixture.count(Counter::connections_refused), 2U);
}

TEST(Strangers, OfAnotherAddressHavePlacesOfTheirOwn) {
  ServerConfig config = with_limits(1, 0s);
  config.ports[0].socket_path = "/tmp/hs-strangers-" + std::to_string(::getpid());
  Guarded fixture(config);
  ASSERT_TRUE(fixture.start());
  Client first = fixture.client();
  Client second = Client::unix_socket(config.ports[0].socket_path);
  EXPECT_EQ(ask(first, "hello") + ask(second, "hello"), "hellohello");
  EXPECT_EQ(fixture.client().line(), "<end>");
  EXPECT_EQ(Client::unix_socket(config.ports[0].socket_path).line(), "<end>");
}

TEST(Strangers, AreOnlyThoseWhoHaveToLogIn) {
  Fixture fixture(with_limits(1, 1s));
  ASSERT_TRUE(fixture.start());
  Client first = Client::tcp(fixture.server.bound_port());
  Client second = Client::tcp(fixture.server.bound_port());
  EXPECT_EQ(ask(first, "hello") + ask(second, "hello"), "hellohello");
  std::this_thread::sleep_for(1500ms);
  EXPECT_EQ(ask(first, "hello") + ask(second, "hello"), "hellohello");
}

}  // namespace
}  // namespace hs::net::test
