// Ports: where clients connect, each declared once in the table below.
//
// Plain data, for any thread. The plugin makes from it all that exists for each port: its options, its
// listeners, its status variables, its rows in the tables that the plugin shows, its checks and its
// lines in the log. So a new port is one more entry, and nothing else names a port.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/option_info.h"

namespace hs {

// What opens the dialogues of a port. Defined where ports are opened.
struct PortProtocol;
extern const PortProtocol handlersocket_protocol;
extern const PortProtocol redis_protocol;
extern const PortProtocol memcached_protocol;

enum class PortOption : std::uint8_t {
  port,    // the TCP port; empty: none
  socket,  // the path of the Unix socket; empty: none
  threads,
  secret,
  count_,
};

inline constexpr std::size_t port_option_count = static_cast<std::size_t>(PortOption::count_);

struct PortInfo {
  std::string_view name;  // the PORT of a shown table; of the status variables `NAME_port_...`
  const PortProtocol* protocol;
  bool writes;  // whether its clients may change rows
  // The port whose workers serve its connections, and the one whose workers execute their writes. Each
  // is most often the port itself. If a port only reads, nobody executes writes for it.
  std::string_view workers;
  std::string_view writers;
  // By PortOption. A port may lack its threads, if another's workers serve it, and its secret.
  std::array<OptionInfo, port_option_count> options;
};

namespace detail {

constexpr OptionInfo port_text(const char* name, const char* help) {
  return {Option{}, name, OptionType::text, "", 0, 0, 0, help};
}
constexpr OptionInfo port_threads(const char* name, std::uint64_t value, const char* help) {
  return {Option{}, name, OptionType::live_number, "", value, value, 3000, help};
}
constexpr OptionInfo port_secret(const char* name, const char* help) {
  return {Option{}, name, OptionType::secret, "", 0, 0, 0, help};
}
constexpr OptionInfo no_option{};

}  // namespace detail

inline constexpr std::array ports_of_plugin{
    PortInfo{
        .name = "read",
        .protocol = &handlersocket_protocol,
        .writes = false,
        .workers = "read",
        .writers = "read",
        .options = {detail::port_text("port", "TCP port for reading; empty: none"),
                    detail::port_text("socket", "Path of a Unix socket for reading; empty: none"),
                    detail::port_threads(
                        "threads", 0,
                        "Worker threads that execute finds; 0: one for each core, at most 16"),
                    detail::port_secret("plain_secret",
                                        "Secret that clients of the read port must give")},
    },
    PortInfo{
        .name = "write",
        .protocol = &handlersocket_protocol,
        .writes = true,
        .workers = "read",
        .writers = "write",
        .options = {detail::port_text("port_wr", "TCP port for reading and writing; empty: none"),
                    detail::port_text("socket_wr",
                                      "Path of a Unix socket for reading and writing; empty: none"),
                    detail::port_threads("threads_wr", 1, "Worker threads that execute writes"),
                    detail::port_secret("plain_secret_wr",
                                        "Secret that clients of the write port must give")},
    },
    PortInfo{
        .name = "redis",
        .protocol = &redis_protocol,
        .writes = true,
        .workers = "read",
        .writers = "write",
        .options = {detail::port_text("redis_port", "TCP port for clients of Redis; empty: none"),
                    detail::port_text("redis_socket",
                                      "Path of a Unix socket for clients of Redis; empty: none"),
                    detail::no_option,
                    detail::port_secret("redis_secret",
                                        "Password of the user default for clients of Redis")},
    },
    PortInfo{
        .name = "memcached",
        .protocol = &memcached_protocol,
        .writes = true,
        .workers = "read",
        .writers = "write",
        .options = {detail::port_text("memcached_port",
                                      "TCP port for clients of memcached; empty: none"),
                    detail::port_text(
                        "memcached_socket",
                        "Path of a Unix socket for clients of memcached; empty: none"),
                    detail::no_option,
                    detail::port_secret("memcached_secret",
                                        "Password of the user default for clients of memcached")},
    },
};

// A build for tests names a file that has more of them.
#ifdef HS_PORTS_OF_TESTS
#include HS_PORTS_OF_TESTS
#else
inline constexpr std::array<PortInfo, 0> ports_of_tests{};
#endif

inline constexpr std::size_t port_count = ports_of_plugin.size() + ports_of_tests.size();

inline constexpr std::array<PortInfo, port_count> port_table = [] {
  std::array<PortInfo, port_count> all{};
  std::ranges::copy(ports_of_tests, std::ranges::copy(ports_of_plugin, all.begin()).out);
  return all;
}();

// A port is its number in the table.
constexpr const OptionInfo& option_info(std::size_t port, PortOption which) {
  return port_table[port].options[static_cast<std::size_t>(which)];
}
constexpr bool has_option(std::size_t port, PortOption which) {
  return option_info(port, which).name != nullptr;
}

// port_count if there is no such port.
constexpr std::size_t port_named(std::string_view name) {
  std::size_t number = 0;
  while (number < port_count && port_table[number].name != name) ++number;
  return number;
}
constexpr std::size_t workers_of(std::size_t port) { return port_named(port_table[port].workers); }
constexpr std::size_t writers_of(std::size_t port) { return port_named(port_table[port].writers); }
// Whether the workers of `server` do something for the connections of the port.
constexpr bool is_served_by(std::size_t port, std::size_t server) {
  return workers_of(port) == server || writers_of(port) == server;
}

// What the clients of a port may do, for people.
constexpr std::string_view purpose_of(std::size_t port) {
  return port_table[port].writes ? "reading and writing" : "reading";
}

inline constexpr std::size_t longest_port_name =
    std::ranges::max(port_table, {}, [](const PortInfo& info) {
      return info.name.size();
    }).name.size();

namespace detail {
// Who serves others executes its own writes, and has threads. Who serves nobody has none.
constexpr bool port_table_is_whole() {
  for (std::size_t port = 0; port < port_count; ++port) {
    for (const std::size_t server : {workers_of(port), writers_of(port)}) {
      if (server == port_count || writers_of(server) != server) return false;
    }
    const bool serves = workers_of(port) == port || writers_of(port) == port;
    if (has_option(port, PortOption::threads) != serves) return false;
    if (port_table[port].writes && !port_table[writers_of(port)].writes) return false;
    if (!has_option(port, PortOption::port) || !has_option(port, PortOption::socket)) return false;
  }
  return true;
}
}  // namespace detail
static_assert(detail::port_table_is_whole());

}  // namespace hs
