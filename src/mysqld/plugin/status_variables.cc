#include "mysqld/plugin/status_variables.h"

#include <array>

#include "mysqld/server/api.h"

namespace hs::mysqld {
namespace {

template <std::size_t index>
std::uint64_t sum_of_counter() {
  return counters().sum(static_cast<Counter>(index));
}

// The number of connections at the moment.
std::uint64_t open_connections() {
  const std::uint64_t closed = counters().sum(Counter::connections_closed);
  const std::uint64_t opened = counters().sum(Counter::connections_opened);
  return opened > closed ? opened - closed : 0;
}

std::uint64_t waiting_bytes_held() { return waiting_bytes().held(); }

// The server keeps pointers to these. The names begin with `handlersocket_`.
struct Entries {
  std::array<std::array<char, 64>, counter_count> names{};
  std::array<server::StatusVariable, counter_count + 3> list{};

  Entries() { fill(std::make_index_sequence<counter_count>{}); }

  template <std::size_t... index>
  void fill(std::index_sequence<index...> /*indexes*/) {
    (set<index>(), ...);
    list[counter_count] =
        server::make_status_variable<&open_connections>("handlersocket_connections");
    list[counter_count + 1] =
        server::make_status_variable<&waiting_bytes_held>("handlersocket_waiting_bytes");
    list[counter_count + 2] = server::end_of_status_variables();
  }

  template <std::size_t index>
  void set() {
    const std::string_view name = counter_table[index].name;
    snprintf(names[index].data(), names[index].size(), "handlersocket_%.*s",
             static_cast<int>(name.size()), name.data());
    list[index] = server::make_status_variable<&sum_of_counter<index>>(names[index].data());
  }
};

}  // namespace

CounterSet& counters() {
  static CounterSet instance;
  return instance;
}

net::WaitingBytes& waiting_bytes() {
  static net::WaitingBytes instance;
  return instance;
}

server::StatusVariable* status_variables() {
  static Entries entries;
  return entries.list.data();
}

}  // namespace hs::mysqld
