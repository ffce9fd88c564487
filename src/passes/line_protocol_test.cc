// A second protocol on the same passes: over sockets, with the in-memory store. With the server's
// tables the same is tested by tests/e2e/test_second_protocol.py.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/server.h"
#include "passes/runner.h"
#include "passes/test_line_protocol.h"
#include "store/memory_store.h"

namespace hs::passes {
namespace {

class LineClient {
 public:
  explicit LineClient(unsigned port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(static_cast<std::uint16_t>(port));
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{.tv_sec = 60, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&place), sizeof place), 0);
  }
  LineClient(const LineClient&) = delete;
  LineClient& operator=(const LineClient&) = delete;
  ~LineClient() { ::close(socket_); }

  // Sends the requests at once, and returns all replies.
  std::string say(std::string_view requests) {
    EXPECT_EQ(::send(socket_, requests.data(), requests.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(requests.size()));
    ::shutdown(socket_, SHUT_WR);
    std::string replies;
    std::array<char, 4096> piece;
    for (ssize_t size = 0; (size = ::recv(socket_, piece.data(), piece.size(), 0)) > 0;)
      replies.append(piece.data(), static_cast<std::size_t>(size));
    return replies;
  }

 private:
  const int socket_;
};

class LineProtocolTest : public ::testing::Test {
 protected:
  LineProtocolTest() {
    database_.add_table(
        {"db", "kv", {{.name = "k", .nullable = false}, {.name = "v"}}, {{"PRIMARY", {0}, true}}});
  }
  net::ServerConfig any_port() {
    net::ServerConfig config;
    config.ports.push_back({.port = "0", .protocol = "lines", .counters = &counters_});
    return config;
  }
  void start() { ASSERT_TRUE(server_.start()); }
  std::string say(std::string_view requests) {
    return LineClient(server_.bound_port()).say(requests);
  }
  std::uint64_t count(Counter counter) { return counters_.sum(counter); }

  store::MemoryDatabase database_;
  store::MemoryFaults faults_;  // those of the worker's store
  CounterSet counters_;
  RunnerConfig config_;
  store::MemoryBounds bounds_;
  const std::vector<Runner::MakeProtocol> protocols_{[](store::Store&, CounterBlock&) {
    return std::make_unique<LineProtocol>(store::IndexNames{"db", "kv", "", "v,k", ""});
  }};
  net::Server server_{any_port(),
                      [this](net::Role role, ThreadCounters& counters) {
                        auto store = std::make_unique<store::MemoryStore>(
                            database_, store::Access::write, counters.own(), bounds_);
                        if (role == net::Role::worker) store->faults() = faults_;
                        return std::make_unique<Runner>(config_, std::move(store), protocols_,
                                                        counters.blocks());
                      },
                      [](net::LogLevel, const std::string&) {}};
};

TEST_F(LineProtocolTest, AnswersGetAndSetAndIsSilentAboutQuietOnes) {
  start();
  EXPECT_EQ(say("get a\nset a 1\nquiet b two words\nget b\nquiet a 3\nget a\nnonsense\n"),
            "NONE\nSTORED\nVALUE 9 two words\nVALUE 1 3\nERROR\n");
  EXPECT_EQ(say("get b\nget a\n"), "VALUE 9 two words\nVALUE 1 3\n");
  EXPECT_EQ(count(Counter::requests_malformed), 1U);
}

// What a quiet write has not said must be said when its commit has failed.
TEST_F(LineProtocolTest, AQuietSetWhoseCommitFailsIsAnsweredWithAnError) {
  faults_.next_commit = Status(Error::commit_failed, 1180);
  start();
  EXPECT_EQ(
      say("get a\nquiet a 1\nset b 2\nget b\nquiet c 3\n"),
      "NONE\nERROR not committed\nERROR not committed\nERROR not committed\nERROR not committed\n");
  EXPECT_EQ(say("quiet a 1\nget a\nget b\n"), "VALUE 1 1\nNONE\n");
}

TEST_F(LineProtocolTest, ABrokenPassIsExecutedAgain) {
  faults_.broken_in = 5;
  start();
  EXPECT_EQ(say("quiet a 1\nset b 2\nquiet a 3\nget a\nget b\n"), "STORED\nVALUE 1 3\nVALUE 1 2\n");
  EXPECT_EQ(count(Counter::passes_replayed), 1U);
}

TEST_F(LineProtocolTest, AQuietSetThatWaitsTooLongIsAnsweredWithAnError) {
  config_.lock_wait_timeout = std::chrono::milliseconds(20);
  start();
  database_.find_table("db", "kv")->set_blocked(true);
  // The index is opened by the first request, which is blocked already.
  EXPECT_EQ(say("quiet a 1\n"), "ERROR locked\n");
}

TEST_F(LineProtocolTest, ALongScanIsStreamed) {
  bounds_ = {.rows = 20, .flush_bytes = 50};
  start();
  std::string sets;
  std::string values;
  for (int i = 100; i < 200; ++i) {
    sets += "quiet " + std::to_string(i) + " value" + std::to_string(i) + "\n";
    values += "VALUE 8 value" + std::to_string(i) + "\n";
  }
  EXPECT_EQ(say(sets + "scan 0 1000\nget 150\nscan 199 5\n"),
            values + "END\nVALUE 8 value150\nVALUE 8 value199\nEND\n");
  EXPECT_EQ(count(Counter::long_finds), 1U);
}

// Two ports whose connections have their turns in the same passes.
class TwoPortsTest : public ::testing::Test {
 protected:
  TwoPortsTest() {
    for (const std::string name : {"kv", "other"}) {
      database_.add_table({"db",
                           name,
                           {{.name = "k", .nullable = false}, {.name = "v"}},
                           {{"PRIMARY", {0}, true}}});
    }
  }
  static Runner::MakeProtocol serving(std::string_view table) {
    return [table](store::Store&, CounterBlock&) {
      return std::make_unique<LineProtocol>(store::IndexNames{"db", table, "", "v,k", ""});
    };
  }
  // The replies to each port, of one pass.
  std::array<std::string, 2> say(std::string_view first, std::string_view second) {
    const std::array inputs{first, second};
    std::array<net::Turn, 2> turns;
    for (std::size_t port = 0; port < turns.size(); ++port) {
      turns[port].dialogue = dialogues_[port].get();
      turns[port].port = port;
      turns[port].input = inputs[port];
    }
    Buffer out;
    if (runner_.read_first(turns, out)) runner_.execute(turns, 0, out);
    runner_.end_pass(turns, out);
    runner_.release();
    return {std::string(out.view(turns[0].reply_begin, turns[0].reply_end)),
            std::string(out.view(turns[1].reply_begin, turns[1].reply_end))};
  }

