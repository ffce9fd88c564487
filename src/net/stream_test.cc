// Long finds: what a streamer carries, for which clients, and who is served meanwhile.
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "net/connection_queue.h"
#include "net/server.h"
#include "net/test_support.h"

namespace hs::net::test {
namespace {

constexpr std::size_t size_of_reply(std::size_t pieces, std::size_t size) {
  return pieces * size + 3;  // and "end"
}

TEST(Streams, KeepTheOrderOfReplies) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  // The large reply before it is still being sent when the long find has its turn.
  ASSERT_TRUE(client.send("big 10000000\nstream 100 65536\nbetween\nstream 3 10\nafter\nhal"));
  EXPECT_EQ(client.line().size(), 10'000'000U);
  EXPECT_EQ(client.line().size(), size_of_reply(100, 65536));
  EXPECT_EQ(client.line(), "between");
  EXPECT_EQ(client.line(), std::string(30, 's') + "end");
  EXPECT_EQ(client.line(), "after");
  ASSERT_TRUE(client.send("f\n"));
  EXPECT_EQ(client.line(), "half");
  EXPECT_EQ(fixture.count(Counter::long_finds), 2U);
}

TEST(Streams, LeaveTheWorkerToTheOthers) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  Client slow = Client::tcp(fixture.server.bound_port());
  Client waiting = Client::tcp(fixture.server.bound_port());
  Client other = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(slow.send("stream 400 100000\nafter\n"));
  ASSERT_TRUE(eventually([&] { return fixture.board.streaming.load(); }));
  ASSERT_TRUE(waiting.send("stream 1 5\n"));  // waits for the only streamer
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(other.send("hello\n"));
    ASSERT_EQ(other.line(), "hello");
  }
  EXPECT_TRUE(fixture.board.streaming);
  EXPECT_EQ(slow.line().size(), size_of_reply(400, 100'000));
  EXPECT_EQ(slow.line(), "after");
  EXPECT_EQ(waiting.line(), "sssssend");
}

TEST(Streams, ServeAClientThatHasFinishedSending) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(client.send("stream 100 100000\nafter\n"));
  client.finish_sending();
  EXPECT_EQ(client.line().size(), size_of_reply(100, 100'000));
  EXPECT_EQ(client.line(), "after");
  EXPECT_EQ(client.rest(), "");
}

TEST(Streams, EndWhenTheClientVanishes) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  for (int i = 0; i < 3; ++i) {
    Client client = Client::tcp(fixture.server.bound_port());
    ASSERT_TRUE(client.send("stream 1000000 100000\n"));
    ASSERT_GT(client.read_some(1000), 0U);
    client.abort();
    ASSERT_TRUE(eventually([&] { return fixture.server.connections() == 0; }));
  }
  EXPECT_EQ(fixture.board.dialogues, 0U);
  EXPECT_EQ(fixture.board.strange_dialogues, 0U);
}

TEST(Streams, EndWhenTheClientDoesNotRead) {
  ServerConfig config = Fixture::loopback();
  config.stream_patience = std::chrono::seconds(1);
  Fixture fixture(config);
  ASSERT_TRUE(fixture.start());
  Client stuck = Client::tcp(fixture.server.bound_port());
  Client next = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(stuck.send("stream 1000000 100000\n"));
  ASSERT_TRUE(eventually([&] { return fixture.board.streaming.load(); }));
  ASSERT_TRUE(next.send("stream 2 2\n"));
  EXPECT_EQ(next.line(), "ssssend");
}

TEST(Streams, ThatAreParkedGoOnWhenTheClientReads) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(client.send("between\nstream 3000 10000 parks\nafter\nstream 2 2 parks\nlast\n"));
  EXPECT_EQ(client.line(), "between");
  ASSERT_TRUE(eventually([&] { return fixture.board.parked != 0; }));
  EXPECT_EQ(client.line(), std::string(30'000'000, 's') + "end");
  EXPECT_EQ(client.line(), "after");
  EXPECT_EQ(client.line(), "ssssend");
  EXPECT_EQ(client.line(), "last");
  EXPECT_EQ(fixture.board.shared_dialogues, 0U);
  EXPECT_TRUE(eventually([&] { return fixture.count(Counter::long_finds) == 2; }));
}

