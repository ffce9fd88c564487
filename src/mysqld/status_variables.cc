#include "mysqld/status_variables.h"

#include <array>

#include "mysqld/server_api.h"

namespace hs::mysqld {
namespace {

template <std::size_t index>
int show_counter(MYSQL_THD /*thd*/, st_mysql_show_var* variable, void* buffer, system_status_var* /*status*/,
                 enum_var_type /*scope*/) {
  *static_cast<unsigned long long*>(buffer) = counters().sum(static_cast<Counter>(index));
  variable->type = SHOW_ULONGLONG;
  variable->value = static_cast<char*>(buffer);
  return 0;
}

// How many there are at the moment.
int show_connections(MYSQL_THD /*thd*/, st_mysql_show_var* variable, void* buffer,
                     system_status_var* /*status*/, enum_var_type /*scope*/) {
  const std::uint64_t closed = counters().sum(Counter::connections_closed);
  const std::uint64_t opened = counters().sum(Counter::connections_opened);
  *static_cast<unsigned long long*>(buffer) = opened > closed ? opened - closed : 0;
  variable->type = SHOW_ULONGLONG;
  variable->value = static_cast<char*>(buffer);
  return 0;
}

// The server keeps pointers to these; the names get `handlersocket_` in front.
struct Entries {
  std::array<std::array<char, 64>, counter_count> names{};
  std::array<st_mysql_show_var, counter_count + 2> list{};

  Entries() { fill(std::make_index_sequence<counter_count>{}); }

  template <std::size_t... index>
  void fill(std::index_sequence<index...> /*indexes*/) {
    (set(index, &show_counter<index>), ...);
    list[counter_count] = entry("handlersocket_connections", &show_connections);
    list[counter_count + 1] = {nullptr, nullptr, SHOW_UNDEF};
  }

  void set(std::size_t index, mysql_show_var_func function) {
    const std::string_view name = counter_table[index].name;
    snprintf(names[index].data(), names[index].size(), "handlersocket_%.*s", static_cast<int>(name.size()),
             name.data());
    list[index] = entry(names[index].data(), function);
  }

  static st_mysql_show_var entry(const char* name, mysql_show_var_func function) {
    return {name, reinterpret_cast<void*>(function), SHOW_FUNC};
  }
};

}  // namespace

CounterSet& counters() {
  static CounterSet instance;
  return instance;
}

st_mysql_show_var* status_variables() {
  static Entries entries;
  return entries.list.data();
}

}  // namespace hs::mysqld
