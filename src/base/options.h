// Options: what can be configured, each declared once: those of a port in the port's entry in
// base/ports.h, and all others in the table below.
//
// Plain data, for any thread. The plugin makes the server's system variables from the table; a test
// checks docs/configuration.md against it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/option_info.h"
#include "base/ports.h"

namespace hs {

enum class Option : std::uint8_t {
  enabled,
  address,
  socket_mode,
  socket_group,
  threads_remote,
  threads_waiting,
  timeout,
  stream_patience,
  backlog,
  sndbuf,
  rcvbuf,
  readsize,
  busy_poll,
  accept_balance,
  tls,
  anonymous_account,
  secret_account,
  databases,
  default_database,
  containers,
  memcached_flush_all,
  character_set,
  max_connections,
  max_unauthenticated,
  max_wrong_log_ins,
  log_in_timeout,
  max_open_indexes,
  max_request_size,
  max_waiting_bytes,
  max_request_time,
  long_request_time,
  lock_wait_timeout,
  row_wait,
  prefetch,
  verbose,
  epoll,
  wrlock_timeout,
  first_of_ports,  // those of the ports have the numbers from here on; see option_of()
};

inline constexpr std::size_t general_option_count =
    static_cast<std::size_t>(Option::first_of_ports);

namespace detail {

constexpr OptionInfo text(Option option, const char* name, const char* value, const char* help) {
  return {option, name, OptionType::text, value, 0, 0, 0, help};
}
constexpr OptionInfo live_switch(Option option, const char* name, bool on, const char* help) {
  return {option, name, OptionType::live_switch, "", on ? 1U : 0U, 0, 1, help};
}
constexpr OptionInfo live_text(Option option, const char* name, const char* value,
                               const char* help) {
  return {option, name, OptionType::live_text, value, 0, 0, 0, help};
}
constexpr OptionInfo number(Option option, const char* name, std::uint64_t value,
                            std::uint64_t least, std::uint64_t most, const char* help) {
  return {option, name, OptionType::number, "", value, least, most, help};
}
constexpr OptionInfo live_number(Option option, const char* name, std::uint64_t value,
                                 std::uint64_t least, std::uint64_t most, const char* help) {
  return {option, name, OptionType::live_number, "", value, least, most, help};
}
constexpr OptionInfo ignored(Option option, const char* name, std::uint64_t value,
                             std::uint64_t most) {
  return {option,
          name,
          OptionType::ignored,
          "",
          value,
          0,
          most,
          "Accepted for the sake of old settings; does nothing"};
}

}  // namespace detail

inline constexpr std::array general_option_table{
    detail::live_switch(Option::enabled, "enabled", true,
                        "OFF: no port is open; SET GLOBAL closes and opens them"),
    detail::text(Option::address, "address", "", "Address to listen on; empty: loopback only"),
    detail::text(Option::socket_mode, "socket_mode", "0777",
                 "Permissions of the Unix sockets, octal; who may write may connect"),
    detail::text(Option::socket_group, "socket_group", "",
                 "Group of the Unix sockets; empty: the server's own"),
    detail::live_number(Option::threads_remote, "threads_remote", 0, 0, 1000,
                        "Threads of each port for requests to tables on other servers (Spider); 0: "
                        "such tables are refused"),
    detail::live_number(Option::threads_waiting, "threads_waiting", 128, 1, 1000,
                        "Most threads that wait for rows which other sessions have locked; each "
                        "exists only while it is needed"),
    detail::live_number(Option::timeout, "timeout", 300, 0, 86400,
                        "Seconds after which a connection that does nothing is closed; 0: never"),
    detail::live_number(
        Option::stream_patience, "stream_patience", 10, 1, 86400,
        "Seconds that a long find waits in all for its client, where it cannot give its "
        "table back meanwhile"),
    detail::number(Option::backlog, "backlog", 32768, 5, 1000000, "Length of the listen queue"),
    detail::number(Option::sndbuf, "sndbuf", 0, 0, 16777216,
                   "SO_SNDBUF of a connection, bytes; 0: the system's default"),
    detail::number(Option::rcvbuf, "rcvbuf", 0, 0, 16777216,
                   "SO_RCVBUF of a connection, bytes; 0: the system's default"),
    detail::number(Option::readsize, "readsize", 0, 0, 16777216,
                   "Most bytes taken from one connection in one pass; 0: 64 KiB"),
    detail::live_number(
        Option::busy_poll, "busy_poll", 30, 0, 1000,
        "Microseconds that a worker stays awake for the next request of a client that "
        "is alone, as long as that pays; 0: it sleeps at once"),
    detail::ignored(Option::accept_balance, "accept_balance", 0, 10000),
    detail::text(
        Option::tls, "tls", "PREFERRED",
        "TLS on the TCP ports, with the server's certificates: OFF, PREFERRED (who wants it), "
        "or REQUIRED"),
    detail::live_text(
        Option::anonymous_account, "anonymous_account", "",
        "Account (user@host) as which clients act that have given no secret; empty: they "
        "may do nothing"),
    detail::live_text(
        Option::secret_account, "secret_account", "",
        "Account (user@host) as which clients act that have given the secret; empty: no "
        "secret is accepted"),
    detail::text(
        Option::databases, "databases", "",
        "Databases that clients may use, with commas; a - before a name excludes it, and a "
        "* at its end stands for any rest; empty: all"),
    detail::text(
        Option::default_database, "default_database", "",
        "Database of a table whose name in a key of Redis's clients has none; empty: none"),
    detail::text(Option::containers, "containers", "handlersocket.containers",
                 "Table (database.table) that names the tables whose rows are strings of Redis's "
                 "and memcached's clients; empty: none"),
    detail::live_number(Option::memcached_flush_all, "memcached_flush_all", 0, 0, 1,
                        "1: flush_all of memcached's clients deletes all rows of a container; 0: "
                        "it is refused"),
    detail::text(Option::character_set, "character_set", "utf8mb4",
                 "Character set of requests and replies: utf8mb4, or binary for the bytes of each "
                 "column's own set"),
    detail::live_number(Option::max_connections, "max_connections", 10000, 1, 1000000,
                        "Most connections at a time, of the read port and of the write port each"),
    detail::live_number(Option::max_unauthenticated, "max_unauthenticated", 1000, 1, 1000000,
                        "Most connections at a time of one address that have not logged in, of the "
                        "read port and of the write port each"),
    detail::live_number(Option::max_wrong_log_ins, "max_wrong_log_ins", 100, 1, 1000000,
                        "Wrong secrets and passwords a second from one address; whoever gives more "
                        "has to wait"),
    detail::live_number(Option::log_in_timeout, "log_in_timeout", 10, 0, 86400,
                        "Seconds after which a connection is closed that has sent nothing, or has "
                        "to log in and has not; 0: never"),
    detail::live_number(Option::max_open_indexes, "max_open_indexes", 4096, 1, 65536,
                        "Most open indexes of one connection"),
    detail::live_number(Option::max_request_size, "max_request_size", 67108864, 1024, 1073741824,
                        "Longest request, bytes"),
    detail::live_number(
        Option::max_waiting_bytes, "max_waiting_bytes", 268435456, 1048576, 1099511627776,
        "Most memory for requests and replies of both ports that wait to be read or "
        "sent, bytes; at most half of it for one request"),
    detail::live_number(Option::max_request_time, "max_request_time", 0, 0, 31536000,
                        "Seconds that a request may be worked on; 0: as long as it takes"),
    detail::live_number(Option::long_request_time, "long_request_time", 0, 0, 31536000,
                        "Seconds after which the log tells of a request; 0: it tells of none"),
    detail::live_number(
        Option::lock_wait_timeout, "lock_wait_timeout", 5, 1, 31536000,
        "Seconds that a request waits for a table or row that another session has locked, or for a "
        "remote thread"),
    detail::live_number(
        Option::row_wait, "row_wait", 10, 0, 10000,
        "Milliseconds that a write waits inside the engine for a locked row before its "
        "worker leaves it to another thread; 0: as long as the engine waits"),
    detail::live_switch(Option::prefetch, "prefetch", false,
                        "ON: while a find is executed, the rows of the next ones are fetched into "
                        "the CPU's caches (MySQL, with innodb_adaptive_hash_index)"),
    detail::live_number(Option::verbose, "verbose", 10, 0, 10000,
                        "0: only warnings and errors are logged"),
    detail::ignored(Option::epoll, "epoll", 1, 1),
    detail::ignored(Option::wrlock_timeout, "wrlock_timeout", 12, 3600),
};

// The number of an option of a port that has it.
constexpr Option option_of(std::size_t port, PortOption which) {
  std::size_t number = general_option_count;
  for (std::size_t i = 0; i < port * port_option_count + static_cast<std::size_t>(which); ++i) {
    if (has_option(i / port_option_count, static_cast<PortOption>(i % port_option_count))) ++number;
  }
  return static_cast<Option>(number);
}

// One more than the last.
inline constexpr std::size_t option_count =
    static_cast<std::size_t>(option_of(port_count, PortOption::port));

// All of them, each in the place that its number names.
inline constexpr std::array<OptionInfo, option_count> option_table = [] {
  std::array<OptionInfo, option_count> all{};
  std::ranges::copy(general_option_table, all.begin());
  for (std::size_t port = 0; port < port_count; ++port) {
    for (std::size_t i = 0; i < port_option_count; ++i) {
      const auto which = static_cast<PortOption>(i);
      if (!has_option(port, which)) continue;
      const Option option = option_of(port, which);
      OptionInfo& info = all[static_cast<std::size_t>(option)];
      info = option_info(port, which);
      info.option = option;
    }
  }
  return all;
}();

namespace detail {
constexpr bool option_table_is_in_order() {
  for (std::size_t i = 0; i < option_table.size(); ++i) {
    if (static_cast<std::size_t>(option_table[i].option) != i) return false;
  }
  return general_option_table.size() == general_option_count;
}
}  // namespace detail
static_assert(detail::option_table_is_in_order());

}  // namespace hs