TEST(Streams, OfClientsThatDoNotReadHoldNoStreamer) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  std::vector<Client> stuck;
  for (std::size_t i = 0; i < 5; ++i) {
    stuck.push_back(Client::tcp(fixture.server.bound_port()));
    ASSERT_TRUE(stuck.back().send("stream 300 100000 parks\n"));
  }
  ASSERT_TRUE(eventually([&] { return fixture.board.parked >= 5; }));
  for (int i = 0; i < 20; ++i) {
    Client other = Client::tcp(fixture.server.bound_port());
    ASSERT_TRUE(other.send("stream 3 10\n"));
    ASSERT_EQ(other.line(), std::string(30, 's') + "end");
  }
  EXPECT_FALSE(fixture.board.streaming);
  for (Client& client : stuck) EXPECT_EQ(client.line().size(), size_of_reply(300, 100'000));
}

TEST(Streams, LetWhoeverWaitsHaveTheStreamerNowAndThen) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  Client greedy = Client::tcp(fixture.server.bound_port());
  std::thread reading;
  ASSERT_TRUE(greedy.send("stream 1000000 100000 parks\n"));
  reading = std::thread([&] {
    while (greedy.read_some(1 << 20) != 0) {
    }
  });
  for (int i = 0; i < 5; ++i) {
    Client other = Client::tcp(fixture.server.bound_port());
    EXPECT_TRUE(other.send("stream 3 10\n"));
    EXPECT_EQ(other.line(), std::string(30, 's') + "end");
  }
  fixture.server.stop();
  reading.join();
}

TEST(Streams, ThatAreParkedEndWithTheirClient) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  Client resets = Client::tcp(fixture.server.bound_port());
  Client closes = Client::tcp(fixture.server.bound_port());
  for (Client* const client : {&resets, &closes})
    ASSERT_TRUE(client->send("stream 300 100000 parks\n"));
  ASSERT_TRUE(eventually([&] { return fixture.board.parked >= 2; }));
  resets.abort();
  closes.close();
  ASSERT_TRUE(eventually([&] { return fixture.server.connections() == 0; }));
  EXPECT_EQ(fixture.board.dialogues, 0U);
  EXPECT_EQ(fixture.board.strange_dialogues, 0U);
}

TEST(Streams, ThatAreParkedEndWithTheIdleTimeOut) {
  ServerConfig config = Fixture::loopback();
  config.idle_timeout = std::chrono::seconds(1);
  Fixture fixture(config);
  ASSERT_TRUE(fixture.start());
  Client stuck = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(stuck.send("stream 1000000 100000 parks\n"));
  ASSERT_TRUE(eventually([&] { return fixture.board.parked != 0; }));
  ASSERT_TRUE(eventually([&] { return fixture.server.connections() == 0; }));
}

// A client that takes a little now and then is no better than one that takes nothing.
TEST(Streams, ThatCannotBeParkedWaitForABoundedTimeInAll) {
  ServerConfig config = Fixture::loopback();
  config.send_buffer = 4096;
  config.stream_patience = std::chrono::seconds(1);
  Fixture fixture(config);
  ASSERT_TRUE(fixture.start());
  Client slow = Client::tcp(fixture.server.bound_port(), 4096);
  ASSERT_TRUE(slow.send("stream 1000000 100000\n"));
  ASSERT_TRUE(eventually([&] { return fixture.board.streaming.load(); }));
  ASSERT_TRUE(eventually([&] {
    if (fixture.server.connections() != 0) slow.read_some(512);
    return fixture.server.connections() == 0;
  }));
}

