// hs-bench: load for a HandlerSocket server, and for the servers with which it is compared.
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>

#include "load/beside.h"
#include "load/client.h"
#include "load/meter.h"
#include "load/options.h"

namespace hs::bench {
namespace {

// Most systems allow thousands of connections only if the process asks for them.
void allow_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int run(const Options& options) {
  allow_descriptors();
  std::signal(SIGPIPE, SIG_IGN);  // the TLS library writes to connections that have ended
  const std::optional<Address> address = Address::of(options);
  if (!address) return 2;
  if (!options.beside.empty()) return run_beside(options, *address);

  std::atomic<std::uint64_t> newest_key = options.keys.first + options.keys.count - 1;
  std::vector<std::unique_ptr<Client>> clients;
  for (std::uint32_t i = 0; i < options.threads; ++i) {
    const std::uint32_t connections =
        options.connections / options.threads + (i < options.connections % options.threads ? 1 : 0);
    clients.push_back(std::make_unique<Client>(options, *address, connections, newest_key,
                                               options.seed * 1'000'003 + i));
    if (const std::string wrong = clients.back()->connect(); !wrong.empty()) {
      std::cerr << "error: " << wrong << '\n';
      return 2;
    }
  }

  std::atomic<std::size_t> ended = 0;
  const auto done = [&] {
    std::uint64_t sum = 0;
    for (const auto& client : clients) sum += client->done();
    return sum;
  };
  Meter meter(options, done, [&] { return ended.load() == clients.size(); });
  Result result;
  {
    const Timeline timeline = Timeline::starting_now(options);
    std::vector<std::jthread> threads;
    threads.reserve(clients.size());
    for (const auto& client : clients) {
      threads.emplace_back([&ended, &client = *client, timeline] {
        client.run(timeline);
        ended.fetch_add(1);
      });
    }
    meter.watch(timeline, result);
  }
  for (const auto& client : clients) {
    const Outcome& outcome = client->outcome();
    result.add(outcome.tally);
    result.lost_connections += outcome.lost_connections;
    result.latency.merge(outcome.latency);
  }
  return deliver(options, result);
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
