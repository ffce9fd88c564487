// The life of connections: bytes in, replies out, in order, however the bytes are cut into pieces.
#include "net/server.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "net/test_support.h"

namespace hs::net::test {
namespace {

TEST(Server, AnswersAPipelineInOrder) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  std::string requests;
  for (int i = 0; i < 1000; ++i) requests += "request " + std::to_string(i) + "\n";
  ASSERT_TRUE(client.send(requests));
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(client.line(), "request " + std::to_string(i));
  EXPECT_EQ(fixture.count(Counter::bytes_received), requests.size());
  EXPECT_TRUE(eventually([&] { return fixture.count(Counter::bytes_sent) == requests.size(); }));
}

TEST(Server, TakesRequestsByteByByte) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  for (const char byte : std::string("first\nsecond\nthird\n")) {
    const std::uint64_t received = fixture.count(Counter::bytes_received);
    ASSERT_TRUE(client.send({&byte, 1}));
    ASSERT_TRUE(eventually([&] { return fixture.count(Counter::bytes_received) > received; }));
  }
  EXPECT_EQ(client.line(), "first");
  EXPECT_EQ(client.line(), "second");
  EXPECT_EQ(client.line(), "third");
  EXPECT_EQ(fixture.board.wrongly_scanned, 0U);
}

TEST(Server, PutsALargeRequestTogether) {
  ServerConfig config = Fixture::loopback();
  config.read_size = 4096;
  Fixture fixture(config);
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  const std::string large(1'000'000, 'l');
  std::thread sender([&] { client.send("before\n" + large + "\nafter\nhal"); });
  EXPECT_EQ(client.line(), "before");
  EXPECT_TRUE(client.line() == large);
  EXPECT_EQ(client.line(), "after");
  sender.join();
  ASSERT_TRUE(client.send("f\n"));
  EXPECT_EQ(client.line(), "half");
  EXPECT_EQ(fixture.board.wrongly_scanned, 0U);
}

TEST(Server, GivesEveryConnectionATurnWithinItsArena) {
  ServerConfig config = Fixture::loopback();
  config.read_size = std::size_t{1} << 20;  // two such reads fill an arena
  Fixture fixture(config);
  ASSERT_TRUE(fixture.start());
  std::vector<Client> clients;
  clients.reserve(20);
  for (int i = 0; i < 20; ++i) clients.push_back(Client::tcp(fixture.server.bound_port()));
  const std::string request(300'000, 'r');
  for (int round = 0; round < 3; ++round) {
    for (Client& client : clients) ASSERT_TRUE(client.send(request + "\n"));
    for (Client& client : clients) ASSERT_TRUE(client.line() == request);
  }
}

struct Polls {
  std::uint64_t tried = 0;
  std::uint64_t hits = 0;
};

// The polls for the requests of one client, which come one after the other. The client waits for
// `thinks` between them.
Polls polls_of(std::chrono::microseconds busy_poll, int requests,
               std::chrono::microseconds thinks) {
  ServerConfig config = Fixture::loopback();
  config.busy_poll = busy_poll;
  Fixture fixture(config);
  EXPECT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  for (int i = 0; i < requests; ++i) {
    EXPECT_TRUE(client.send("request\n"));
    EXPECT_EQ(client.line(), "request");
    std::this_thread::sleep_for(thinks);
  }
  return {fixture.count(Counter::busy_polls), fixture.count(Counter::busy_poll_hits)};
}

// On a busy machine, the client seldom gets a core in time.
TEST(Server, StaysAwakeForAClientThatIsAlone) {
  std::uint64_t most = 0;
  for (int attempts = 0; attempts < 10 && most < 10; ++attempts)
    most = std::max<std::uint64_t>(most, polls_of(std::chrono::milliseconds(10), 500, {}).hits);
  EXPECT_GE(most, 10U);
}

TEST(Server, SoonSleepsIfTheClientThinksLonger) {
  const Polls polls = polls_of(std::chrono::microseconds(50), 200, std::chrono::milliseconds(1));
  EXPECT_GE(polls.tried, 1U);
  EXPECT_LE(polls.tried, 20U);
}

TEST(Server, SleepsAtOnceIfToldTo) {
  EXPECT_EQ(polls_of(std::chrono::microseconds(0), 200, {}).tried, 0U);
}

TEST(Server, EndsThoseThatWaitToBeAcceptedWithoutAReset) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  std::vector<Client> clients;
  // More than the workers accept at once; half of them leave bytes unread.
  for (int i = 0; i < 300; ++i) {
    clients.push_back(Client::tcp(fixture.server.bound_port()));
    ASSERT_TRUE(i % 2 == 0 || clients.back().send("half a requ"));
  }
  fixture.server.stop();
  for (Client& client : clients) EXPECT_EQ(client.line(), "<end>");
}