  using Replies = std::array<std::string, 2>;
  store::MemoryDatabase database_;
  std::array<CounterBlock, 2> counters_;
  std::unique_ptr<store::MemoryStore> made_ = std::make_unique<store::MemoryStore>(
      database_, store::Access::write, counters_[0], store::MemoryBounds{});
  store::MemoryFaults& faults_ = made_->faults();
  RunnerConfig config_;
  Runner runner_{config_, std::move(made_), std::array{serving("kv"), serving("other")},
                 std::array{&counters_[0], &counters_[1]}};
  std::array<std::unique_ptr<net::Dialogue>, 2> dialogues_{runner_.open_dialogue(0),
                                                           runner_.open_dialogue(1)};
};

TEST_F(TwoPortsTest, HaveTheirOwnProtocolsAndOneCommit) {
  EXPECT_EQ(say("set a 1\nget a\n", "set a 2\nget b\nget a\n"),
            (Replies{"STORED\nVALUE 1 1\n", "STORED\nNONE\nVALUE 1 2\n"}));
  EXPECT_EQ(counters_[0].get(Counter::commits), 1U);
  EXPECT_EQ(counters_[0].get(Counter::passes), 1U);
  EXPECT_EQ(counters_[0].get(Counter::requests_find_modify), 1U);
  EXPECT_EQ(counters_[1].get(Counter::requests_find_modify), 1U);
  EXPECT_EQ(counters_[0].get(Counter::requests_find), 1U);
  EXPECT_EQ(counters_[1].get(Counter::requests_find), 2U);
}

TEST_F(TwoPortsTest, ShareTheCommitThatFails) {
  faults_.next_commit = Status(Error::commit_failed, 1180);
  EXPECT_EQ(say("quiet a 1\n", "get a\nset a 2\n"),
            (Replies{"ERROR not committed\n", "NONE\nERROR not committed\n"}));
  EXPECT_EQ(counters_[0].get(Counter::errors), 1U);
  EXPECT_EQ(counters_[1].get(Counter::errors), 1U);
  EXPECT_EQ(say("get a\n", "get a\n"), (Replies{"NONE\n", "NONE\n"}));
}

TEST_F(TwoPortsTest, CountOnceWhatIsExecutedTwice) {
  faults_.broken_in = 4;
  EXPECT_EQ(say("set a 1\nset b 1\n", "set a 2\nget a\n"),
            (Replies{"STORED\nSTORED\n", "STORED\nVALUE 1 2\n"}));
  EXPECT_EQ(counters_[0].get(Counter::passes_replayed), 1U);
  EXPECT_EQ(counters_[1].get(Counter::passes_replayed), 0U);
  EXPECT_EQ(counters_[0].get(Counter::requests_find_modify), 2U);
  EXPECT_EQ(counters_[1].get(Counter::requests_find_modify), 1U);
  EXPECT_EQ(counters_[1].get(Counter::requests_find), 1U);
}

}  // namespace
}  // namespace hs::passes