TEST(Streams, ThatWaitForTheirClientEndByAKill) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  Client stuck = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(stuck.send("stream 1000000 100000\n"));
  ASSERT_TRUE(eventually([&] { return fixture.board.streaming.load(); }));
  fixture.board.killed = true;
  ASSERT_TRUE(eventually([&] { return fixture.server.connections() == 0; }));
  fixture.board.killed = false;
  Client next = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(next.send("stream 2 2\n"));
  EXPECT_EQ(next.line(), "ssssend");
}

TEST(Streams, AreRetriedWithoutHoldingAStreamer) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  Client blocked = Client::tcp(fixture.server.bound_port());
  Client other = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(blocked.send("stream 2 2 gate\nafter\n"));
  ASSERT_TRUE(eventually([&] { return fixture.board.gate_turns >= 5; }));
  ASSERT_TRUE(other.send("stream 1 1\n"));
  EXPECT_EQ(other.line(), "send");
  // 0 at first, then always the same time.
  EXPECT_NE(fixture.board.gate_since, 0U);
  EXPECT_EQ(fixture.board.gate_since_changes, 1U);
  fixture.board.gate_open = true;
  EXPECT_EQ(blocked.line(), "ssssend");
  EXPECT_EQ(blocked.line(), "after");
  EXPECT_TRUE(eventually([&] { return fixture.count(Counter::long_finds) == 2; }));
}

TEST(Streams, ThatStillWaitEndWithTheirWorkerAtOnce) {
  ServerConfig config = Fixture::loopback();
  config.crews.front().workers = 2;
  Fixture fixture(config);
  ASSERT_TRUE(fixture.start());
  Client carried = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(carried.send("who\nstream 1000000 100000\n"));
  const std::string busy_worker = carried.line();
  ASSERT_TRUE(eventually([&] { return fixture.board.streaming.load(); }));
  // Its worker leaves while the only streamer is busy for another worker's client.
  std::vector<Client> clients;
  std::string worker = busy_worker;
  for (int i = 0; i < 10 && worker == busy_worker; ++i) {
    clients.push_back(Client::tcp(fixture.server.bound_port()));
    ASSERT_TRUE(clients.back().send("who\nstream 1 1\n"));
    worker = clients.back().line();
  }
  ASSERT_NE(worker, busy_worker);
  fixture.board.leaver = std::stoul(worker);
  EXPECT_EQ(clients.back().line(), "<end>");
  EXPECT_TRUE(fixture.board.streaming);
}

TEST(Streams, EndWithTheirWorker) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  Client stuck = Client::tcp(fixture.server.bound_port());
  Client queued = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(stuck.send("stream 1000000 100000\n"));
  ASSERT_TRUE(eventually([&] { return fixture.board.streaming.load(); }));
  ASSERT_TRUE(queued.send("hello\nstream 1 1\n"));
  EXPECT_EQ(queued.line(), "hello");
  fixture.board.run_worker = false;
  EXPECT_TRUE(eventually([&] { return fixture.board.stopped == 1; }));
  EXPECT_EQ(queued.line(), "<end>");
  EXPECT_EQ(fixture.server.connections(), 0U);
  EXPECT_EQ(fixture.board.late_dialogues, 0U);
  EXPECT_EQ(fixture.board.strange_dialogues, 0U);
}

TEST(Streams, EndWithTheirStreamer) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  Client stuck = Client::tcp(fixture.server.bound_port());
  Client queued = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(stuck.send("stream 1000000 100000\n"));
  ASSERT_TRUE(eventually([&] { return fixture.board.streaming.load(); }));
  ASSERT_TRUE(queued.send("stream 1 1\n"));
  fixture.board.run_streamer = false;
  EXPECT_EQ(queued.line(), "<end>");
  ASSERT_TRUE(eventually([&] { return fixture.server.connections() == 0; }));

  // The worker goes on, without long finds.
  Client client = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(client.send("hello\nstream 1 1\n"));
  EXPECT_EQ(client.line(), "hello");
  EXPECT_EQ(client.line(), "<end>");
}

}  // namespace
}  // namespace hs::net::test
