// OpenPorts: the ports that are open, and what their threads need. HostedWorker, HostedStreamer: the
// applications of these threads within the server.
//
// ports.cc makes OpenPorts before any thread starts, and changes only settings later. Each thread makes
// its own application, which owns the thread's session of the server and the store on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/counters.h"
#include "base/setting.h"
#include "keys/containers.h"
#include "mysqld/accounts/log_ins.h"
#include "mysqld/plugin/port_protocol.h"
#include "mysqld/plugin/server_check.h"
#include "mysqld/store/table_store.h"
#include "mysqld/thread/deadline_watch.h"
#include "mysqld/thread/host_thread.h"
#include "mysqld/thread/wait_watch.h"
#include "net/server.h"
#include "passes/pass_runner.h"
#include "passes/stream_runner.h"
#include "tls/channel.h"

namespace hs::mysqld {

// A port that has somewhere to listen.
struct OpenPort {
  std::size_t number;  // in the table
  PortSettings runner;
};

// The threads of one port, which may serve others, too.
struct HostedCrew {
  explicit HostedCrew(std::size_t number_of_port) : port(number_of_port) {}

  const std::size_t port;  // in the table
  TableStoreConfig store{};
  HostThreadConfig host{};
  std::optional<WaitWatch> watch{};  // if it writes
  DeadlineWatch deadlines{};
};

// The ports that are open, and what they need meanwhile.
struct OpenPorts {
  std::deque<OpenPort> ports;                   // one at least, by their numbers in the server
  std::vector<passes::MakeProtocol> protocols;  // the same
  std::deque<HostedCrew> crews;                 // the same
  LogIns log_ins;
  std::shared_ptr<const keys::ContainerSource> containers;  // for all ports
  Setting<std::uint32_t> lock_wait_timeout_s{0};
  tls::ContextSource tls_context;
  std::unique_ptr<net::Server> server;

  // Of the crew that has the threads of that port.
  std::size_t crew_of(std::size_t port) const {
    std::size_t number = 0;
    while (crews[number].port != port) ++number;
    return number;
  }
};

inline const char* idle_state(net::Role role, bool writes) {
  switch (role) {
    case net::Role::streamer: return "handlersocket: streamer, waiting for long requests";
    case net::Role::log_in: return "handlersocket: waiting for log-ins";
    case net::Role::remote: return "handlersocket: waiting for requests to other servers";
    case net::Role::waiter: return "handlersocket: waiting for writes that meet locked rows";
    case net::Role::worker:
    case net::Role::handshaker: break;
  }
  return writes ? "handlersocket: writer, waiting for requests"
                : "handlersocket: reader, waiting for requests";
}

// So many open indexes of one worker are told of. More would keep it busy for milliseconds.
inline constexpr std::size_t most_reported_indexes = 10'000;

struct IndexReport final : net::Report {
  std::size_t port = 0;  // to which the worker belongs
  std::vector<TableStore::OpenedIndex> indexes;
};

// The application of a thread of the server that has a store of its own. `Runner` is that of a worker
// or of any other thread.
template <class Runner>
class Hosted : public Runner {
 public:
  // Null if the server shuts down before it has started.
  template <class Application>
  static std::unique_ptr<Application> make(const OpenPorts& open, const HostedCrew& crew,
                                           net::Role role, ThreadCounters& counters) {
    const bool streams = role != net::Role::worker;
    HostThreadConfig thread = crew.host;
    thread.idle_state = idle_state(role, crew.store.writes);
    thread.waits_for_rows = streams;
    if (streams) thread.watch = nullptr;
    std::unique_ptr<HostThread> host = HostThread::attach(thread);
    if (host == nullptr) return nullptr;
    HostThread& attached = *host;
    TableStoreConfig config = crew.store;
    config.streams = streams;
    if (role == net::Role::remote) config.remote_tables = RemoteTables::served;
    auto store = std::make_unique<TableStore>(std::move(host), config, counters.own());
    return std::make_unique<Application>(open, crew, role, attached, std::move(store), counters);
  }

  // `more` is what the runner wants to know besides.
  template <class... More>
  Hosted(const OpenPorts& open, net::Role role, HostThread& host, std::unique_ptr<TableStore> store,
         ThreadCounters& counters, More... more)
      : Runner(open.ports.front().runner, std::move(store), open.protocols, counters.blocks(),
               more...),
        open_(open),
        departures_are_mine_(role == net::Role::log_in),
        host_(host) {}

  bool keep_running() override {
    if (departures_are_mine_) open_.log_ins.tell_departures();
    return !host_.must_leave();
  }
  // A worker comes here when its connections have ended.
  void stop() override { open_.log_ins.tell_departures(); }
  void idle() override { host_.show_idle(); }

 protected:
  HostThread& host() { return host_; }

 private:
  const OpenPorts& open_;
  const bool departures_are_mine_;
  HostThread& host_;  // of the store
};

class HostedWorker final : public Hosted<passes::PassRunner> {
 public:
  HostedWorker(const OpenPorts& open, const HostedCrew& crew, net::Role role, HostThread& host,
               std::unique_ptr<TableStore> store, ThreadCounters& counters)
      : Hosted(open, role, host, std::move(store), counters,
               crew.store.writes ? Duty::all : Duty::reads),
        port_(crew.port) {}

  bool start() override {
    check_server_on_worker(host().thd());
    return true;
  }
  std::unique_ptr<net::Report> report() override {
    auto report = std::make_unique<IndexReport>();
    report->port = port_;
    report->indexes = static_cast<TableStore&>(store()).opened_indexes(most_reported_indexes);
    return report;
  }

 private:
  const std::size_t port_;
};

class HostedStreamer final : public Hosted<passes::StreamRunner> {
 public:
  HostedStreamer(const OpenPorts& open, const HostedCrew& /*crew*/, net::Role role,
                 HostThread& host, std::unique_ptr<TableStore> store, ThreadCounters& counters)
      : Hosted(open, role, host, std::move(store), counters) {}

  bool killed() override { return host().killed(); }
};

}  // namespace hs::mysqld
