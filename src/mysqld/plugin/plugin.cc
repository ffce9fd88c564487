#include "mysqld/plugin/plugin.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "mysqld/plugin/connection_limit.h"
#include "mysqld/plugin/settings_check.h"
#include "mysqld/plugin/start_report.h"
#include "mysqld/plugin/status_variables.h"
#include "mysqld/plugin/system_variables.h"
#include "mysqld/plugin/worker_count.h"
#include "mysqld/server/logging.h"
#include "mysqld/store/table_store.h"
#include "mysqld/thread/host_thread.h"
#include "net/server.h"
#include "session/pass_runner.h"

namespace hs::mysqld {
namespace {

constexpr unsigned streamers = 2;  // for each port
constexpr std::chrono::seconds wrong_secret_delay{1};

// What one port needs while it is served.
struct Port {
  session::RunnerConfig runner;
  TableStoreConfig store;
  HostThreadConfig host;
  std::unique_ptr<net::Server> server;
};

// A worker or streamer: a thread of the server with a store of its own.
class HostedRunner final : public session::PassRunner {
 public:
  // Null if the server shuts down before it has started.
  static std::unique_ptr<HostedRunner> make(const Port& port, net::Role role,
                                            CounterBlock& counters) {
    const bool streams = role == net::Role::streamer;
    HostThreadConfig thread = port.host;
    thread.waits_for_rows = streams;
    std::unique_ptr<HostThread> host = HostThread::attach(thread);
    if (host == nullptr) return nullptr;
    HostThread& attached = *host;
    TableStoreConfig config = port.store;
    config.streams = streams;
    auto store = std::make_unique<TableStore>(std::move(host), config, counters);
    return std::unique_ptr<HostedRunner>(
        new HostedRunner(port, attached, std::move(store), counters));
  }

  bool keep_running() override { return !host_.must_leave(); }
  void idle() override { host_.show_idle(); }
  bool killed() override { return host_.killed(); }

 private:
  HostedRunner(const Port& port, HostThread& host, std::unique_ptr<TableStore> store,
               CounterBlock& counters)
      : PassRunner(port.runner, std::move(store), counters), host_(host) {}

  HostThread& host_;  // of the store
};

std::unique_ptr<Port> read_port;
std::unique_ptr<Port> write_port;

net::ServerConfig network_settings(bool writes) {
  net::ServerConfig config;
  config.address = text_option(Option::address);
  config.port = text_option(writes ? Option::port_wr : Option::port);
  config.socket_path = text_option(writes ? Option::socket_wr : Option::socket);
  config.backlog = static_cast<int>(number_option(Option::backlog));
  config.send_buffer = static_cast<int>(number_option(Option::sndbuf));
  config.receive_buffer = static_cast<int>(number_option(Option::rcvbuf));
  config.workers =
      static_cast<unsigned>(number_option(writes ? Option::threads_wr : Option::threads));
  config.streamers = streamers;
  config.stream_patience = std::chrono::seconds(number_option(Option::stream_patience));
  config.idle_timeout = std::chrono::seconds(number_option(Option::timeout));
  config.busy_poll = std::chrono::microseconds(number_option(Option::busy_poll));
  config.max_connections = number_option(Option::max_connections);
  config.max_request_size = number_option(Option::max_request_size);
  config.waiting = &waiting_bytes();
  if (const std::uint64_t size = number_option(Option::readsize); size != 0)
    config.read_size = size;
  return config;
}

std::unique_ptr<Port> make_port(bool writes) {
  auto port = std::make_unique<Port>();
  port->runner.session.writable = writes;
  port->runner.session.secret =
      text_option(writes ? Option::plain_secret_wr : Option::plain_secret);
  port->runner.max_request_size = number_option(Option::max_request_size);
  port->runner.wrong_secret_delay = wrong_secret_delay;
  port->runner.lock_wait_timeout = std::chrono::seconds(number_option(Option::lock_wait_timeout));
  port->store.writes = writes;
  port->store.encoding =
      text_option(Option::character_set) == "binary" ? TextEncoding::column : TextEncoding::utf8mb4;
  port->host.lock_wait_timeout_s =
      static_cast<std::uint32_t>(number_option(Option::lock_wait_timeout));
  return port;
}

std::string list_of(const std::vector<std::string>& places) {
  std::string list;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i > 0) list += i + 1 == places.size() ? " and " : ", ";
    list += places[i];
  }
  return list;
}

void say_where_it_listens(const net::Server& server, bool writes, unsigned workers) {
  if (number_option(Option::verbose) == 0) return;
  server::log_milestone("handlersocket: listens on " + list_of(server.places()) + " for reading" +
                        (writes ? " and writing" : "") + ", with " + std::to_string(workers) +
                        (workers == 1 ? " worker" : " workers"));
}

// Null if there is nothing to listen on, or if listening fails. The server continues without this
// port.
std::unique_ptr<Port> open_port(bool writes) {
  const net::ServerConfig config = network_settings(writes);
  if (config.port.empty() && config.socket_path.empty()) return nullptr;
  std::unique_ptr<Port> port = make_port(writes);
  const auto make_runner =
      [&port = *port](net::Role role, CounterBlock& block) -> std::unique_ptr<net::Application> {
    return HostedRunner::make(port, role, block);
  };
  port->server = std::make_unique<net::Server>(config, make_runner, counters(), log);
  if (!port->server->start()) return nullptr;
  say_where_it_listens(*port->server, writes, config.workers);
  if (port->runner.session.secret.empty()) {
    server::log_warning(std::string("handlersocket: whoever reaches the ") +
                        (writes ? "write" : "read") + " port " +
                        (writes ? "reads and writes" : "reads") +
                        " every table of this server: no secret is set");
  }
  return port;
}

// One request may take half of the memory for waiting bytes, because it exists twice while its
// buffer grows.
void fit_requests_to_memory() {
  const std::uint64_t limit = number_option(Option::max_waiting_bytes);
  const std::uint64_t wanted = number_option(Option::max_request_size);
  waiting_bytes().set_limit(limit);
  if (wanted <= limit / 2) return;
  set_number_option(Option::max_request_size, limit / 2);
  server::log_warning("handlersocket: handlersocket_max_request_size is " +
                      std::to_string(limit / 2) + " instead of " + std::to_string(wanted) +
                      ": a request may take half of handlersocket_max_waiting_bytes (" +
                      std::to_string(limit) + ")");
}

void say_that_it_listens_nowhere() {
  log(net::LogLevel::warning,
      "handlersocket: listens nowhere, because no port is set. Set handlersocket_port (reading) "
      "and "
      "handlersocket_port_wr (reading and writing) in the server's option file, then restart the "
      "server");
}

void open_ports() {
  fit_threads_to_cores();
  fit_connections_to_descriptors();
  fit_requests_to_memory();
  read_port = open_port(false);
  write_port = open_port(true);
}

}  // namespace

bool start_plugin() {
  const StartReport report;
  HostThread::allow_attach();
  try {
    if (!settings_can_be_meant()) return false;
    if (!listens_anywhere()) {
      say_that_it_listens_nowhere();
      return true;
    }
    name_settings_without_effect();
    open_ports();
    if (!report.fails_install()) return true;
  } catch (const std::exception& error) {
    log(net::LogLevel::error, std::string("handlersocket: ") + error.what());
  }
  // After a failed init the server unloads the library without a call to deinit.
  stop_plugin();
  return false;
}

void stop_plugin() {
  HostThread::interrupt_all();
  read_port.reset();
  write_port.reset();
}

}  // namespace hs::mysqld
