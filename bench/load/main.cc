// hs-bench: load for a HandlerSocket server, and for those that it is compared with.
#include <sys/resource.h>

#include <atomic>
#include <fstream>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>

#include "load/client.h"
#include "load/options.h"
#include "load/result.h"

namespace hs::bench {
namespace {

// Thousands of connections are more than most systems allow unless asked.
void allow_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

struct Cpu {
  std::optional<CpuTime> server;
  CpuTime own = own_cpu_time();

  static Cpu now(int server_pid) {
    Cpu cpu;
    if (server_pid != 0) cpu.server = cpu_time_of(server_pid);
    return cpu;
  }
};

CpuTime difference(const CpuTime& after, const CpuTime& before) {
  return {.user = after.user - before.user, .system = after.system - before.system};
}

class Run {
 public:
  Run(const Options& options, const Address& address)
      : options_(options), newest_key_(options.keys.first + options.keys.count - 1) {
    const std::uint32_t threads = options.threads;
    for (std::uint32_t i = 0; i < threads; ++i) {
      const std::uint32_t connections =
          options.connections / threads + (i < options.connections % threads ? 1 : 0);
      clients_.push_back(std::make_unique<Client>(options, address, connections, newest_key_,
                                                  options.seed * 1'000'003 + i));
    }
  }

  std::string connect() {
    for (const auto& client : clients_) {
      if (std::string wrong = client->connect(); !wrong.empty()) return wrong;
    }
    return {};
  }

  Result measure() {
    const auto start = Clock::now();
    const auto length = [](std::chrono::duration<double> time) {
      return std::chrono::duration_cast<Clock::duration>(time);
    };
    Timeline timeline{.from = start + length(options_.warm_up), .to = {}};
    timeline.to = timeline.from + length(options_.duration);
    std::vector<std::jthread> threads;
    for (const auto& client : clients_) {
      threads.emplace_back([this, &client = *client, timeline] {
        client.run(timeline);
        ended_.fetch_add(1);
        ended_.notify_one();
      });
    }
    wait_until(timeline.from);
    const Cpu before = Cpu::now(options_.server_pid);
    const auto from = Clock::now();
    wait_until(timeline.to);
    const Cpu after = Cpu::now(options_.server_pid);
    const auto to = Clock::now();
    threads.clear();
    return gather(before, after, std::chrono::duration<double>(to - from).count());
  }

 private:
  // Sleeps, says once a second how it goes, and comes back early if every client has ended.
  void wait_until(Clock::time_point end) {
    constexpr std::chrono::milliseconds step{20};
    while (Clock::now() < end && ended_.load() < clients_.size()) {
      std::this_thread::sleep_until(std::min(end, Clock::now() + step));
      const auto now = Clock::now();
      if (options_.quiet || now - last_shown_ < std::chrono::seconds(1)) continue;
      std::uint64_t done = 0;
      for (const auto& client : clients_) done += client->done();
      const std::chrono::duration<double> passed = now - last_shown_;
      std::cerr << "\r" << static_cast<std::uint64_t>(
                               static_cast<double>(done - shown_) / passed.count())
                << " requests a second     " << std::flush;
      shown_ = done;
      last_shown_ = now;
    }
  }

  Result gather(const Cpu& before, const Cpu& after, double seconds) const {
    Result result;
    result.seconds = seconds;
    result.client_cpu = difference(after.own, before.own);
    if (before.server && after.server) {
      result.server_cpu = difference(*after.server, *before.server);
    }
    for (const auto& client : clients_) {
      const Outcome& outcome = client->outcome();
      result.tally.replies += outcome.tally.replies;
      result.tally.rows += outcome.tally.rows;
      result.tally.misses += outcome.tally.misses;
      result.tally.errors += outcome.tally.errors;
      if (result.tally.first_error.empty()) result.tally.first_error = outcome.tally.first_error;
      result.lost_connections += outcome.lost_connections;
      result.latency.merge(outcome.latency);
    }
    return result;
  }

  const Options& options_;
  std::atomic<std::uint64_t> newest_key_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::atomic<std::size_t> ended_ = 0;
  Clock::time_point last_shown_ = Clock::now();
  std::uint64_t shown_ = 0;
};

int run(const Options& options) {
  allow_descriptors();
  const std::optional<Address> address = Address::of(options);
  if (!address) return 2;
  Run run(options, *address);
  if (const std::string wrong = run.connect(); !wrong.empty()) {
    std::cerr << "error: " << wrong << '\n';
    return 2;
  }
  const Result result = run.measure();
  if (!options.quiet) std::cerr << "\r                                        \r";
  if (options.json_path == "-") {
    write_json(std::cout, result);
  } else {
    write_text(std::cout, result);
    if (!options.json_path.empty()) {
      std::ofstream file(options.json_path);
      write_json(file, result);
      if (!file.flush()) {
        std::cerr << "error: cannot write " << options.json_path << '\n';
        return 2;
      }
    }
  }
  return result.clean() ? 0 : 1;
}

}  // namespace
}  // namespace hs::bench

int main(int argc, char** argv) {
  hs::bench::Options options;
  switch (hs::bench::parse_options(argc, argv, options)) {
    case hs::bench::Parsed::run: return hs::bench::run(options);
    case hs::bench::Parsed::end: return 0;
    case hs::bench::Parsed::wrong: break;
  }
  return 2;
}
