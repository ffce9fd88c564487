#include "mysqld/plugin/ports.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "handlersocket/session/handlersocket.h"
#include "mysqld/accounts/account.h"
#include "mysqld/accounts/log_ins.h"
#include "mysqld/plugin/long_requests.h"
#include "mysqld/plugin/server_check.h"
#include "mysqld/plugin/start_report.h"
#include "mysqld/plugin/status_variables.h"
#include "mysqld/plugin/system_variables.h"
#include "mysqld/server/logging.h"
#include "mysqld/server/table_opening.h"
#include "mysqld/server/tls_context.h"
#include "mysqld/server/worker_thd.h"
#include "mysqld/store/table_store.h"
#include "mysqld/thread/host_thread.h"
#include "mysqld/thread/wait_watch.h"
#include "passes/pass_runner.h"
#include "passes/stream_runner.h"
#include "tls/channel.h"

namespace hs::mysqld {
namespace {

constexpr unsigned streamers = 2;       // for each port
constexpr unsigned log_in_threads = 2;  // the same
constexpr std::chrono::seconds wrong_secret_delay{1};

// Of both ports.
passes::FailedTries& failed_tries() {
  static passes::FailedTries tries(1);
  return tries;
}

void log_wrong_tries(const net::PeerAddress& peer, std::uint64_t count) {
  server::log_warning("handlersocket: failed log-ins from " + peer.text() + ", the latest of " +
                      std::to_string(count) + " since the last such line");
}

// What one port needs while it is served.
struct Port {
  LogIns log_ins;
  session::RunnerConfig runner;
  TableStoreConfig store;
  HostThreadConfig host;
  Setting<std::uint32_t> lock_wait_timeout_s{0};
  tls::ContextSource tls_context;
  std::optional<WaitWatch> watch;  // of a port that writes
  std::unique_ptr<net::Server> server;
};

const char* idle_state(net::Role role, bool writes) {
  switch (role) {
    case net::Role::streamer: return "handlersocket: streamer, waiting for long requests";
    case net::Role::log_in: return "handlersocket: waiting for log-ins";
    case net::Role::remote: return "handlersocket: waiting for requests to other servers";
    case net::Role::waiter: return "handlersocket: waiting for writes that meet locked rows";
    case net::Role::worker: break;
  }
  return writes ? "handlersocket: writer, waiting for requests"
                : "handlersocket: reader, waiting for requests";
}

// So many open indexes of one worker are told of. More would keep it busy for milliseconds.
constexpr std::size_t most_reported_indexes = 10'000;

struct IndexReport final : net::Report {
  std::vector<TableStore::OpenedIndex> indexes;
};

// The application of a thread of the server that has a store of its own. `Runner` is that of a worker
// or of any other thread.
template <class Runner>
class Hosted : public Runner {
 public:
  // Null if the server shuts down before it has started.
  template <class Application>
  static std::unique_ptr<Application> make(const Port& port, net::Role role,
                                           CounterBlock& counters) {
    const bool streams = role != net::Role::worker;
    HostThreadConfig thread = port.host;
    thread.idle_state = idle_state(role, port.store.writes);
    thread.waits_for_rows = streams;
    if (streams) thread.watch = nullptr;
    std::unique_ptr<HostThread> host = HostThread::attach(thread);
    if (host == nullptr) return nullptr;
    HostThread& attached = *host;
    TableStoreConfig config = port.store;
    config.streams = streams;
    if (role == net::Role::remote) config.remote_tables = RemoteTables::served;
    auto store = std::make_unique<TableStore>(std::move(host), config, counters);
    return std::make_unique<Application>(port, role, attached, std::move(store), counters);
  }

  Hosted(const Port& port, net::Role role, HostThread& host, std::unique_ptr<TableStore> store,
         CounterBlock& counters)
      : Runner(port.runner, std::move(store), session::handlersocket(port.runner), counters),
        port_(port),
        departures_are_mine_(role == net::Role::log_in),
        host_(host) {}

