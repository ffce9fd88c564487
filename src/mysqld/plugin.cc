// The plugin as the server loads it: its declaration, and the two network
// servers that live between init and deinit. Both are called by one of the
// server's own threads at a time.
#include <memory>
#include <string>

#include "mysqld/host_thread.h"
#include "mysqld/server_api.h"
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
  Worker(const Port& port, HostThread& host, std::unique_ptr<TableStore> store, CounterBlock& counters)
      : PassRunner(port.runner, std::move(store), counters), host_(host) {}

  HostThread& host_;  // the store's
};

std::unique_ptr<Port> read_port;
std::unique_ptr<Port> write_port;

// What net/ has to say is always a problem.
void log_line(const std::string& line) { sql_print_warning("%s", line.c_str()); }

net::ServerConfig network_settings(bool writes) {
  net::ServerConfig config;
  config.address = text_option(Option::address);
  config.port = text_option(writes ? Option::port_wr : Option::port);
  config.socket_path = text_option(writes ? Option::socket_wr : Option::socket);
  config.backlog = static_cast<int>(number_option(Option::backlog));
  config.send_buffer = static_cast<int>(number_option(Option::sndbuf));
  config.receive_buffer = static_cast<int>(number_option(Option::rcvbuf));
  config.workers = static_cast<unsigned>(number_option(writes ? Option::threads_wr : Option::threads));
  config.streamers = streamers;
  config.idle_timeout = std::chrono::seconds(number_option(Option::timeout));
  config.max_connections = number_option(Option::max_connections);
  config.max_request_size = number_option(Option::max_request_size);
  if (const std::uint64_t size = number_option(Option::readsize); size != 0) config.read_size = size;
  return config;
}

std::unique_ptr<Port> make_port(bool writes) {
  auto port = std::make_unique<Port>();
  port->runner.session.writable = writes;
  port->runner.session.secret = text_option(writes ? Option::plain_secret_wr : Option::plain_secret);
  port->runner.max_request_size = number_option(Option::max_request_size);
  port->runner.lock_wait_timeout = std::chrono::seconds(number_option(Option::lock_wait_timeout));
  port->store.writes = writes;
  port->store.encoding =
      text_option(Option::character_set) == "binary" ? TextEncoding::column : TextEncoding::utf8mb4;
  port->host.lock_wait_timeout_s = static_cast<std::uint32_t>(number_option(Option::lock_wait_timeout));
  return port;
}

// Null if nothing is to be listened on, or cannot be: the server goes on without.
std::unique_ptr<Port> open_port(bool writes) {
  const net::ServerConfig config = network_settings(writes);
  if (config.port.empty() && config.socket_path.empty()) return nullptr;
  std::unique_ptr<Port> port = make_port(writes);
  const auto make_worker = [&port = *port](net::Role, CounterBlock& block) -> std::unique_ptr<net::Application> {
    return Worker::make(port, block);
  };
  port->server = std::make_unique<net::Server>(config, make_worker, counters(), log_line);
  if (!port->server->start()) return nullptr;
  if (port->runner.session.secret.empty()) {
    sql_print_warning("handlersocket: whoever reaches the %s port %s every table of this server: no secret is set",
                      writes ? "write" : "read", writes ? "reads and writes" : "reads");
  }
  return port;
}

void log_ignored_options() {
  if (number_option(Option::verbose) == 0) return;
  for (const OptionInfo& info : option_table) {
    if (info.type != OptionType::ignored || number_option(info.option) == info.default_number) continue;
    sql_print_information("handlersocket: handlersocket_%s is accepted and does nothing", info.name);
  }
}

int init(void* /*plugin*/) {
  const std::string_view encoding = text_option(Option::character_set);
  if (encoding != "utf8mb4" && encoding != "binary") {
    sql_print_error("handlersocket: handlersocket_character_set has to be utf8mb4 or binary");
    return 1;
  }
  HostThread::allow_attach();
  log_ignored_options();
  try {
    read_port = open_port(false);
    write_port = open_port(true);
  } catch (const std::exception& error) {
    sql_print_error("handlersocket: %s", error.what());
    return 1;
  }
  return 0;
}

int deinit(void* /*plugin*/) {
  HostThread::interrupt_all();
  read_port.reset();
  write_port.reset();
  return 0;
}

st_mysql_daemon descriptor{MYSQL_DAEMON_INTERFACE_VERSION};

}  // namespace
}  // namespace hs::mysqld

#pragma GCC visibility push(default)
maria_declare_plugin(handlersocket){
    MYSQL_DAEMON_PLUGIN,
    &hs::mysqld::descriptor,
    "handlersocket",
    "HandlerSocket 2",
    "Reads and writes tables over the HandlerSocket protocol",
    PLUGIN_LICENSE_GPL,
    hs::mysqld::init,
    hs::mysqld::deinit,
    0x0200,
    hs::mysqld::status_variables(),
    hs::mysqld::system_variables(),
    "2.0",
    MariaDB_PLUGIN_MATURITY_STABLE,
} maria_declare_plugin_end;
#pragma GCC visibility pop
