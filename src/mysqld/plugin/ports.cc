#include "mysqld/plugin/ports.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mysqld/accounts/account.h"
#include "mysqld/accounts/log_ins.h"
#include "mysqld/plugin/long_requests.h"
#include "mysqld/plugin/port_protocol.h"
#include "mysqld/plugin/server_check.h"
#include "mysqld/plugin/settings_check.h"
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

constexpr unsigned streamers = 2;       // for each group of ports
constexpr unsigned log_in_threads = 2;  // the same
constexpr std::chrono::seconds wrong_secret_delay{1};

// Of all ports.
passes::FailedTries& failed_tries() {
  static passes::FailedTries tries(1);
  return tries;
}

void log_wrong_tries(const net::PeerAddress& peer, std::uint64_t count) {
  server::log_warning("handlersocket: failed log-ins from " + peer.text() + ", the latest of " +
                      std::to_string(count) + " since the last such line");
}

// A port that has somewhere to listen.
struct Port {
  std::size_t number;  // in the table
  session::RunnerConfig runner;
};

// The ports that one port's workers serve together, and what they need meanwhile.
struct PortGroup {
  std::deque<Port> ports;                       // one at least, by their numbers in the server
  std::vector<passes::MakeProtocol> protocols;  // the same
  LogIns log_ins;
  TableStoreConfig store;
  HostThreadConfig host;
  Setting<std::uint32_t> lock_wait_timeout_s{0};
  tls::ContextSource tls_context;
  std::optional<WaitWatch> watch;  // if one of them writes
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
  static std::unique_ptr<Application> make(const PortGroup& group, net::Role role,
                                           ThreadCounters& counters) {
    const bool streams = role != net::Role::worker;
    HostThreadConfig thread = group.host;
    thread.idle_state = idle_state(role, group.store.writes);
    thread.waits_for_rows = streams;
    if (streams) thread.watch = nullptr;
    std::unique_ptr<HostThread> host = HostThread::attach(thread);
    if (host == nullptr) return nullptr;
    HostThread& attached = *host;
    TableStoreConfig config = group.store;
    config.streams = streams;
    if (role == net::Role::remote) config.remote_tables = RemoteTables::served;
    auto store = std::make_unique<TableStore>(std::move(host), config, counters.own());
    return std::make_unique<Application>(group, role, attached, std::move(store), counters);
  }

  Hosted(const PortGroup& group, net::Role role, HostThread& host,
         std::unique_ptr<TableStore> store, ThreadCounters& counters)
      : Runner(group.ports.front().runner, std::move(store), group.protocols, counters.blocks()),
        group_(group),
        departures_are_mine_(role == net::Role::log_in),
        host_(host) {}

  bool keep_running() override {
    if (departures_are_mine_) group_.log_ins.tell_departures();
    return !host_.must_leave();
  }
  // A worker comes here when its connections have ended.
  void stop() override { group_.log_ins.tell_departures(); }
  void idle() override { host_.show_idle(); }

 protected:
  HostThread& host() { return host_; }

