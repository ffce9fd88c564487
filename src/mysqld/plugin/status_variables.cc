#include "mysqld/plugin/status_variables.h"

#include <array>
#include <cassert>
#include <charconv>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "base/ports.h"
#include "mysqld/server/api.h"

namespace hs::mysqld {
namespace {

template <Counter counter>
std::uint64_t sum() {
  std::uint64_t total = 0;
  for (std::size_t port = 0; port < port_count; ++port) total += counters(port).sum(counter);
  return total;
}

template <std::size_t port, Counter counter>
std::uint64_t sum_of_port() {
  return counters(port).sum(counter);
}

// The number of connections of a port at the moment.
std::uint64_t connections_of(std::size_t port) {
  const std::uint64_t closed = counters(port).sum(Counter::connections_closed);
  const std::uint64_t opened = counters(port).sum(Counter::connections_opened);
  return opened > closed ? opened - closed : 0;
}
template <std::size_t port>
std::uint64_t connections_of_port() {
  return connections_of(port);
}
std::uint64_t open_connections() {
  std::uint64_t total = 0;
  for (std::size_t port = 0; port < port_count; ++port) total += connections_of(port);
  return total;
}

// All requests of a port, also those that are none.
template <std::size_t port>
std::uint64_t requests_of_port() {
  std::uint64_t total =
      counters(port).sum(Counter::requests_malformed) + counters(port).sum(Counter::requests_other);
  for (std::size_t i = 0; i < request_kind_count; ++i) {
    total += counters(port).sum(static_cast<Counter>(first_request_counter + i));
  }
  return total;
}

std::uint64_t modifications() {
  return sum<Counter::requests_update>() + sum<Counter::requests_erase>();
}

template <std::size_t port, std::size_t kind>
std::uint64_t latency_count() {
  return counters(port).latency_of(static_cast<RequestKind>(kind)).count();
}
template <std::size_t port, std::size_t kind>
std::uint64_t latency_sum() {
  return counters(port).latency_of(static_cast<RequestKind>(kind)).sum_us;
}
template <std::size_t port, std::size_t kind, std::size_t bucket>
std::uint64_t latency_up_to() {
  return counters(port).latency_of(static_cast<RequestKind>(kind)).count_up_to(bucket);
}

constexpr auto update = static_cast<std::size_t>(RequestKind::update);
constexpr auto erase = static_cast<std::size_t>(RequestKind::erase);
template <std::size_t port>
std::uint64_t modify_count() {
  return latency_count<port, update>() + latency_count<port, erase>();
}
template <std::size_t port>
std::uint64_t modify_sum() {
  return latency_sum<port, update>() + latency_sum<port, erase>();
}

std::uint64_t waiting_bytes_held() { return waiting_bytes().held(); }

// The server keeps pointers to these. They take no memory, because the library may be loaded when
// there is none. The names begin with `handlersocket_`.
class Entries {
 public:
  Entries() {
    add_counters(std::make_index_sequence<counter_count>{});
    // Updates and deletes together.
    add<&modifications>({"requests_find_modify"});
    add<&open_connections>({"connections"});
    add<&waiting_bytes_held>({"waiting_bytes"});
    add_ports(std::make_index_sequence<port_count>{});
    assert(count_ == most);
    list_[count_] = server::end_of_status_variables();
  }

  server::StatusVariable* list() { return list_.data(); }

 private:
  static constexpr std::size_t most_of_kind = 2 + shown_latency_buckets.size();
  static constexpr std::size_t most_of_port = 10 + most_of_kind * request_kind_count;
  static constexpr std::size_t most = counter_count + 3 + port_count * most_of_port;
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

  template <std::size_t... port>
  void add_ports(std::index_sequence<port...> /*ports*/) {
    (add_port<port>(), ...);
  }

  template <std::size_t port>
  void add_port() {
    add<&connections_of_port<port>>({port_table[port].name, "_port_", "connections"});
    add_port_counter<port, Counter::connections_opened>();
    add_port_counter<port, Counter::connections_refused>();
    add<&requests_of_port<port>>({port_table[port].name, "_port_", "requests"});
    add_port_counter<port, Counter::errors>();
    add_port_counter<port, Counter::bytes_received>();
    add_port_counter<port, Counter::bytes_sent>();
    add_port_counter<port, Counter::lock_wait_ms>();
    add<&modify_count<port>>({port_table[port].name, "_port_latency_find_modify_count"});
    add<&modify_sum<port>>({port_table[port].name, "_port_latency_find_modify_sum_us"});
    add_latencies<port>(std::make_index_sequence<request_kind_count>{});
  }

  template <std::size_t port, Counter counter>
  void add_port_counter() {
    add<&sum_of_port<port, counter>>(
        {port_table[port].name, "_port_", counter_table[static_cast<std::size_t>(counter)].name});
  }

  template <std::size_t port, std::size_t... kind>
  void add_latencies(std::index_sequence<kind...> /*kinds*/) {
    (add<&latency_count<port, kind>>(
         {port_table[port].name, "_port_latency_", request_kind_names[kind], "_count"}),
     ...);
    (add<&latency_sum<port, kind>>(
         {port_table[port].name, "_port_latency_", request_kind_names[kind], "_sum_us"}),
     ...);
    (add_buckets<port, kind>(std::make_index_sequence<shown_latency_buckets.size()>{}), ...);
  }

  template <std::size_t port, std::size_t kind, std::size_t... bound>
  void add_buckets(std::index_sequence<bound...> /*bounds*/) {
    (add_bucket<port, kind, shown_latency_buckets[bound]>(), ...);
  }

  template <std::size_t port, std::size_t kind, std::size_t bucket>
  void add_bucket() {
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.begin(), digits.end(), latency_bucket_high(bucket));
    add<&latency_up_to<port, kind, bucket>>({port_table[port].name, "_port_latency_",
                                             request_kind_names[kind], "_le_",
                                             std::string_view(digits.data(), end.ptr), "us"});
  }

  std::array<std::array<char, longest_name>, most> names_{};
  std::array<server::StatusVariable, most + 1> list_{};
  std::size_t count_ = 0;
};

}  // namespace

CounterSet& counters(std::size_t port) {
  static std::array<CounterSet, port_count> instances;
  return instances[port];
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
