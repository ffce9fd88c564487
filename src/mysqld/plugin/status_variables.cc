#include "mysqld/plugin/status_variables.h"

#include <array>
#include <cassert>
#include <initializer_list>
#include <string_view>
#include <utility>

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

// The server keeps pointers to these. They take no memory, because the library may be loaded when
// there is none. The names begin with `handlersocket_`.
class Entries {
 public:
  Entries() {
    add_counters(std::make_index_sequence<counter_count>{});
    add<&open_connections>({"connections"});
    add<&waiting_bytes_held>({"waiting_bytes"});
    add_port<read_port>("read_port_");
    add_port<write_port>("write_port_");
    list_[count_] = server::end_of_status_variables();
  }

  server::StatusVariable* list() { return list_.data(); }

 private:
  static constexpr std::size_t most = counter_count + 64;
  static constexpr std::size_t longest_name = 64;
  // Of a name, in their order.
  using Parts = std::initializer_list<std::string_view>;

  template <auto value>
  void add(Parts parts) {
    assert(count_ < most);
    std::array<char, longest_name>& name = names_[count_];
    std::size_t length = 0;
    const auto append = [&](std::string_view part) {
      assert(length + part.size() < longest_name);
      length += part.copy(name.data() + length, longest_name - 1 - length);
    };
    append("handlersocket_");
    for (const std::string_view part : parts) append(part);
    list_[count_++] = server::make_status_variable<value>(name.data());
  }

  template <std::size_t... index>
  void add_counters(std::index_sequence<index...> /*indexes*/) {
    (add<&sum<static_cast<Counter>(index)>>({counter_table[index].name}), ...);
  }

  template <bool port>
  void add_port(std::string_view prefix) {
    add<&connections_of_port<port>>({prefix, "connections"});
    add_port_counter<port, Counter::connections_opened>(prefix);
    add_port_counter<port, Counter::connections_refused>(prefix);
    add<&requests_of_port<port>>({prefix, "requests"});
    add_port_counter<port, Counter::errors>(prefix);
    add_port_counter<port, Counter::bytes_received>(prefix);
    add_port_counter<port, Counter::bytes_sent>(prefix);
    add_port_counter<port, Counter::lock_wait_ms>(prefix);
    add_latencies<port>(prefix, std::make_index_sequence<request_kind_count>{});
  }

  template <bool port, Counter counter>
  void add_port_counter(std::string_view prefix) {
    add<&sum_of_port<port, counter>>(
        {prefix, counter_table[static_cast<std::size_t>(counter)].name});
  }

  template <bool port, std::size_t... kind>
  void add_latencies(std::string_view prefix, std::index_sequence<kind...> /*kinds*/) {
    (add<&latency_count<port, kind>>({prefix, "latency_", request_kind_names[kind], "_count"}),
     ...);
    (add<&latency_sum<port, kind>>({prefix, "latency_", request_kind_names[kind], "_sum_us"}), ...);
  }

  std::array<std::array<char, longest_name>, most> names_{};
  std::array<server::StatusVariable, most + 1> list_{};
  std::size_t count_ = 0;
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