TEST(Server, AnswersAHalfClosedClientAndEnds) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(client.send("one\nbig 3000000\ntwo\nincompl"));
  client.finish_sending();
  EXPECT_EQ(client.line(), "one");
  EXPECT_EQ(client.line().size(), 3'000'000U);
  EXPECT_EQ(client.line(), "two");
  EXPECT_EQ(client.rest(), "");
  EXPECT_TRUE(eventually([&] { return fixture.server.connections() == 0; }));
  EXPECT_EQ(fixture.board.dialogues, 0U);
}

TEST(Server, EndsWithTheClientWhereverThatStops) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  const std::string dialogue = "one\ngate\ntwo\n";
  for (std::size_t cut = 0; cut <= dialogue.size(); ++cut) {
    for (const bool reset : {false, true}) {
      Client client = Client::tcp(fixture.server.bound_port());
      ASSERT_TRUE(client.send(dialogue.substr(0, cut)));
      if (reset) {
        client.abort();
      } else {
        client.close();
      }
    }
  }
  fixture.board.gate_open = true;
  EXPECT_TRUE(eventually(
      [&] { return fixture.count(Counter::connections_closed) == 2 * (dialogue.size() + 1); }));
  EXPECT_EQ(fixture.server.connections(), 0U);
  EXPECT_EQ(fixture.board.dialogues, 0U);
}

TEST(Server, GivesAnotherTurnWithoutNewBytes) {
  Fixture fixture;
  fixture.board.lines_a_pass = 3;
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(client.send("1\n2\n3\n4\n5\n6\n7\n8\nhalf"));
  for (const char* expected : {"1", "2", "3", "4", "5", "6", "7", "8"}) {
    EXPECT_EQ(client.line(), expected);
  }
  EXPECT_GE(fixture.board.passes, 3U);
  ASSERT_TRUE(client.send("\n"));
  EXPECT_EQ(client.line(), "half");
}

TEST(Server, LetsThoseWhoAreReadyJoinAPassThatTakesMore) {
  for (const bool takes_more : {true, false}) {
    Fixture fixture;
    fixture.board.takes_more = takes_more;
    ASSERT_TRUE(fixture.start());
    Client first = Client::tcp(fixture.server.bound_port());
    Client second = Client::tcp(fixture.server.bound_port());
    ASSERT_TRUE(second.send("here\n"));
    EXPECT_EQ(second.line(), "here");
    ASSERT_TRUE(first.send("hold\n"));
    ASSERT_TRUE(eventually([&] { return fixture.board.holding == 1; }));
    const std::size_t passes = fixture.board.passes;
    // `second`, and a client that has not been accepted yet. The first has had its turn.
    Client third = Client::tcp(fixture.server.bound_port());
    ASSERT_TRUE(second.send("and here\n"));
    ASSERT_TRUE(third.send("me too\n"));
    ASSERT_TRUE(first.send("again\n"));
    fixture.board.holds_over = 1;
    EXPECT_EQ(second.line(), "and here");
    EXPECT_EQ(third.line(), "me too");
    EXPECT_EQ(first.line(), "held");
    EXPECT_EQ(first.line(), "again");
    if (takes_more) {
      EXPECT_EQ(fixture.board.passes, passes + 1);
    } else {
      EXPECT_GT(fixture.board.passes, passes + 1);
    }
    EXPECT_TRUE(eventually([&] { return fixture.board.releases == fixture.board.passes; }));
    EXPECT_EQ(fixture.board.wrongly_scanned, 0U);
  }
}

