// Bytes that come for a connection during its turn. They wait until the turn is over and what the
// application said about it is done.
#include <array>
#include <chrono>
#include <span>
#include <string>
#include <thread>

#include "net/server.h"
#include "net/test_support.h"

namespace hs::net::test {
namespace {

// A pass that goes on as long as turns come, as a pass with writes to commit does. During the pass
// the worker looks for events, and meets events of connections that are in the pass.
class BytesDuringATurn : public ::testing::Test {
 protected:
  BytesDuringATurn() { fixture_.board.takes_more = true; }

  // Sends `first`. Its turn is held up, and "after" is sent behind it before the turn goes on.
  void send_during_turn(Client& client, const std::string& first) {
    ASSERT_TRUE(client.send("hold\n" + first));
    ASSERT_TRUE(eventually([&] { return fixture_.board.holding == 1; }));
    ASSERT_TRUE(client.send("after\n"));
    fixture_.board.holds_over = 1;
  }

  Fixture fixture_;
};

TEST_F(BytesDuringATurn, WaitForTheLongFind) {
  ASSERT_TRUE(fixture_.start());
  Client client = Client::tcp(fixture_.server.bound_port());
  send_during_turn(client, "stream 300 65536\n");
  EXPECT_EQ(client.line(), "held");
  EXPECT_EQ(client.line().size(), 300U * 65536 + 3);
  EXPECT_EQ(client.line(), "after");
  EXPECT_EQ(fixture_.board.shared_dialogues, 0U);
  EXPECT_TRUE(eventually([&] { return fixture_.count(Counter::long_finds) == 1; }));
}

TEST_F(BytesDuringATurn, OfAClientThatVanishesEndAfterTheLongFind) {
  ASSERT_TRUE(fixture_.start());
  Client client = Client::tcp(fixture_.server.bound_port());
  send_during_turn(client, "stream 1000000 65536\n");
  ASSERT_TRUE(eventually([&] { return fixture_.board.streaming.load(); }));
  client.abort();
  ASSERT_TRUE(eventually([&] { return fixture_.server.connections() == 0; }));
  EXPECT_EQ(fixture_.board.shared_dialogues, 0U);
  EXPECT_EQ(fixture_.board.strange_dialogues, 0U);
}

TEST_F(BytesDuringATurn, WaitForTheBlockedRequest) {
  ASSERT_TRUE(fixture_.start());
  Client client = Client::tcp(fixture_.server.bound_port());
  send_during_turn(client, "gate\n");
  EXPECT_EQ(client.line(), "held");
  ASSERT_TRUE(eventually([&] { return fixture_.board.gate_turns >= 10; }));
  EXPECT_EQ(fixture_.count(Counter::bytes_received), std::string("hold\ngate\n").size());
  fixture_.board.gate_open = true;
  EXPECT_EQ(client.line(), "passed");
  EXPECT_EQ(client.line(), "after");
}

TEST_F(BytesDuringATurn, WaitForTheRepliesThatTheSocketDidNotTake) {
  ASSERT_TRUE(fixture_.start());
  Client client = Client::tcp(fixture_.server.bound_port(), 64 << 10);
  send_during_turn(client, "big 20000000\n");
  // Nothing more is read, and so nothing is executed, before the replies are taken.
  EXPECT_EQ(client.line(), "held");
  EXPECT_EQ(fixture_.board.requests, 2U);
  EXPECT_EQ(client.line().size(), 20'000'000U);
  EXPECT_EQ(client.line(), "after");
}

TEST_F(BytesDuringATurn, AreThrownAwayByAClose) {
  ASSERT_TRUE(fixture_.start());
  Client client = Client::tcp(fixture_.server.bound_port());
  send_during_turn(client, "close\n");
  EXPECT_EQ(client.line(), "held");
  EXPECT_EQ(client.line(), "bye");
  EXPECT_EQ(client.rest(), "");
  EXPECT_TRUE(eventually([&] { return fixture_.server.connections() == 0; }));
}

// What the streamer has done is newer than what the present pass sees. So a connection that comes
// back has its turn in the next pass.
TEST_F(BytesDuringATurn, OfAnotherDoNotBringAFinishedLongFindIntoThePass) {
  ASSERT_TRUE(fixture_.start());
  Client streamed = Client::tcp(fixture_.server.bound_port(), 64 << 10);
  Client other = Client::tcp(fixture_.server.bound_port());
  ASSERT_TRUE(streamed.send("stream 300 65536\npass\n"));
  ASSERT_TRUE(eventually([&] { return fixture_.board.streaming.load(); }));
  ASSERT_TRUE(other.send("hold\npass\n"));
  ASSERT_TRUE(eventually([&] { return fixture_.board.holding == 1; }));
  EXPECT_EQ(streamed.line().size(), 300U * 65536 + 3);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the streamer gives it back
  fixture_.board.holds_over = 1;
  EXPECT_EQ(other.line(), "held");
  EXPECT_GT(std::stoi(streamed.line()), std::stoi(other.line()));
}

// What a full pass leaves out comes first in the next pass. So a client with one line does not wait
// for all lines of another client.
TEST(TurnsOfAFullPass, GoRound) {
  Fixture fixture;
  fixture.board.lines_of_a_pass = 10;
  ASSERT_TRUE(fixture.start());
  Client greedy = Client::tcp(fixture.server.bound_port());
  Client light = Client::tcp(fixture.server.bound_port());
  std::string lines = "hold\n";
  for (int i = 0; i < 3'000; ++i) lines += "line\n";
  ASSERT_TRUE(greedy.send(lines));
  ASSERT_TRUE(eventually([&] { return fixture.board.holding == 1; }));
  ASSERT_TRUE(light.send("pass\n"));
  fixture.board.holds_over = 1;
  EXPECT_LE(std::stoi(light.line()), 10);
  EXPECT_EQ(greedy.line(), "held");
  for (int i = 0; i < 3'000; ++i) ASSERT_EQ(greedy.line(), "line");
}

// A turn without writes does not wait for those of its pass that write.
TEST(TurnsThatAreOver, AreSettledBeforeThePassEnds) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  const auto connect = [&] { return Client::tcp(fixture.server.bound_port()); };
  Client holder = connect();
  Client writer = connect();
  Client reader = connect();
  Client leaver = connect();
  ASSERT_TRUE(holder.send("hold\n"));
  ASSERT_TRUE(eventually([&] { return fixture.board.holding == 1; }));
  // These have their turns in one pass.
  ASSERT_TRUE(writer.send("write hold\npass\n"));
  ASSERT_TRUE(reader.send("pass\n"));
  ASSERT_TRUE(leaver.send("close\n"));
  fixture.board.holds_over = 1;
  EXPECT_EQ(holder.line(), "held");
  ASSERT_TRUE(eventually([&] { return fixture.board.holding == 2; }));
  const std::string pass = reader.line();
  EXPECT_EQ(leaver.rest(), "bye\n");
  fixture.board.holds_over = 2;
  EXPECT_EQ(writer.line(), "held");
  EXPECT_EQ(writer.line(), pass);
  ASSERT_TRUE(reader.send("pass\n"));
  EXPECT_GT(std::stoi(reader.line()), std::stoi(pass));
}

// What has half of a pass is over before the pass ends, and then wants its next turn. It comes
// behind those that the pass had no room for.
TEST(TurnsThatAreOver, HaveNoMoreTurnsThanTheOthers) {
  constexpr int lines = 300;
  Fixture fixture;
  fixture.board.lines_of_a_pass = 2;
  fixture.board.keeps_half = true;
  ASSERT_TRUE(fixture.start());
  std::array<Client, 4> clients{
      Client::tcp(fixture.server.bound_port()), Client::tcp(fixture.server.bound_port()),
      Client::tcp(fixture.server.bound_port()), Client::tcp(fixture.server.bound_port())};
  ASSERT_TRUE(clients[3].send("hold\n"));
  ASSERT_TRUE(eventually([&] { return fixture.board.holding == 1; }));
  std::string many;
  for (int i = 0; i < lines; ++i) many += "pass\n";
  for (Client& client : std::span(clients).first(3)) ASSERT_TRUE(client.send(many));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  fixture.board.holds_over = 1;
  for (Client& client : std::span(clients).first(3)) {
    for (int i = 0; i < lines - 1; ++i) ASSERT_FALSE(client.line().empty());
    // Two lines a pass are shared by three clients.
    EXPECT_GT(std::stoi(client.line()), lines * 5 / 4);
  }
}

}  // namespace
}  // namespace hs::net::test