 private:
  const PortGroup& group_;
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
// that opens and closes them changes these pointers. Each has the number of the port whose workers
// serve the group.
std::mutex mutex;
std::array<std::shared_ptr<PortGroup>, port_count> open_groups;

std::shared_ptr<PortGroup> group_of(std::size_t workers) {
  const std::lock_guard lock(mutex);
  return open_groups[workers];
}

void set_group(std::size_t workers, std::shared_ptr<PortGroup> group) {
  const std::lock_guard lock(mutex);
  open_groups[workers] = std::move(group);
}

std::vector<std::shared_ptr<PortGroup>> all_groups() {
  const std::lock_guard lock(mutex);
  std::vector<std::shared_ptr<PortGroup>> groups;
  std::ranges::copy_if(open_groups, std::back_inserter(groups),
                       [](const auto& group) { return group != nullptr; });
  return groups;
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
void take_live_settings(session::RunnerConfig& runner) {
  runner.session.max_open_indexes = number_option(Option::max_open_indexes);
  runner.max_request_size = number_option(Option::max_request_size);
  runner.max_request_time = seconds_of(Option::max_request_time);
  runner.long_request_time = seconds_of(Option::long_request_time);
  runner.lock_wait_timeout = seconds_of(Option::lock_wait_timeout);
}
void take_live_settings(PortGroup& group) {
  failed_tries().set_most_a_second(number_option(Option::max_wrong_log_ins));
  for (Port& port : group.ports) take_live_settings(port.runner);
  group.lock_wait_timeout_s =
      static_cast<std::uint32_t>(seconds_of(Option::lock_wait_timeout).count());
  if (group.watch)
    group.watch->set_wait(std::chrono::milliseconds(number_option(Option::row_wait)));
}

unsigned remote_threads() {
  return server::has_remote_tables() ? static_cast<unsigned>(number_option(Option::threads_remote))
                                     : 0;
}

net::PortConfig port_settings(std::size_t number) {
  return {.port = std::string(text_option(option_of(number, PortOption::port))),
          .socket_path = std::string(text_option(option_of(number, PortOption::socket))),
          .protocol = std::string(port_table[number].protocol->name),
          .counters = &counters(number)};
}

net::ServerConfig network_settings(std::size_t workers, const PortGroup& group) {
  net::ServerConfig config;
  for (const Port& port : group.ports) config.ports.push_back(port_settings(port.number));
  config.address = text_option(Option::address);
  config.socket_mode = net::file_mode(text_option(Option::socket_mode)).value_or(0);
  config.socket_group = text_option(Option::socket_group);
  config.backlog = static_cast<int>(number_option(Option::backlog));
  config.send_buffer = static_cast<int>(number_option(Option::sndbuf));
  config.receive_buffer = static_cast<int>(number_option(Option::rcvbuf));
  config.workers = static_cast<unsigned>(number_option(option_of(workers, PortOption::threads)));
  config.adapts = !group.store.writes;
  config.streamers = streamers;
  config.log_in_threads = log_in_threads;
  config.remote_threads = remote_threads();
  if (group.store.writes)
    config.waiters = static_cast<unsigned>(number_option(Option::threads_waiting));
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

void set_up(Port& port, const LogIns& log_ins) {
  session::RunnerConfig& runner = port.runner;
  runner.session.writable = port_table[port.number].writes;
  if (has_option(port.number, PortOption::secret))
    runner.session.secret = text_option(option_of(port.number, PortOption::secret));
  take_accounts(runner.session);
  runner.session.authenticator = &log_ins;
  runner.session.wrong_secret_delay = wrong_secret_delay;
  runner.session.tries = &failed_tries();
  runner.session.note_wrong_tries = log_wrong_tries;
  runner.note_long_request = log_long_request;
}

// Of the ports that these workers serve. Null if none of them has somewhere to listen.
std::unique_ptr<PortGroup> make_group(std::size_t workers) {
  auto group = std::make_unique<PortGroup>();
  for (std::size_t number = 0; number < port_count; ++number) {
    if (workers_of(number) != workers || !listens_on(number)) continue;
    Port& port = group->ports.emplace_back(Port{.number = number, .runner = {}});
    set_up(port, group->log_ins);
    group->protocols.push_back(port_table[number].protocol->with(port.runner));
    group->store.writes = group->store.writes || port_table[number].writes;
  }
  if (group->ports.empty()) return nullptr;
  group->tls_context = [] { return tls::Context(server::tls_context()); };
  if (remote_threads() != 0) group->store.remote_tables = RemoteTables::handed_over;
  group->store.encoding =
      text_option(Option::character_set) == "binary" ? TextEncoding::column : TextEncoding::utf8mb4;
  group->store.databases =
      DatabaseList::parse(text_option(Option::databases)).value_or(DatabaseList());
  group->host.lock_wait_timeout_s = &group->lock_wait_timeout_s;
  if (group->store.writes) group->host.watch = &group->watch.emplace(std::chrono::milliseconds(0));
  take_live_settings(*group);
  return group;
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

std::string by_whom(const net::ServerConfig& config, std::size_t port) {
  const std::size_t workers = workers_of(port);
  if (workers != port)
    return "the workers of the " + std::string(port_table[workers].name) + " port";
  return std::to_string(config.workers) + (config.workers == 1 ? " worker" : " workers");
}

void say_where_they_listen(PortGroup& group) {
  if (number_option(Option::verbose) == 0) return;
  for (std::size_t i = 0; i < group.ports.size(); ++i) {
    const Port& port = group.ports[i];
    const std::vector<std::string>& places = group.server->places(i);
    if (places.empty()) continue;
    server::log_milestone("handlersocket: listens on " + list_of(places) + " for " +
                          std::string(purpose_of(port.number)) + ", with " +
                          by_whom(group.server->config(), port.number) +
                          as_whom(port.runner.session));
  }
}

// Null if there is nothing to listen on, or if listening fails. The server continues without these
// ports.
std::unique_ptr<PortGroup> open_group(std::size_t workers) {
  std::unique_ptr<PortGroup> group = make_group(workers);
  if (group == nullptr) return nullptr;
  net::ServerConfig config = network_settings(workers, *group);
  set_up_tls(config, group->tls_context);
  const net::ApplicationFactory applications{
      .make_worker =
          [&group = *group](ThreadCounters& counters) {
            return HostedWorker::make<HostedWorker>(group, net::Role::worker, counters);
          },
      .make_streamer =
          [&group = *group](net::Role role, ThreadCounters& counters) {
            return HostedStreamer::make<HostedStreamer>(group, role, counters);
          }};
  group->server = std::make_unique<net::Server>(config, applications, log);
  return group->server->start() ? std::move(group) : nullptr;
}

void warn_of_useless_secret(const Port& port) {
  log(net::LogLevel::warning, "handlersocket: no client can use the secret of the " +
                                  std::string(port_table[port.number].name) +
                                  " port: handlersocket_secret_account is not set");
}

}  // namespace

void open_ports() {
  for (std::size_t workers = 0; workers < port_count; ++workers)
    set_group(workers, open_group(workers));
}

void say_where_ports_listen() {
  for (const auto& group : all_groups()) say_where_they_listen(*group);
}

void warn_if_nobody_may_do_anything() {
  std::string shut;
  for (const auto& group : all_groups()) {
    for (const Port& port : group->ports) {
      const session::SessionConfig& session = port.runner.session;
      const bool has_trusted = session.trusted.get() != nullptr;
      if (!session.secret.empty() && !has_trusted) warn_of_useless_secret(port);
      if (session.anonymous.get() != nullptr || (!session.secret.empty() && has_trusted)) continue;
      shut += shut.empty() ? "the " : " and the ";
      shut.append(port_table[port.number].name) += " port";
    }
  }
  if (shut.empty()) return;
  log(net::LogLevel::warning,
      "handlersocket: no client may do anything at " + shut +
          " before it logs in with a user and a password (A 2), because no account is set. "
          "To serve clients that do not, create an account, grant it what they need, and "
          "set handlersocket_anonymous_account = user@host");
}

void apply_settings() {
  for (const auto& group : all_groups()) {
    take_live_settings(*group);
    take_live_settings(group->server->config());
  }
}

void apply_accounts() {
  for (const auto& group : all_groups()) {
    for (Port& port : group->ports) take_accounts(port.runner.session);
  }
}

void close_ports() {
  for (std::size_t workers = 0; workers < port_count; ++workers) {
    const std::shared_ptr<PortGroup> group = group_of(workers);
    if (group == nullptr) continue;
    group->server->stop();
    set_group(workers, nullptr);
  }
}

net::ConnectionList connections_of(std::size_t workers) {
  // A worker that asks in a trigger would wait for its own answer.
  if (server::is_own_thread()) return {};
  const std::shared_ptr<PortGroup> group = group_of(workers);
  if (group == nullptr) return {.connections = {}, .is_complete = true};
  net::ConnectionList list = group->server->describe_connections(patience_with_workers);
  for (net::ConnectionInfo& one : list.connections) one.port = group->ports[one.port].number;
  return list;
}

OpenIndexes open_indexes_of(std::size_t workers) {
  OpenIndexes open;
  open.is_complete = !server::is_own_thread();
  if (!open.is_complete) return open;
  const std::shared_ptr<PortGroup> group = group_of(workers);
  if (group == nullptr) return open;
  const net::ReportList list = group->server->ask_applications(patience_with_workers);
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
  for (const auto& group : all_groups()) {
    const net::Closing of_group = group->server->close_connection(id, patience_with_workers);
    if (of_group == net::Closing::begun) return of_group;
    if (of_group == net::Closing::unanswered) closing = of_group;
  }
  return closing;
}

}  // namespace hs::mysqld