TEST(Server, RepliesBeforeThePassIsReleased) {
  Fixture fixture;
  fixture.board.release_over = false;
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(client.send("hello\n"));
  EXPECT_EQ(client.line(), "hello");
  EXPECT_EQ(fixture.board.releases, 0U);
  fixture.board.release_over = true;
  EXPECT_TRUE(eventually([&] { return fixture.board.releases == 1; }));
}

TEST(Server, RetriesABlockedRequestAndServesTheOthers) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  Client blocked = Client::tcp(fixture.server.bound_port());
  Client other = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(blocked.send("before\ngate\nafter\n"));
  EXPECT_EQ(blocked.line(), "before");
  ASSERT_TRUE(eventually([&] { return fixture.board.gate_turns >= 10; }));
  ASSERT_TRUE(other.send("hello\n"));
  EXPECT_EQ(other.line(), "hello");
  // 0 at first, then always the same time.
  EXPECT_NE(fixture.board.gate_since, 0U);
  EXPECT_EQ(fixture.board.gate_since_changes, 1U);
  fixture.board.gate_open = true;
  EXPECT_EQ(blocked.line(), "passed");
  EXPECT_EQ(blocked.line(), "after");
}

TEST(Server, RetriesLessAndLessOften) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(client.send("gate\n"));
  ASSERT_TRUE(eventually([&] { return fixture.board.gate_turns >= 12; }));
  // Eleven delays take at least 1 + 2 + 4 + 8 + 16 + 5 × 20 ms.
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(120));
}

TEST(Server, DoesNotReadABlockedConnection) {
  ServerConfig config = Fixture::loopback();
  config.receive_buffer = 64 << 10;
  Fixture fixture(config);
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(client.send("gate\n"));
  ASSERT_TRUE(eventually([&] { return fixture.board.gate_turns >= 1; }));
  const std::string more(std::size_t{64} << 20, '\n');
  EXPECT_LT(client.send_what_fits(more), more.size());
  EXPECT_EQ(fixture.count(Counter::bytes_received), 5U);
}

TEST(Server, StopsReadingFromAClientThatDoesNotRead) {
  ServerConfig config = Fixture::loopback();
  config.send_buffer = config.receive_buffer = 64 << 10;
  Fixture fixture(config);
  fixture.board.lines_a_pass = 4;
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port(), 64 << 10);
  Client other = Client::tcp(fixture.server.bound_port());

  std::string requests;
  while (requests.size() < (std::size_t{16} << 20)) requests += "big 100000\n";
  std::size_t sent = 0;
  std::size_t executed = 0;
  std::size_t greetings = 0;
  bool at_rest = false;
  for (int round = 0; round < 1000 && !at_rest; ++round) {
    const std::size_t sent_before = sent;
    const std::size_t executed_before = executed;
    sent += client.send_what_fits(std::string_view(requests).substr(sent));
    for (int i = 0; i < 20; ++i, ++greetings) {
      ASSERT_TRUE(other.send("hello\n"));
      ASSERT_EQ(other.line(), "hello");
    }
    executed = fixture.board.requests - greetings;
    at_rest = sent == sent_before && executed == executed_before && executed != 0;
  }
  ASSERT_TRUE(at_rest);
  EXPECT_LT(sent, requests.size());
  EXPECT_LE(fixture.count(Counter::bytes_received), std::size_t{128} << 10);
  const std::size_t taken = (fixture.count(Counter::bytes_sent) - greetings * 6) / 100'001;
  EXPECT_LE(executed - taken, fixture.board.lines_a_pass) << "replies that wait in memory";

  // It goes on where it was when the client reads.
  for (int i = 0; i < 100; ++i) ASSERT_EQ(client.line(), std::string(100'000, 'b'));
  EXPECT_GE(fixture.board.requests - greetings, 100U);
}

TEST(Server, ClosesAfterTheRepliesAreRead) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  // What comes behind `close` is never read as a request, and must not reset the connection.
  ASSERT_TRUE(client.send("big 2000000\nclose\n" + std::string(1'000'000, 'x') + "\n"));
  EXPECT_EQ(client.line().size(), 2'000'000U);
  EXPECT_EQ(client.line(), "bye");
  EXPECT_EQ(client.rest(), "");
  EXPECT_EQ(fixture.board.requests, 2U);
  client.close();
  EXPECT_TRUE(eventually([&] { return fixture.server.connections() == 0; }));
}

