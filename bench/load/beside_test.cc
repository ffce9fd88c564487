#include "load/beside.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "load/bystander.h"
#include "load/json.h"
#include "load/result.h"
#include "load/staller.h"
#include "load/test_listener.h"

namespace hs::bench {
namespace {

using std::chrono::milliseconds;

std::string parse(std::vector<std::string> arguments, Options& options) {
  arguments.insert(arguments.begin(), "hs-bench");
  std::vector<char*> argv;
  argv.reserve(arguments.size());
  for (std::string& argument : arguments) argv.push_back(argument.data());
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const Parsed parsed = parse_options(static_cast<int>(argv.size()), argv.data(), options);
  testing::internal::GetCapturedStdout();
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(parsed == Parsed::run, said.empty()) << said;
  return said;
}

// What a greedy client sends first.
std::string first_request(Greed greed, std::vector<std::string> arguments = {}) {
  arguments.emplace_back("--keys=1000");
  arguments.emplace_back("--first-number=1");
  Options options;
  EXPECT_EQ(parse(std::move(arguments), options), "");
  const Options own = greedy_options(greed, options);
  std::atomic<std::uint64_t> newest = 0;
  KeyChooser chooser(own.keys, newest, 1);
  std::vector<std::uint64_t> keys;
  for (std::uint32_t i = 0; i < own.keys_per_find; ++i) keys.push_back(chooser.existing());
  Buffer out;
  const auto action = own.mix.update != 0 ? Action::update : Action::find;
  make_wire(own)->write(out, action, keys);
  return std::string(out.view());
}

TEST(Greed, AsksForMuch) {
  EXPECT_EQ(first_request(Greed::filter), "1\t>=\t1\t1\t10\t0\tF\t=\t0\tno row holds this\n");
  EXPECT_EQ(first_request(Greed::offset), "1\t>=\t1\t1\t10\t900\n");
  EXPECT_TRUE(
      first_request(Greed::in).starts_with("1\t=\t1\t1001\t200000\t0\t@\t0\t200000\t1001\t"));
  EXPECT_TRUE(first_request(Greed::in).ends_with("\t201000\n"));
  EXPECT_EQ(first_request(Greed::ranges), "1\t>=\t1\t1\t3990\n");
  EXPECT_EQ(first_request(Greed::find_modify),
            "2\t>=\t1\t1\t100\t0\tU\tu50000000002@example.com\n");
  EXPECT_EQ(first_request(Greed::unread), "1\t>=\t1\t1\t1000\n");
  EXPECT_TRUE(first_request(Greed::in, {"--protocol=redis"}).starts_with("*200001\r\n$4\r\nMGET"));
  EXPECT_TRUE(first_request(Greed::in, {"--protocol=memcached"}).starts_with("get user:1001 "));
}

TEST(Greed, OpensTheColumnThatItFilters) {
  Options options;
  EXPECT_EQ(parse({"--columns=a,b"}, options), "");
  const Options own = greedy_options(Greed::filter, options);
  Buffer out;
  make_wire(own)->greet(out);
  EXPECT_EQ(out.view(), "P\t1\ttest\tuser\tPRIMARY\ta,b\ta\n");
}

TEST(Greed, HasItsShape) {
  const Options options;
  EXPECT_EQ(greedy_options(Greed::updates, options).connections, 16U);
  EXPECT_EQ(greedy_options(Greed::updates, options).depth, 100U);
  EXPECT_EQ(greedy_options(Greed::ranges, options).depth, 500U);
  EXPECT_EQ(greedy_options(Greed::filter, options).connections, 1U);
  EXPECT_TRUE(stalls(Greed::half) && stalls(Greed::unread) && !stalls(Greed::updates));
}

// A row lock would make the light client wait on any server.
TEST(Greed, ModifiesRowsThatTheLightClientLeavesAlone) {
  Options options;
  EXPECT_EQ(greedy_options(Greed::find_modify, options).modified_rows, 100'000U);
  EXPECT_EQ(light_options(Greed::find_modify, options).keys.first, 100'001U);
  EXPECT_EQ(light_options(Greed::find_modify, options).keys.count, 900'000U);
  EXPECT_EQ(light_options(Greed::updates, options).keys.count, 1'000'000U);
  options.keys.count = 1;
  EXPECT_EQ(light_options(Greed::find_modify, options).keys.first, 1U);
}

TEST(Greed, IsRefusedWhereTheProtocolCannotDoIt) {
  const auto refused = [](std::string_view protocol, std::string_view greed) {
    Options options;
    return parse({"--protocol=" + std::string(protocol), "--beside=" + std::string(greed)},
                 options);
  };
  EXPECT_EQ(refused("redis", "in,filter"),
            "error: --beside filter: only handlersocket has filters\n");
  EXPECT_NE(refused("redis", "offset"), "");
  EXPECT_NE(refused("memcached", "ranges"), "");
  EXPECT_NE(refused("redis", "find-modify"), "");
  EXPECT_NE(refused("redis-hash", "in"), "");
  EXPECT_NE(refused("redis-hash", "unread"), "");
  EXPECT_EQ(refused("redis", "in,updates,unread,half"), "");
  EXPECT_EQ(refused("memcached", "in,updates,unread,half"), "");
  EXPECT_EQ(refused("redis-hash", "updates,half"), "");
  EXPECT_EQ(refused("handlersocket", "filter,offset,in,ranges,updates,find-modify,unread,half"),
            "");
}

TEST(BesideOptions, AreALightClients) {
  Options options;
  EXPECT_EQ(parse({"--beside=filter", "--beside=half"}, options), "");
  EXPECT_EQ(options.beside, (std::vector<Greed>{Greed::filter, Greed::half}));
  EXPECT_EQ(options.rate, 200);
  Options slower;
  EXPECT_EQ(parse({"--beside=filter", "--rate=10"}, slower), "");
  EXPECT_EQ(slower.rate, 10);
  Options loud;
  EXPECT_EQ(parse({}, loud), "");
  EXPECT_EQ(loud.rate, 0);
  Options wrong;
  EXPECT_NE(parse({"--beside=filter", "--rate=0"}, wrong), "");
  EXPECT_NE(parse({"--beside=filter", "--depth=10"}, wrong), "");
  EXPECT_NE(parse({"--beside=filter", "--connections=10"}, wrong), "");
  EXPECT_NE(parse({"--beside=filter", "--work=connect"}, wrong), "");
  EXPECT_EQ(parse({"--beside=all"}, wrong),
            "error: --beside 'all': one of " + names_of_greed() + "\n");
}

// What a test puts the load on. Its one thread answers each line of all its clients. It pauses for
// a while when a line contains `slow_word`, and closes the connection when a line contains
// `closing_word`.
class TestTarget {
 public:
  explicit TestTarget(std::string slow_word, milliseconds away = {},
                      std::string closing_word = "\1")
      : slow_word_(std::move(slow_word)),
        away_(away),
        closing_word_(std::move(closing_word)),
        listener_(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)),
        port_(listen_on_loopback(listener_.get(), 64)) {
    thread_ = std::jthread([this](const std::stop_token& end) { serve(end); });
  }

  std::uint16_t port() const { return port_; }
  std::size_t accepted() const { return accepted_; }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Peer {
    Descriptor fd;
    std::string line;
  };

  void serve(const std::stop_token& end) {
    while (!end.stop_requested()) {
      Descriptor fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK));
      if (fd.valid()) {
        ++accepted_;
        peers_.push_back({std::move(fd), {}});
      }
      bool idle = true;
      for (Peer& peer : peers_) idle = !turn(peer) && idle;
      std::erase_if(peers_, [](const Peer& peer) { return !peer.fd.valid(); });
      if (idle) std::this_thread::sleep_for(milliseconds(1));
    }
  }

  bool turn(Peer& peer) {
    const ssize_t count = ::recv(peer.fd.get(), input_.data(), input_.size(), 0);
    if (count == 0) peer.fd.reset();
    if (count <= 0) return false;
    bytes_ += static_cast<std::size_t>(count);
    std::string replies;
    for (ssize_t i = 0; i < count; ++i) {
      if (input_[i] != '\n') {
        if (peer.line.size() < 1000) peer.line += input_[i];
        continue;
      }
      if (peer.line.find(closing_word_) != std::string::npos) break;
      if (peer.line.find(slow_word_) != std::string::npos) std::this_thread::sleep_for(away_);
      replies += "0\t1\tv\n";
      peer.line.clear();
    }
    ::send(peer.fd.get(), replies.data(), replies.size(), MSG_NOSIGNAL);
    if (peer.line.find(closing_word_) != std::string::npos) peer.fd.reset();
    return true;
  }

  std::string slow_word_;
  milliseconds away_;
  std::string closing_word_;
  Descriptor listener_;
  std::uint16_t port_;
  std::vector<Peer> peers_;
  std::vector<char> input_ = std::vector<char>(std::size_t{1} << 20);
  std::atomic<std::size_t> accepted_ = 0;
  std::atomic<std::size_t> bytes_ = 0;
  std::jthread thread_;
};

Options options_for(const TestTarget& target, milliseconds duration) {
  Options options;
  options.port = target.port();
  options.keys.count = 1000;
  options.rate = 100;
  options.warm_up = milliseconds(0);
  options.duration = duration;
  options.quiet = true;
  options.json_path = "-";
  return options;
}

Outcome light_outcome(const Options& options) {
  std::atomic<std::uint64_t> newest = 0;
  Bystander bystander(options, Address::of(options).value(), newest);
  EXPECT_EQ(bystander.connect(), "");
  bystander.run(Timeline::starting_now(options));
  return bystander.outcome();
}

TEST(Bystander, KeepsToItsRate) {
  const TestTarget target("never");
  const Outcome outcome = light_outcome(options_for(target, milliseconds(500)));
  EXPECT_GE(outcome.tally.replies, 3U);
  EXPECT_LE(outcome.tally.replies, 51U);
  EXPECT_GE(outcome.latency.total(), outcome.tally.replies);
}

// Each request takes 300 ms. In that time 30 more would have come, and each of them counts with the
// rest of the wait.
TEST(Bystander, CountsAWaitForAllThatWouldHaveCome) {
  const TestTarget target("\t=\t", milliseconds(300));
  const Outcome outcome = light_outcome(options_for(target, milliseconds(1800)));
  EXPECT_LE(outcome.tally.replies, 6U);
  EXPECT_GE(outcome.latency.total(), 120U);
  EXPECT_LE(outcome.latency.total(), 190U);
  EXPECT_GE(outcome.latency.max(), 300'000'000U);
  EXPECT_GE(outcome.latency.at(0.5), 100'000'000U);
}

TEST(Bystander, CountsWhatIsNeverAnswered) {
  // It pauses until the end after the first answer. The first key is 1, the second is 2.
  const TestTarget target("\t=\t1\t2", milliseconds(2500));
  Options options = options_for(target, milliseconds(1000));
  options.keys.distribution = Distribution::sequential;
  const Outcome outcome = light_outcome(options);
  EXPECT_EQ(outcome.tally.replies, 0U);
  EXPECT_GE(outcome.latency.total(), 80U);
  EXPECT_LE(outcome.latency.total(), 100U);
  EXPECT_GE(outcome.latency.max(), 800'000'000U);
  EXPECT_EQ(outcome.lost_connections, 0U);
}

Outcome stall(Greed greed, const Options& options) {
  const Options own = greedy_options(greed, options);
  Staller staller(greed, own, Address::of(own).value());
  EXPECT_EQ(staller.connect(), "");
  staller.run(Timeline::starting_now(own));
  return staller.outcome();
}

TEST(Staller, SendsHalfRequestsAgainAndAgain) {
  const TestTarget target("never");
  Options options = options_for(target, milliseconds(2500));
  options.protocol = Protocol::memcached;  // its half requests are short
  options.stored_key = options.stored_value = {ValueTemplate::parse("{key}").value()};
  const Outcome outcome = stall(Greed::half, options);
  EXPECT_GT(outcome.tally.replies, 16U);
  EXPECT_EQ(outcome.lost_connections, 0U);
  EXPECT_GT(target.accepted(), 16U);
  EXPECT_GE(target.bytes(), std::size_t{16} * 500'000);
}

TEST(Staller, ComesAgainWhenItIsClosed) {
  const TestTarget target("never", {}, "xxx");
  const Outcome outcome = stall(Greed::half, options_for(target, milliseconds(1000)));
  EXPECT_GT(outcome.lost_connections, 16U);
  EXPECT_GT(target.accepted(), 16U);
}

TEST(Staller, AsksOnceAndLeavesTheReplyUnread) {
  const TestTarget target("never");
  const Outcome outcome = stall(Greed::unread, options_for(target, milliseconds(1500)));
  EXPECT_EQ(outcome.tally.replies, 4U);
  EXPECT_EQ(target.accepted(), 4U);
}

std::string besides(const Options& options, int exit_code) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_beside(options, Address::of(options).value()), exit_code);
  return testing::internal::GetCapturedStdout();
}

TEST(Beside, SeesWhoMadeItWait) {
  const TestTarget target("\tF\t", milliseconds(100));
  Options options = options_for(target, milliseconds(1000));
  options.beside = {Greed::filter, Greed::half};
  const Json json = Json::parse(besides(options, 0));
  const auto median = [](const Json& stay) { return stay["latency_us"]["p50"].get<double>(); };
  EXPECT_GT(json["alone"]["requests"], 0);
  EXPECT_FALSE(json["alone"].contains("greedy"));
  EXPECT_EQ(json["beside"].size(), 2U);
  EXPECT_TRUE(json["beside"]["half"].contains("greedy"));
  const double beside = median(json["beside"]["filter"]);
  EXPECT_GT(beside, 10 * median(json["alone"])) << json;
  EXPECT_GT(beside, 20'000) << json;
}

TEST(Result, IsJsonWhateverTheServerHasAnswered) {
  Result result{.tally = {}, .latency = {}, .seconds = 2, .client_cpu = {}, .server_cpu = {}};
  result.tally.error("1\t\"\xff\xc3\xa9");
  result.tally.replies = 10;
  std::ostringstream out;
  write_json(out, result);
  const Json json = Json::parse(out.str());
  EXPECT_EQ(json["first_error"], "1\t\"\xef\xbf\xbd\xc3\xa9");
  EXPECT_EQ(json["requests_per_second"], 5.0);
  EXPECT_FALSE(json.contains("server_cpu"));
}

TEST(Beside, ALoadThatIsRefusedIsNone) {
  const TestTarget target("never", {}, "\tU\t");
  Options options = options_for(target, milliseconds(200));
  options.beside = {Greed::updates};
  options.update_values = {ValueTemplate::parse("{n}").value()};
  options.json_path.clear();
  const std::string text = besides(options, 1);
  EXPECT_NE(text.find("beside updates: the greedy clients: "), std::string::npos) << text;
}

TEST(Stay, FaultsAreWhatMakesFiguresWorthless) {
  Stay stay{.beside = Greed::updates, .light = {}, .greedy = {}};
  EXPECT_EQ(stay.fault(), "");  // a server that did not answer
  stay.greedy.tally.replies = 10;
  EXPECT_EQ(stay.fault(), "");
  stay.greedy.tally.error("2\t1\tdeadlock");
  EXPECT_EQ(stay.fault(), "");
  stay.greedy.tally.errors = 10;
  EXPECT_EQ(stay.fault(), "the greedy clients: 2\t1\tdeadlock");
  stay.beside = Greed::half;
  stay.greedy.lost_connections = 3;
  EXPECT_EQ(stay.fault(), "");  // it is right to close those
  stay.light.tally.error("lost");
  EXPECT_EQ(stay.fault(), "the light client: lost");
}

}  // namespace
}  // namespace hs::bench