  bool keep_running() override {
    if (departures_are_mine_) port_.log_ins.tell_departures();
    return !host_.must_leave();
  }
  // A worker comes here when its connections have ended.
  void stop() override { port_.log_ins.tell_departures(); }
  void idle() override { host_.show_idle(); }

 protected:
  HostThread& host() { return host_; }

 private:
  const Port& port_;
  const bool departures_are_mine_;
  HostThread& host_;  // of the store
};

class HostedWorker final : public Hosted<passes::PassRunner> {
 public:
  using Hosted::Hosted;

  bool start() override {
    check_server_on_worker(host().thd());
    return true;
  }
  std::unique_ptr<net::Report> report() override {
    auto report = std::make_unique<IndexReport>();
    report->indexes = static_cast<TableStore&>(store()).opened_indexes(most_reported_indexes);
    return report;
  }
};

class HostedStreamer final : public Hosted<passes::StreamRunner> {
 public:
  using Hosted::Hosted;

  bool killed() override { return host().killed(); }
};

// A thread that asks about connections keeps its ports until it has its answer. Only the thread
// that opens and closes them changes these pointers.
std::mutex mutex;
std::shared_ptr<Port> read_port;
std::shared_ptr<Port> write_port;

std::shared_ptr<Port> port_of(bool writes) {
  const std::lock_guard lock(mutex);
  return writes ? write_port : read_port;
}

void set_port(bool writes, std::shared_ptr<Port> port) {
  const std::lock_guard lock(mutex);
  (writes ? write_port : read_port) = std::move(port);
}

std::chrono::seconds seconds_of(Option option) {
  return std::chrono::seconds(number_option(option));
}

// What SET GLOBAL may change.
void take_live_settings(net::ServerConfig& config) {
  config.stream_patience = seconds_of(Option::stream_patience);
  config.idle_timeout = seconds_of(Option::timeout);
  config.remote_patience = seconds_of(Option::lock_wait_timeout);
  config.busy_poll = std::chrono::microseconds(number_option(Option::busy_poll));
  config.max_connections = number_option(Option::max_connections);
  config.max_request_size = number_option(Option::max_request_size);
  config.max_strangers = number_option(Option::max_unauthenticated);
  config.log_in_timeout = seconds_of(Option::log_in_timeout);
}
void take_live_settings(Port& port) {
  const std::chrono::seconds lock_wait_timeout = seconds_of(Option::lock_wait_timeout);
  failed_tries().set_most_a_second(number_option(Option::max_wrong_log_ins));
  port.runner.session.max_open_indexes = number_option(Option::max_open_indexes);
  port.runner.max_request_size = number_option(Option::max_request_size);
  port.runner.max_request_time = seconds_of(Option::max_request_time);
  port.runner.long_request_time = seconds_of(Option::long_request_time);
  port.runner.lock_wait_timeout = lock_wait_timeout;
  port.lock_wait_timeout_s = static_cast<std::uint32_t>(lock_wait_timeout.count());
  if (port.watch) port.watch->set_wait(std::chrono::milliseconds(number_option(Option::row_wait)));
}

unsigned remote_threads() {
  return server::has_remote_tables() ? static_cast<unsigned>(number_option(Option::threads_remote))
                                     : 0;
}

net::ServerConfig network_settings(bool writes) {
  net::ServerConfig config;
  config.address = text_option(Option::address);
  config.port = text_option(writes ? Option::port_wr : Option::port);
  config.socket_path = text_option(writes ? Option::socket_wr : Option::socket);
  config.socket_mode = net::file_mode(text_option(Option::socket_mode)).value_or(0);
  config.socket_group = text_option(Option::socket_group);
  config.backlog = static_cast<int>(number_option(Option::backlog));
  config.send_buffer = static_cast<int>(number_option(Option::sndbuf));
  config.receive_buffer = static_cast<int>(number_option(Option::rcvbuf));
  config.workers =
      static_cast<unsigned>(number_option(writes ? Option::threads_wr : Option::threads));
  config.streamers = streamers;
  config.log_in_threads = log_in_threads;
  config.remote_threads = remote_threads();
  if (writes) config.waiters = static_cast<unsigned>(number_option(Option::threads_waiting));
  take_live_settings(config);
  config.waiting = &waiting_bytes();
  if (const std::uint64_t size = number_option(Option::readsize); size != 0)
    config.read_size = size;
  return config;
}

bool tls_is(std::string_view wanted) { return text_option(Option::tls) == wanted; }

void set_up_tls(net::ServerConfig& config, const tls::ContextSource& context) {
  config.plain_is_refused = [is_required = tls_is("REQUIRED")] {
    return is_required || server::requires_secure_transport();
  };
  if (tls_is("OFF")) return;
  config.filter = [&context](int socket, std::string_view begin) {
    return std::make_unique<tls::TlsChannel>(socket, begin, context);
  };
}

// Null if none is set. The settings were checked, so the name can be parsed.
std::shared_ptr<const Account> account_of(Account::Role role) {
  return Account::parse(
      role, live_text_option(role == Account::Role::anonymous ? Option::anonymous_account
                                                              : Option::secret_account));
}

void take_accounts(session::SessionConfig& session) {
  session.anonymous = account_of(Account::Role::anonymous);
  session.trusted = account_of(Account::Role::trusted);
}

std::unique_ptr<Port> make_port(bool writes) {
  auto port = std::make_unique<Port>();
  port->runner.session.writable = writes;
  port->runner.session.secret =
      text_option(writes ? Option::plain_secret_wr : Option::plain_secret);
  take_accounts(port->runner.session);
  port->runner.session.authenticator = &port->log_ins;
  port->tls_context = [] { return tls::Context(server::tls_context()); };
  port->runner.note_long_request = log_long_request;
  port->runner.session.wrong_secret_delay = wrong_secret_delay;
  port->runner.session.tries = &failed_tries();
  port->runner.session.note_wrong_tries = log_wrong_tries;
  port->store.writes = writes;
  if (remote_threads() != 0) port->store.remote_tables = RemoteTables::handed_over;
  port->store.encoding =
      text_option(Option::character_set) == "binary" ? TextEncoding::column : TextEncoding::utf8mb4;
  port->store.databases =
      DatabaseList::parse(text_option(Option::databases)).value_or(DatabaseList());
  port->host.lock_wait_timeout_s = &port->lock_wait_timeout_s;
  if (writes) port->host.watch = &port->watch.emplace(std::chrono::milliseconds(0));
  take_live_settings(*port);
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

std::string as_whom(const session::SessionConfig& session) {
  std::string text;
  if (const auto anonymous = session.anonymous.get(); anonymous != nullptr)
    text += "; clients act as " + std::string(anonymous->name());
  else
    text += "; clients have to log in";
  if (const auto trusted = session.trusted.get(); trusted != nullptr && !session.secret.empty())
    text += "; with the secret as " + std::string(trusted->name());
  return text;
}

void say_where_it_listens(net::Server& server, const session::SessionConfig& session, bool writes) {
  if (number_option(Option::verbose) == 0) return;
  const unsigned workers = server.config().workers;
  server::log_milestone("handlersocket: listens on " + list_of(server.places()) + " for reading" +
                        (writes ? " and writing" : "") + ", with " + std::to_string(workers) +
                        (workers == 1 ? " worker" : " workers") + as_whom(session));
}

// Null if there is nothing to listen on, or if listening fails. The server continues without this
// port.
std::unique_ptr<Port> open_port(bool writes) {
  net::ServerConfig config = network_settings(writes);
  if (config.port.empty() && config.socket_path.empty()) return nullptr;
  std::unique_ptr<Port> port = make_port(writes);
  set_up_tls(config, port->tls_context);
  const net::ApplicationFactory applications{
      .make_worker =
          [&port = *port](CounterBlock& block) {
            return HostedWorker::make<HostedWorker>(port, net::Role::worker, block);
          },
      .make_streamer =
          [&port = *port](net::Role role, CounterBlock& block) {
            return HostedStreamer::make<HostedStreamer>(port, role, block);
          }};
  port->server = std::make_unique<net::Server>(config, applications, counters(writes), log);
  return port->server->start() ? std::move(port) : nullptr;
}

}  // namespace

void open_ports() {
  set_port(false, open_port(false));
  set_port(true, open_port(true));
}

void say_where_ports_listen() {
  for (const bool writes : {false, true}) {
    if (const std::shared_ptr<Port> port = port_of(writes))
      say_where_it_listens(*port->server, port->runner.session, writes);
  }
}

void warn_if_nobody_may_do_anything() {
  std::string shut;
  for (const bool writes : {false, true}) {
    const std::shared_ptr<Port> port = port_of(writes);
    if (port == nullptr) continue;
    const session::SessionConfig& session = port->runner.session;
    const std::string name = writes ? "write port" : "read port";
    const bool has_trusted = session.trusted.get() != nullptr;
    if (!session.secret.empty() && !has_trusted) {
      log(net::LogLevel::warning, "handlersocket: no client can use the secret of the " + name +
                                      ": handlersocket_secret_account is not set");
    }
    if (session.anonymous.get() == nullptr && (session.secret.empty() || !has_trusted))
      shut += (shut.empty() ? "the " : " and the ") + name;
  }
  if (shut.empty()) return;
  log(net::LogLevel::warning,
      "handlersocket: no client may do anything at " + shut +
          " before it logs in with a user and a password (A 2), because no account is set. To "
          "serve "
          "clients that do not, create an account, grant it what they need, and set "
          "handlersocket_anonymous_account = user@host");
}

void apply_settings() {
  for (const bool writes : {false, true}) {
    const std::shared_ptr<Port> port = port_of(writes);
    if (port == nullptr) continue;
    take_live_settings(*port);
    take_live_settings(port->server->config());
  }
}

void apply_accounts() {
  for (const bool writes : {false, true}) {
    if (const std::shared_ptr<Port> port = port_of(writes)) take_accounts(port->runner.session);
  }
}

void close_ports() {
  for (const bool writes : {false, true}) {
    const std::shared_ptr<Port> port = port_of(writes);
    if (port == nullptr) continue;
    port->server->stop();
    set_port(writes, nullptr);
  }
}

PortConnections connections_of(bool write_port) {
  PortConnections connections{.port = write_port ? "write" : "read",
                              .list = {.connections = {}, .is_complete = true}};
  // A worker that asks in a trigger would wait for its own answer.
  connections.list.is_complete = !server::is_own_thread();
  if (!connections.list.is_complete) return connections;
  const std::shared_ptr<Port> port = port_of(write_port);
  if (port != nullptr) connections.list = port->server->describe_connections(patience_with_workers);
  return connections;
}

OpenIndexes open_indexes_of(bool write_port) {
  OpenIndexes open;
  open.port = write_port ? "write" : "read";
  open.is_complete = !server::is_own_thread();
  if (!open.is_complete) return open;
  const std::shared_ptr<Port> port = port_of(write_port);
  if (port == nullptr) return open;
  const net::ReportList list = port->server->ask_applications(patience_with_workers);
  open.is_complete = list.is_complete;
  for (const auto& report : list.reports) {
    const auto& indexes = static_cast<const IndexReport&>(*report).indexes;
    open.is_complete &= indexes.size() < most_reported_indexes;
    for (const TableStore::OpenedIndex& index : indexes) {
      const auto [known, is_new] = open.indexes.try_emplace(index.names, index);
      if (is_new) continue;
      known->second.opened += index.opened;
      known->second.requests += index.requests;
    }
  }
  return open;
}

net::Closing close_connection(std::uint64_t id) {
  net::Closing closing = net::Closing::unknown;
  for (const bool writes : {false, true}) {
    const std::shared_ptr<Port> port = port_of(writes);
    if (port == nullptr) continue;
    const net::Closing of_port = port->server->close_connection(id, patience_with_workers);
    if (of_port == net::Closing::begun) return of_port;
    if (of_port == net::Closing::unanswered) closing = of_port;
  }
  return closing;
}

}  // namespace hs::mysqld