TEST(Server, LingersForABoundedTime) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  // On a busy machine this test may be late itself.
  const auto lingers = [&] {
    Client client = Client::tcp(fixture.server.bound_port());
    EXPECT_TRUE(client.send("close\n"));
    EXPECT_EQ(client.line(), "bye");
    EXPECT_EQ(client.line(), "<end>");
    const bool still_there = fixture.server.connections() == 1;
    EXPECT_EQ(fixture.board.dialogues, 0U);
    EXPECT_TRUE(eventually([&] { return fixture.server.connections() == 0; }));
    return still_there;
  };
  EXPECT_TRUE(lingers() || lingers() || lingers());
}

TEST(Server, TellsTheApplicationOfARequestThatIsTooLarge) {
  ServerConfig config = Fixture::loopback();
  config.max_request_size = 100'000;
  Fixture fixture(config);
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(client.send(std::string(99'999, 'a') + "\n" + std::string(250'000, 'b')));
  EXPECT_EQ(client.line().size(), 99'999U);
  EXPECT_EQ(client.line(), "too large");
  EXPECT_EQ(client.rest(), "");
}

TEST(Server, TellsTheApplicationWhenItIsIdle) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  ASSERT_TRUE(eventually([&] { return fixture.board.idles >= 2; }));  // worker and streamer
  const std::size_t idles = fixture.board.idles;
  Client client = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(client.send("hello\n"));
  EXPECT_EQ(client.line(), "hello");
  EXPECT_TRUE(eventually([&] { return fixture.board.idles > idles; }));
}

TEST(Server, SpreadsConnectionsOverItsWorkers) {
  ServerConfig config = Fixture::loopback();
  config.crews.front().workers = 3;
  Fixture fixture(config);
  ASSERT_TRUE(fixture.start());
  std::vector<Client> clients;
  std::map<std::string, int> shares;
  for (int i = 0; i < 60; ++i) {
    clients.push_back(Client::tcp(fixture.server.bound_port()));
    ASSERT_TRUE(clients.back().send("who\n"));
    ++shares[clients.back().line()];
  }
  EXPECT_EQ(shares.size(), 3U);
  for (const auto& [worker, share] : shares) EXPECT_GE(share, 15);
}

TEST(Server, SurvivesManyShortConnections) {
  ServerConfig config = Fixture::loopback();
  config.crews.front().workers = 2;
  Fixture fixture(config);
  ASSERT_TRUE(fixture.start());
  constexpr int rounds = 300;
  constexpr int threads = 4;
  constexpr std::uint64_t total = std::uint64_t{rounds} * threads;
  std::atomic<std::uint64_t> answered{0};
  std::vector<std::thread> clients;
  clients.reserve(threads);
  for (int t = 0; t < threads; ++t) {
    clients.emplace_back([&, t] {
      for (int i = 0; i < rounds; ++i) {
        Client client = Client::tcp(fixture.server.bound_port());
        client.send("hello\nbig 100000\n");
        if (client.line() == "hello") ++answered;
        if ((i + t) % 3 == 0) client.abort();
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(answered, total);
  EXPECT_TRUE(eventually([&] { return fixture.count(Counter::connections_closed) == total; }));
  EXPECT_EQ(fixture.count(Counter::connections_opened), total);
  EXPECT_EQ(fixture.server.connections(), 0U);
  EXPECT_EQ(fixture.board.strange_dialogues, 0U);
}

}  // namespace
}  // namespace hs::net::test
