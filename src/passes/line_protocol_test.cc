// A second protocol on the same passes: over sockets, with the in-memory store. With the server's
// tables the same is tested by tests/e2e/requests/test_second_protocol.py.
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
#include "passes/pass_runner.h"
#include "passes/stream_runner.h"
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
  static std::unique_ptr<Protocol> speak_lines(store::Store&, CounterBlock&) {
    return std::make_unique<LineProtocol>(store::IndexNames{"db", "kv", "", "v,k", ""});
  }
  std::unique_ptr<store::MemoryStore> make_store(CounterBlock& counters) {
    return std::make_unique<store::MemoryStore>(database_, store::Access::write, counters, bounds_);
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
  const std::vector<MakeProtocol> protocols_{speak_lines};
  net::Server server_{any_port(),
                      {.make_worker =
                           [this](std::size_t /*crew*/, ThreadCounters& counters) {
                             auto store = make_store(counters.own());
                             store->faults() = faults_;
                             return std::make_unique<PassRunner>(config_, std::move(store),
                                                                 protocols_, counters.blocks());
                           },
                       .make_streamer =
                           [this](std::size_t /*crew*/, net::Role, ThreadCounters& counters) {
                             return std::make_unique<StreamRunner>(config_,
                                                                   make_store(counters.own()),
                                                                   protocols_, counters.blocks());
                           }},
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

// On another thread than a worker the same request is executed in the same way, with both indexes.
TEST_F(LineProtocolTest, ASetAloneUsesBothOfItsIndexes) {
  class NoStream final : public net::Stream {
   public:
    Sent send(Buffer&, bool) override { return Sent::ended; }
    bool must_give_way() override { return false; }
    bool must_end() override { return false; }
  } stream;
  CounterBlock counters;
  StreamRunner runner(config_, make_store(counters), protocols_, std::array{&counters});
  store::MemoryStore of_protocol(database_, store::Access::write, counters, bounds_);
  const std::unique_ptr<Dialogue> dialogue = speak_lines(of_protocol, counters)->open_dialogue();
  for (const auto& [request, reply] :
       {std::pair{"set a 1\n", "STORED\n"}, {"quiet a 2\n", ""}, {"get a\n", "VALUE 1 2\n"}}) {
    net::Turn turn{.dialogue = dialogue.get(), .input = request};
    Buffer out;
    runner.run_stream(turn, out, stream);
    EXPECT_EQ(out.view(), reply);
    EXPECT_EQ(turn.consumed, std::string_view(request).size());
  }
  EXPECT_EQ(counters.get(Counter::table_opens), 2U);
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

// A unit over two tables, in the passes of one worker without sockets.
class SwapTest : public ::testing::Test {
 protected:
  SwapTest() {
    for (const std::string name : {"kv", "other"}) {
      database_.add_table({"db",
                           name,
                           {{.name = "k", .nullable = false}, {.name = "v"}},
                           {{"PRIMARY", {0}, true}, {"by_value", {1}, name == "other"}}});
    }
  }
  static std::unique_ptr<Protocol> serving(std::string_view table, std::string_view other) {
    return std::make_unique<LineProtocol>(store::IndexNames{"db", table, "", "v,k", ""},
                                          store::IndexNames{"db", other, "", "v,k", ""});
  }
  // The replies to a connection of each port, of one pass. The second port has the tables the other
  // way round.
  std::array<std::string, 2> say(std::string_view first, std::string_view second = "") {
    const std::array inputs{first, second};
    for (std::size_t port = 0; port < turns_.size(); ++port) {
      turns_[port].dialogue = dialogues_[port].get();
      turns_[port].port = port;
      turns_[port].input = inputs[port];
    }
    Buffer out;
    if (runner_.read_first(turns_, out)) runner_.execute(turns_, 0, out);
    runner_.end_pass(turns_, out);
    runner_.release();
    return {std::string(out.view(turns_[0].reply_begin, turns_[0].reply_end)),
            std::string(out.view(turns_[1].reply_begin, turns_[1].reply_end))};
  }
  void fill() { say("quiet a 1\nquiet b 2\n", "quiet x 11\nquiet y 12\n"); }
  std::string rows() {
    const std::array<std::string, 2> both = say("get a\nget b\n", "get x\nget y\n");
    return both[0] + both[1];
  }
  const std::string untouched_ = "VALUE 1 1\nVALUE 1 2\nVALUE 2 11\nVALUE 2 12\n";
  const std::string swapped_ = "VALUE 2 11\nVALUE 1 2\nVALUE 1 1\nVALUE 2 12\n";

  using Replies = std::array<std::string, 2>;
  std::array<net::Turn, 2> turns_;
  store::MemoryDatabase database_;
  std::array<CounterBlock, 2> counters_;
  std::unique_ptr<store::MemoryStore> made_ = std::make_unique<store::MemoryStore>(
      database_, store::Access::write, counters_[0], store::MemoryBounds{});
  store::MemoryFaults& faults_ = made_->faults();
  RunnerConfig config_;
  const std::array<MakeProtocol, 2> protocols_{
      [](store::Store&, CounterBlock&) { return serving("kv", "other"); },
      [](store::Store&, CounterBlock&) { return serving("other", "kv"); }};
  PassRunner runner_{config_, std::move(made_), protocols_,
                     std::array{&counters_[0], &counters_[1]}};
  std::array<std::unique_ptr<net::Dialogue>, 2> dialogues_{runner_.open_dialogue(0),
                                                           runner_.open_dialogue(1)};
};

TEST_F(SwapTest, ExchangesBothValuesOrNone) {
  fill();
  EXPECT_EQ(say("swap a x\nget a\n")[0], "SWAPPED\nVALUE 2 11\n");
  EXPECT_EQ(rows(), swapped_);
  EXPECT_EQ(say("swap a missing\nswap missing x\nget a\n")[0], "NONE\nNONE\nVALUE 2 11\n");
  EXPECT_EQ(rows(), swapped_);
}

// The second table has a row with that value already.
TEST_F(SwapTest, IsUndoneByADuplicateKeyAndTheOtherRequestsStay) {
  fill();
  EXPECT_EQ(say("quiet b 12\nswap b x\nset c 5\n")[0], "ERROR exists\nSTORED\n");
  EXPECT_EQ(say("get b\nget c\n", "get x\n"), (Replies{"VALUE 2 12\nVALUE 1 5\n", "VALUE 2 11\n"}));
}

TEST_F(SwapTest, IsAskedAgainAsAWholeIfItsSecondTableIsLocked) {
  fill();
  say("swap a x\nswap a x\n");  // the index is open now
  database_.find_table("db", "other")->set_blocked(true);
  EXPECT_EQ(say("quiet c 3\nswap a x\n")[0], "");
  EXPECT_EQ(turns_[0].next, net::Next::retry);
  EXPECT_EQ(turns_[0].consumed, std::string_view("quiet c 3\n").size());
  database_.find_table("db", "other")->set_blocked(false);
  EXPECT_EQ(rows(), untouched_);
  EXPECT_EQ(say("get c\nswap a x\n")[0], "VALUE 1 3\nSWAPPED\n");
  EXPECT_EQ(rows(), swapped_);
}

TEST_F(SwapTest, IsDoneOnceIfItsPassIsExecutedAgain) {
  fill();
  say("swap a x\nswap a x\n");
  for (const unsigned at : {2U, 3U, 4U}) {
    faults_.broken_in = at;
    EXPECT_EQ(say("set c 1\nswap a x\n")[0], "STORED\nSWAPPED\n");
    EXPECT_EQ(rows(), swapped_);
    EXPECT_EQ(say("swap a x\n")[0], "SWAPPED\n");
  }
  EXPECT_EQ(counters_[0].get(Counter::passes_replayed), 3U);
}

TEST_F(SwapTest, BecomesOneErrorIfTheCommitFails) {
  fill();
  faults_.next_commit = Status(Error::commit_failed, 1180);
  EXPECT_EQ(say("swap a x\n")[0], "ERROR not committed\n");
  EXPECT_EQ(rows(), untouched_);
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
  static MakeProtocol serving(std::string_view table) {
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
  PassRunner runner_{config_, std::move(made_), std::array{serving("kv"), serving("other")},
                     std::array{&counters_[0], &counters_[1]}};
  std::array<std::unique_ptr<net::Dialogue>, 2> dialogues_{runner_.open_dialogue(0),
                                                           runner_.open_dialogue(1)};
};

TEST_F(TwoPortsTest, HaveTheirOwnProtocolsAndOneCommit) {
  EXPECT_EQ(say("set a 1\nget a\n", "set a 2\nget b\nget a\n"),
            (Replies{"STORED\nVALUE 1 1\n", "STORED\nNONE\nVALUE 1 2\n"}));
  EXPECT_EQ(counters_[0].get(Counter::commits), 1U);
  EXPECT_EQ(counters_[0].get(Counter::passes), 1U);
  EXPECT_EQ(counters_[0].get(Counter::requests_update), 1U);
  EXPECT_EQ(counters_[1].get(Counter::requests_update), 1U);
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
  EXPECT_EQ(counters_[0].get(Counter::requests_update), 2U);
  EXPECT_EQ(counters_[1].get(Counter::requests_update), 1U);
  EXPECT_EQ(counters_[1].get(Counter::requests_find), 1U);
}

}  // namespace
}  // namespace hs::passes
