#include "mysqld/plugin/status_variables.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mysqld/server/api.h"

namespace hs::mysqld {
namespace {

constexpr bool read_port = false;
constexpr bool write_port = true;

template <Counter counter>
std::uint64_t sum() {
  return counters(read_port).sum(counter) + counters(write_port).sum(counter);
}

template <bool port, Counter counter>
std::uint64_t sum_of_port() {
  return counters(port).sum(counter);
}

// The number of connections of a port at the moment.
template <bool port>
std::uint64_t connections_of_port() {
  const std::uint64_t closed = counters(port).sum(Counter::connections_closed);
  const std::uint64_t opened = counters(port).sum(Counter::connections_opened);
  return opened > closed ? opened - closed : 0;
}
std::uint64_t open_connections() {
  return connections_of_port<read_port>() + connections_of_port<write_port>();
}

// All requests of a port, also those that are none.
template <bool port>
std::uint64_t requests_of_port() {
  std::uint64_t total = counters(port).sum(Counter::requests_malformed);
  for (std::size_t i = 0; i < request_kind_count; ++i) {
    total += counters(port).sum(static_cast<Counter>(first_request_counter + i));
  }
  return total;
}

template <bool port, std::size_t kind>
std::uint64_t latency_count() {
  return counters(port).latency_of(static_cast<RequestKind>(kind)).count();
}
template <bool port, std::size_t kind>
std::uint64_t latency_sum() {
  return counters(port).latency_of(static_cast<RequestKind>(kind)).sum_us;
}

std::uint64_t waiting_bytes_held() { return waiting_bytes().held(); }

// The server keeps pointers to these. The names begin with `handlersocket_`.
class Entries {
 public:
  Entries() {
    names_.reserve(most);
    list_.reserve(most);
    add_counters(std::make_index_sequence<counter_count>{});
    add<&open_connections>("connections");
    add<&waiting_bytes_held>("waiting_bytes");
    add_port<read_port>("read_port_");
    add_port<write_port>("write_port_");
    list_.push_back(server::end_of_status_variables());
  }

  server::StatusVariable* list() { return list_.data(); }

 private:
  static constexpr std::size_t most = counter_count + 64;

  template <auto value>
  void add(const std::string& name) {
    const std::string& kept = names_.emplace_back("handlersocket_" + name);
    list_.push_back(server::make_status_variable<value>(kept.c_str()));
  }

  template <std::size_t... index>
  void add_counters(std::index_sequence<index...> /*indexes*/) {
    (add<&sum<static_cast<Counter>(index)>>(std::string(counter_table[index].name)), ...);
  }

  template <bool port>
  void add_port(const std::string& prefix) {
    add<&connections_of_port<port>>(prefix + "connections");
    add_port_counter<port, Counter::connections_opened>(prefix);
    add_port_counter<port, Counter::connections_refused>(prefix);
    add<&requests_of_port<port>>(prefix + "requests");
    add_port_counter<port, Counter::errors>(prefix);
    add_port_counter<port, Counter::bytes_received>(prefix);
    add_port_counter<port, Counter::bytes_sent>(prefix);
    add_port_counter<port, Counter::lock_wait_ms>(prefix);
    add_latencies<port>(prefix + "latency_", std::make_index_sequence<request_kind_count>{});
  }

  template <bool port, Counter counter>
  void add_port_counter(const std::string& prefix) {
    add<&sum_of_port<port, counter>>(
        prefix + std::string(counter_table[static_cast<std::size_t>(counter)].name));
  }

  template <bool port, std::size_t... kind>
  void add_latencies(const std::string& prefix, std::index_sequence<kind...> /*kinds*/) {
    const auto name = [&](std::size_t number) {
      return prefix + std::string(request_kind_names[number]);
    };
    (add<&latency_count<port, kind>>(name(kind) + "_count"), ...);
    (add<&latency_sum<port, kind>>(name(kind) + "_sum_us"), ...);
  }

  std::vector<std::string> names_;  // never grows past what is reserved
  std::vector<server::StatusVariable> list_;
};

}  // namespace

CounterSet& counters(bool port) {
  static std::array<CounterSet, 2> instances;
  return instances[port ? 1 : 0];
}

net::WaitingBytes& waiting_bytes() {
  static net::WaitingBytes instance;
  return instance;
}

server::StatusVariable* status_variables() {
  static Entries entries;
  return entries.list();
}

}  // namespace hs::mysqld
