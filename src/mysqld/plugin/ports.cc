#include "mysqld/plugin/ports.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mysqld/accounts/account.h"
#include "mysqld/plugin/hosted_threads.h"
#include "mysqld/plugin/long_requests.h"
#include "mysqld/plugin/port_protocol.h"
#include "mysqld/plugin/server_check.h"
#include "mysqld/plugin/settings_check.h"
#include "mysqld/plugin/start_report.h"
#include "mysqld/plugin/status_variables.h"
#include "mysqld/plugin/system_variables.h"
#include "mysqld/server/logging.h"
#include "mysqld/server/row_prefetch.h"
#include "mysqld/server/table_opening.h"
#include "mysqld/server/tls_context.h"
#include "mysqld/server/worker_thd.h"
#include "tls/channel.h"

namespace hs::mysqld {
namespace {

constexpr unsigned streamers = 2;       // of each crew
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

// A thread that asks about connections keeps the ports until it has its answer. Only the thread that
// opens and closes them changes this pointer. Null: none is open.
std::mutex mutex;
std::shared_ptr<OpenPorts> open_now;

std::shared_ptr<OpenPorts> what_is_open() {
  const std::lock_guard lock(mutex);
  return open_now;
}

void set_open(std::shared_ptr<OpenPorts> open) {
  const std::lock_guard lock(mutex);
  open_now = std::move(open);
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
void take_live_settings(handlersocket::RunnerConfig& runner) {
  runner.session.max_open_indexes = number_option(Option::max_open_indexes);
  runner.looks_ahead = switch_option(Option::prefetch) && server::can_prefetch_rows();
  runner.max_request_size = number_option(Option::max_request_size);
  runner.max_request_time = seconds_of(Option::max_request_time);
  runner.long_request_time = seconds_of(Option::long_request_time);
  runner.lock_wait_timeout = seconds_of(Option::lock_wait_timeout);
}
void take_live_settings(OpenPorts& open) {
  failed_tries().set_most_a_second(number_option(Option::max_wrong_log_ins));
  for (OpenPort& port : open.ports) {
    take_live_settings(port.runner);
    port.runner.may_flush = number_option(Option::memcached_flush_all) != 0;
  }
  open.lock_wait_timeout_s =
      static_cast<std::uint32_t>(seconds_of(Option::lock_wait_timeout).count());
  for (HostedCrew& crew : open.crews) {
    if (crew.watch)
      crew.watch->set_wait(std::chrono::milliseconds(number_option(Option::row_wait)));
  }
}

unsigned remote_threads() {
  return server::has_remote_tables() ? static_cast<unsigned>(number_option(Option::threads_remote))
                                     : 0;
}

net::PortConfig port_settings(std::size_t number, const OpenPorts& open) {
  return {.port = std::string(text_option(option_of(number, PortOption::port))),
          .socket_path = std::string(text_option(option_of(number, PortOption::socket))),
          .protocol = std::string(port_table[number].protocol->name),
          .counters = &counters(number),
          .crew = open.crew_of(workers_of(number)),
          .writing_crew = open.crew_of(writers_of(number))};
}

net::CrewConfig crew_settings(const HostedCrew& crew) {
  net::CrewConfig config;
  config.workers = static_cast<unsigned>(number_option(option_of(crew.port, PortOption::threads)));
  config.adapts = !crew.store.writes;
  config.streamers = streamers;
  config.log_in_threads = log_in_threads;
  config.remote_threads = remote_threads();
  if (crew.store.writes)
    config.waiters = static_cast<unsigned>(number_option(Option::threads_waiting));
  return config;
}

net::ServerConfig network_settings(const OpenPorts& open) {
  net::ServerConfig config;
  for (const OpenPort& port : open.ports) config.ports.push_back(port_settings(port.number, open));
  config.crews.clear();
  for (const HostedCrew& crew : open.crews) config.crews.push_back(crew_settings(crew));
  config.address = text_option(Option::address);
  config.socket_mode = net::file_mode(text_option(Option::socket_mode)).value_or(0);
  config.socket_group = text_option(Option::socket_group);
  config.backlog = static_cast<int>(number_option(Option::backlog));
  config.send_buffer = static_cast<int>(number_option(Option::sndbuf));
  config.receive_buffer = static_cast<int>(number_option(Option::rcvbuf));
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

void take_accounts(handlersocket::SessionConfig& session) {
  session.anonymous = account_of(Account::Role::anonymous);
  session.trusted = account_of(Account::Role::trusted);
}

std::uint64_t tcp_port_of(std::size_t port) {
  const std::string_view text = text_option(option_of(port, PortOption::port));
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

redis::ServerFacts facts_of(std::size_t port) {
  CounterSet& counted = counters(port);
  const std::uint64_t opened = counted.sum(Counter::connections_opened);
  std::uint64_t commands = counted.sum(Counter::requests_other);
  for (std::size_t kind = 0; kind < request_kind_count; ++kind)
    commands += counted.sum(static_cast<Counter>(first_request_counter + kind));
  return {.version = std::string(server::own_version()),
          .uptime_s = server::own_uptime(),
          .connected_clients = opened - counted.sum(Counter::connections_closed),
          .most_clients = number_option(Option::max_connections),
          .connections_received = opened,
          .connections_refused = counted.sum(Counter::connections_refused),
          .commands_processed = commands,
          .bytes_received = counted.sum(Counter::bytes_received),
          .bytes_sent = counted.sum(Counter::bytes_sent),
          .waiting_bytes = waiting_bytes().held(),
          .tcp_port = tcp_port_of(port)};
}

memcached::ServerFacts memcached_facts_of(std::size_t port) {
  CounterSet& counted = counters(port);
  const std::uint64_t opened = counted.sum(Counter::connections_opened);
  return {.version = std::string(server::own_version()),
          .uptime_s = server::own_uptime(),
          .connected_clients = opened - counted.sum(Counter::connections_closed),
          .most_clients = number_option(Option::max_connections),
          .connections_received = opened,
          .connections_refused = counted.sum(Counter::connections_refused),
          .tcp_port = tcp_port_of(port),
          .gets = counted.sum(Counter::requests_find),
          .changes = counted.sum(Counter::requests_update),
          .deletes = counted.sum(Counter::requests_erase),
          .log_ins = counted.sum(Counter::requests_log_in),
          .log_ins_failed = counted.sum(Counter::log_ins_failed),
          .bytes_received = counted.sum(Counter::bytes_received),
          .bytes_sent = counted.sum(Counter::bytes_sent)};
}

std::shared_ptr<const keys::ContainerSource> container_source() {
  auto source = std::make_shared<keys::ContainerSource>();
  static_cast<void>(keys::read_source(text_option(Option::containers), *source));
  source->note_mistake = [](const keys::ContainerSource::Judged& one) {
    server::log_warning("handlersocket: the container '" + one.name +
                        "' cannot be used: " + one.mistake);
  };
  return source;
}

net::ConnectionList ask_for_connections() {
  const std::shared_ptr<OpenPorts> open = what_is_open();
  if (open == nullptr) return {.connections = {}, .is_complete = true};
  net::ConnectionList list = open->server->describe_connections(patience_with_workers);
  for (net::ConnectionInfo& one : list.connections) one.port = open->ports[one.port].number;
  return list;
}

net::ConnectionList connections_of(std::size_t port) {
  net::ConnectionList list = ask_for_connections();
  std::erase_if(list.connections,
                [port](const net::ConnectionInfo& one) { return one.port != port; });
  return list;
}

void set_up(OpenPort& port, const OpenPorts& open) {
  PortSettings& runner = port.runner;
  runner.default_database = text_option(Option::default_database);
  runner.containers = open.containers;
  runner.facts = [number = port.number] { return facts_of(number); };
  runner.connections = [number = port.number] { return connections_of(number); };
  runner.close = close_connection;
  runner.memcached_facts = [number = port.number] { return memcached_facts_of(number); };
  runner.session.writable = port_table[port.number].writes;
  runner.session.server = server::own_version();
  if (has_option(port.number, PortOption::secret))
    runner.session.secret = text_option(option_of(port.number, PortOption::secret));
  take_accounts(runner.session);
  runner.session.authenticator = &open.log_ins;
  runner.session.wrong_secret_delay = wrong_secret_delay;
  runner.session.tries = &failed_tries();
  runner.session.note_wrong_tries = log_wrong_tries;
  runner.note_long_request = log_long_request;
}

void add_crew(OpenPorts& open, std::size_t number) {
  HostedCrew& crew = open.crews.emplace_back(number);
  crew.store.writes = port_table[number].writes;
  if (remote_threads() != 0) crew.store.remote_tables = RemoteTables::handed_over;
  crew.store.encoding =
      text_option(Option::character_set) == "binary" ? TextEncoding::column : TextEncoding::utf8mb4;
  crew.store.databases =
      DatabaseList::parse(text_option(Option::databases)).value_or(DatabaseList());
  crew.host.lock_wait_timeout_s = &open.lock_wait_timeout_s;
  crew.host.deadlines = &crew.deadlines;
  if (crew.store.writes) crew.host.watch = &crew.watch.emplace(std::chrono::milliseconds(0));
}

// Null if there is nowhere to listen.
std::shared_ptr<OpenPorts> make_ports() {
  auto open = std::make_shared<OpenPorts>();
  open->containers = container_source();
  std::array<bool, port_count> have_work{};
  for (std::size_t number = 0; number < port_count; ++number) {
    if (!listens_on(number)) continue;
    OpenPort& port = open->ports.emplace_back(OpenPort{.number = number, .runner = {}});
    set_up(port, *open);
    open->protocols.push_back(port_table[number].protocol->with(port.runner));
    have_work[workers_of(number)] = have_work[writers_of(number)] = true;
  }
  if (open->ports.empty()) return nullptr;
  for (std::size_t number = 0; number < port_count; ++number) {
    if (have_work[number]) add_crew(*open, number);
  }
  open->tls_context = [] { return tls::Context(server::tls_context()); };
  take_live_settings(*open);
  return open;
}

std::string list_of(const std::vector<std::string>& places) {
  std::string list;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i > 0) list += i + 1 == places.size() ? " and " : ", ";
    list += places[i];
  }
  return list;
}

std::string as_whom(const handlersocket::SessionConfig& session) {
  std::string text;
  if (const auto anonymous = session.anonymous.get(); anonymous != nullptr)
    text += "; clients act as " + std::string(anonymous->name());
  else
    text += "; clients have to log in";
  if (const auto trusted = session.trusted.get(); trusted != nullptr && !session.secret.empty())
    text += "; with the secret as " + std::string(trusted->name());
  return text;
}

std::string number_of(unsigned count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// "2 workers", or "2 readers and 1 writer" if other workers execute its writes.
std::string by_whom(const OpenPorts& open, std::size_t port) {
  const auto count_of = [&open](std::size_t number) {
    return open.server->config().crews[open.crew_of(number)].workers;
  };
  const unsigned count = count_of(workers_of(port));
  if (workers_of(port) == writers_of(port)) return number_of(count, "worker");
  return number_of(count, "reader") + " and " + number_of(count_of(writers_of(port)), "writer");
}

void make_server(OpenPorts& open) {
  net::ServerConfig config = network_settings(open);
  set_up_tls(config, open.tls_context);
  const net::ApplicationFactory applications{
      .make_worker =
          [&open](std::size_t crew, ThreadCounters& counters) {
            return HostedWorker::make<HostedWorker>(open, open.crews[crew], net::Role::worker,
                                                    counters);
          },
      .make_streamer =
          [&open](std::size_t crew, net::Role role, ThreadCounters& counters) {
            return HostedStreamer::make<HostedStreamer>(open, open.crews[crew], role, counters);
          }};
  open.server = std::make_unique<net::Server>(config, applications, log);
}

void warn_of_useless_secret(const OpenPort& port) {
  log(net::LogLevel::warning, "handlersocket: no client can use the secret of the " +
                                  std::string(port_table[port.number].name) +
                                  " port: handlersocket_secret_account is not set");
}

}  // namespace

// The server continues without the ports if there is nothing to listen on, or if listening fails.
void open_ports() {
  const std::shared_ptr<OpenPorts> open = make_ports();
  if (open == nullptr) return;
  make_server(*open);
  if (open->server->start()) set_open(open);
}

void say_where_ports_listen() {
  const std::shared_ptr<OpenPorts> open = what_is_open();
  if (open == nullptr || number_option(Option::verbose) == 0) return;
  for (std::size_t i = 0; i < open->ports.size(); ++i) {
    const OpenPort& port = open->ports[i];
    const std::vector<std::string>& places = open->server->places(i);
    if (places.empty()) continue;
    server::log_milestone("handlersocket: listens on " + list_of(places) + " for " +
                          std::string(purpose_of(port.number)) + ", with " +
                          by_whom(*open, port.number) + as_whom(port.runner.session));
  }
}

void warn_if_nobody_may_do_anything() {
  const std::shared_ptr<OpenPorts> open = what_is_open();
  if (open == nullptr) return;
  std::string shut;
  for (std::size_t i = 0; i < open->ports.size(); ++i) {
    if (open->server->places(i).empty()) continue;
    const OpenPort& port = open->ports[i];
    const handlersocket::SessionConfig& session = port.runner.session;
    const bool has_trusted = session.trusted.get() != nullptr;
    if (!session.secret.empty() && !has_trusted) warn_of_useless_secret(port);
    if (session.anonymous.get() != nullptr || (!session.secret.empty() && has_trusted)) continue;
    shut += shut.empty() ? "the " : " and the ";
    shut.append(port_table[port.number].name) += " port";
  }
  if (shut.empty()) return;
  log(net::LogLevel::warning,
      "handlersocket: no client may do anything at " + shut +
          " before it logs in with a user and a password (A 2), because no account is set. "
          "To serve clients that do not, create an account, grant it what they need, and "
          "set handlersocket_anonymous_account = user@host");
}

void apply_settings() {
  const std::shared_ptr<OpenPorts> open = what_is_open();
  if (open == nullptr) return;
  take_live_settings(*open);
  take_live_settings(open->server->config());
}

void apply_accounts() {
  const std::shared_ptr<OpenPorts> open = what_is_open();
  if (open == nullptr) return;
  for (OpenPort& port : open->ports) take_accounts(port.runner.session);
}

void close_ports() {
  const std::shared_ptr<OpenPorts> open = what_is_open();
  if (open == nullptr) return;
  open->server->stop();
  set_open(nullptr);
}

net::ConnectionList all_connections() {
  // A worker that asks in a trigger would wait for its own answer.
  return server::is_own_thread() ? net::ConnectionList{} : ask_for_connections();
}

OpenIndexes open_indexes_of(std::size_t workers) {
  OpenIndexes open;
  open.is_complete = !server::is_own_thread();
  if (!open.is_complete) return open;
  const std::shared_ptr<OpenPorts> ports = what_is_open();
  if (ports == nullptr) return open;
  const net::ReportList list = ports->server->ask_applications(patience_with_workers);
  open.is_complete = list.is_complete;
  for (const auto& report : list.reports) {
    const auto& [port, indexes] = static_cast<const IndexReport&>(*report);
    if (port != workers) continue;
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

std::shared_ptr<const keys::ContainerSource::Judgement> containers_at_last_look() {
  const std::shared_ptr<OpenPorts> open = what_is_open();
  return open == nullptr ? nullptr : open->containers->judgement();
}

net::Closing close_connection(std::uint64_t id) {
  const std::shared_ptr<OpenPorts> open = what_is_open();
  return open == nullptr ? net::Closing::unknown
                         : open->server->close_connection(id, patience_with_workers);
}

}  // namespace hs::mysqld
