// hs-memory-server: the whole front end over tables in memory.
//
// It is for tests, for fuzzing and for measuring how fast the front end itself is. It serves
// test.user with as many rows as asked for, and the small tables of the golden dialogues, until it
// is interrupted.
#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "base/counters.h"
#include "handlersocket/session/handlersocket.h"
#include "net/server.h"
#include "passes/pass_runner.h"
#include "passes/stream_runner.h"
#include "store/authenticator.h"
#include "store/memory_store.h"
#include "store/sample_tables.h"

namespace {

// The options of one port, and the configurations made from them.
struct Port {
  hs::net::ServerConfig server;
  hs::handlersocket::RunnerConfig runner;
};

// There are no accounts, so every log-in fails.
class NoAccounts final : public hs::store::Authenticator {
 public:
  hs::store::LogIn log_in(const hs::store::Credentials& /*who*/) const override {
    return {.status = hs::Error::wrong_log_in, .caller = nullptr};
  }
};

hs::net::Server make_server(const Port& port, hs::store::MemoryDatabase& database) {
  const auto access =
      port.runner.session.writable ? hs::store::Access::write : hs::store::Access::read;
  const auto make_store = [&database, access](hs::ThreadCounters& counters) {
    return std::make_unique<hs::store::MemoryStore>(database, access, counters.own());
  };
  const std::array protocols{hs::handlersocket::handlersocket(port.runner)};
  hs::net::ApplicationFactory applications{
      .make_worker =
          [=, &port](std::size_t, hs::ThreadCounters& counters) {
            return std::make_unique<hs::passes::PassRunner>(port.runner, make_store(counters),
                                                            protocols, counters.blocks());
          },
      .make_streamer =
          [=, &port](std::size_t, hs::net::Role, hs::ThreadCounters& counters) {
            return std::make_unique<hs::passes::StreamRunner>(port.runner, make_store(counters),
                                                              protocols, counters.blocks());
          }};
  auto log = [](hs::net::LogLevel, const std::string& line) {
    std::fprintf(stderr, "%s\n", line.c_str());
  };
  return {port.server, std::move(applications), log};
}

void wait_for_end() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  int received = 0;
  sigwait(&signals, &received);
}

// Called before any thread is started, so that all threads leave the signals to wait_for_end().
void block_end_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

int serve(int argc, char** argv) {
  Port read;
  Port write;
  write.runner.session.writable = true;
  read.runner.session.server = write.runner.session.server = "hs-memory-server";
  hs::CounterSet counters;
  for (Port* port : {&read, &write})
    port->server.ports.push_back({.protocol = "HandlerSocket", .counters = &counters});
  hs::net::PortConfig& reading = read.server.ports.front();
  hs::net::PortConfig& writing = write.server.ports.front();
  reading.port = "9998";
  writing.port = "9999";
  std::uint64_t rows = 1000;
  std::size_t max_request_size = read.runner.max_request_size.get();
  unsigned timeout = 300;

  CLI::App app("HandlerSocket's front end over tables in memory");
  app.add_option("--port", reading.port, "TCP port for reads; 0: any, empty: none")
      ->capture_default_str();
  app.add_option("--port-wr", writing.port, "TCP port for reads and writes")->capture_default_str();
  app.add_option("--socket", reading.socket_path, "Unix socket for reads");
  app.add_option("--socket-wr", writing.socket_path, "Unix socket for reads and writes");
  app.add_option("--threads", read.server.crews.front().workers, "workers of the read port")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--threads-wr", write.server.crews.front().workers, "workers of the write port")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--rows", rows, "rows of test.user")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{50'000'000}))
      ->capture_default_str();
  app.add_option("--secret", read.runner.session.secret, "secret of the read port");
  app.add_option("--secret-wr", write.runner.session.secret, "secret of the write port");
  app.add_option("--max-request-size", max_request_size, "bytes of the longest request")
      ->check(CLI::Range(std::size_t{64}, std::size_t{1} << 30))
      ->capture_default_str();
  app.add_option("--timeout", timeout, "seconds until an idle connection is closed; 0: never")
      ->check(CLI::Range(0u, 31'536'000u))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const NoAccounts no_accounts;
  for (Port* port : {&read, &write}) {
    port->server.crews.front().log_in_threads = 1;
    port->runner.session.authenticator = &no_accounts;
    port->server.max_request_size = port->runner.max_request_size = max_request_size;
    port->server.idle_timeout = std::chrono::seconds{timeout};
    if (!port->runner.session.secret.empty()) port->runner.session.anonymous = nullptr;
  }

  block_end_signals();
  hs::store::MemoryDatabase database;
  hs::store::add_golden_tables(database);
  hs::store::add_user_table(database, rows);
  hs::net::Server read_server = make_server(read, database);
  hs::net::Server write_server = make_server(write, database);
  if (!read_server.start() || !write_server.start()) return 1;
  std::printf("reads on %u, writes on %u\n", read_server.bound_port(), write_server.bound_port());
  std::fflush(stdout);
  wait_for_end();
  write_server.stop();
  read_server.stop();
  for (const hs::CounterInfo& info : hs::counter_table) {
    std::fprintf(stderr, "%-22s %llu\n", std::string(info.name).c_str(),
                 static_cast<unsigned long long>(counters.sum(info.counter)));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return serve(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hs-memory-server: %s\n", error.what());
    return 1;
  }
}
