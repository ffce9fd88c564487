#include "mysqld/status_variables.h"

#include <array>

#include "mysqld/server_api.h"

namespace hs::mysqld {
namespace {

template <std::size_t index>
std::uint64_t sum_of_counter() {
  return counters().sum(static_cast<Counter>(index));
}

// How many there are at the moment.
std::uint64_t open_connections() {
  const std::uint64_t closed = counters().sum(Counter::connections_closed);
  const std::uint64_t opened = counters().sum(Counter::connections_opened);
  return opened > closed ? opened - closed : 0;
}

// The server keeps pointers to these; the names get `handlersocket_` in front.
struct Entries {
  std::array<std::array<char, 64>, counter_count> names{};
  std::array<server::StatusVariable, counter_count + 2> list{};

  Entries() { fill(std::make_index_sequence<counter_count>{}); }

  template <std::size_t... index>
  void fill(std::index_sequence<index...> /*indexes*/) {
    (set<index>(), ...);
    list[counter_count] =
        server::make_status_variable<&open_connections>("handlersocket_connections");
    list[counter_count + 1] = server::end_of_status_variables();
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

server::StatusVariable* status_variables() {
  static Entries entries;
  return entries.list.data();
}

}  // namespace hs::mysqld
