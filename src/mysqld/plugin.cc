#include "mysqld/plugin.h"

#include <memory>
#include <string>

#include "mysqld/host_thread.h"
#include "mysqld/server/logging.h"
#include "mysqld/status_variables.h"
#include "mysqld/system_variables.h"
#include "mysqld/table_store.h"
#include "net/server.h"
#include "session/pass_runner.h"

namespace hs::mysqld {
namespace {

constexpr unsigned streamers = 2;  // of each port

// What one port needs as long as it is served.
struct Port {
  session::RunnerConfig runner;
  TableStoreConfig store;
  HostThreadConfig host;
  std::unique_ptr<net::Server> server;
};

// A worker or streamer: a thread of the server with a store of its own.
class Worker final : public session::PassRunner {
 public:
  // Null if the server shuts down before it has started.
  static std::unique_ptr<Worker> make(const Port& port, CounterBlock& counters) {
    std::unique_ptr<HostThread> host = HostThread::attach(port.host);
    if (host == nullptr) return nullptr;
    HostThread& attached = *host;
    auto store = std::make_unique<TableStore>(std::move(host), port.store, counters);
    return std::unique_ptr<Worker>(new Worker(port, attached, std::move(store), counters));
  }

  bool keep_running() override { return !host_.must_leave(); }
  void idle() override { host_.show_idle(); }

 private:
  Worker(const Port& port, HostThread& host, std::unique_ptr<TableStore> store,
         CounterBlock& counters)
      : PassRunner(port.runner, std::move(store), counters), host_(host) {}

  HostThread& host_;  // the store's
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
  config.idle_timeout = std::chrono::seconds(number_option(Option::timeout));
  config.busy_poll = std::chrono::microseconds(number_option(Option::busy_poll));
  config.max_connections = number_option(Option::max_connections);
  config.max_request_size = number_option(Option::max_request_size);
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
  port->runner.lock_wait_timeout = std::chrono::seconds(number_option(Option::lock_wait_timeout));
  port->store.writes = writes;
  port->store.encoding =
      text_option(Option::character_set) == "binary" ? TextEncoding::column : TextEncoding::utf8mb4;
  port->host.lock_wait_timeout_s =
      static_cast<std::uint32_t>(number_option(Option::lock_wait_timeout));
  return port;
}

// Null if nothing is to be listened on, or cannot be: the server goes on without.
std::unique_ptr<Port> open_port(bool writes) {
  const net::ServerConfig config = network_settings(writes);
  if (config.port.empty() && config.socket_path.empty()) return nullptr;
  std::unique_ptr<Port> port = make_port(writes);
  const auto make_worker =
      [&port = *port](net::Role, CounterBlock& block) -> std::unique_ptr<net::Application> {
    return Worker::make(port, block);
  };
  port->server =
      std::make_unique<net::Server>(config, make_worker, counters(), server::log_warning);
  if (!port->server->start()) return nullptr;
  if (port->runner.session.secret.empty()) {
    server::log_warning(std::string("handlersocket: whoever reaches the ") +
                        (writes ? "write" : "read") + " port " +
                        (writes ? "reads and writes" : "reads") +
                        " every table of this server: no secret is set");
  }
  return port;
}

void log_ignored_options() {
  if (number_option(Option::verbose) == 0) return;
  for (const OptionInfo& info : option_table) {
    if (info.type != OptionType::ignored || number_option(info.option) == info.default_number)
      continue;
    server::log_information(std::string("handlersocket: handlersocket_") + info.name +
                            " is accepted and does nothing");
  }
}

}  // namespace

bool start_plugin() {
  const std::string_view encoding = text_option(Option::character_set);
  if (encoding != "utf8mb4" && encoding != "binary") {
    server::log_error("handlersocket: handlersocket_character_set has to be utf8mb4 or binary");
    return false;
  }
  HostThread::allow_attach();
  log_ignored_options();
  try {
    read_port = open_port(false);
    write_port = open_port(true);
  } catch (const std::exception& error) {
    server::log_error(std::string("handlersocket: ") + error.what());
    return false;
  }
  return true;
}

void stop_plugin() {
  HostThread::interrupt_all();
  read_port.reset();
  write_port.reset();
}

}  // namespace hs::mysqld
