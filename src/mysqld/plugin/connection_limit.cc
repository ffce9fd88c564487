#include "mysqld/plugin/connection_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "mysqld/plugin/settings_check.h"
#include "mysqld/plugin/start_report.h"
#include "mysqld/plugin/system_variables.h"
#include "mysqld/server/api.h"
#include "mysqld/server/logging.h"

namespace hs::mysqld {
namespace {

struct Descriptors {
  std::uint64_t limit;       // how many the process may have open
  std::uint64_t for_server;  // how many its own files and sessions may take
  std::uint64_t for_ports;   // how many the ports need besides their connections
  std::uint64_t ports;       // how many ports are served
};

// The connections that each port may have. Before that the server gets as many descriptors as it
// may need, but at most two thirds. If the limit is low, the server makes do with a table cache
// that is not full.
constexpr std::uint64_t connections_within(const Descriptors& has, std::uint64_t wanted) {
  const std::uint64_t taken = std::min(has.for_server, has.limit / 3 * 2) + has.for_ports;
  const std::uint64_t left = has.limit > taken ? has.limit - taken : 0;
  return std::min(wanted, std::max<std::uint64_t>(left / std::max<std::uint64_t>(has.ports, 1), 1));
}

static_assert(connections_within({1'048'576, 40'000, 67, 2}, 10'000) == 10'000);
static_assert(connections_within({20'000, 4'251, 67, 2}, 10'000) == 7'841);
static_assert(connections_within({20'000, 4'251, 67, 1}, 10'000) == 10'000);
static_assert(connections_within({1'024, 4'251, 67, 2}, 10'000) == 137);
static_assert(connections_within({1'024, 4'251, 67, 2}, 100) == 100);
static_assert(connections_within({64, 4'251, 67, 2}, 10'000) == 1);

// A worker has an epoll set and a wake-up. It may also have just accepted a socket that it has to
// refuse.
constexpr std::uint64_t for_worker = 3;
// Two addresses, a Unix socket, the event that stops a port, and some more.
constexpr std::uint64_t for_port = 8;

Descriptors descriptors_of_process(std::uint64_t limit) {
  Descriptors has{limit, server::most_open_files(), 0, 0};
  std::array<bool, port_count> have_work{};
  for (std::size_t port = 0; port < port_count; ++port) {
    if (!listens_on(port)) continue;
    ++has.ports;
    has.for_ports += for_port;
    for (const std::size_t server : {workers_of(port), writers_of(port)}) {
      if (std::exchange(have_work[server], true)) continue;
      has.for_ports += for_worker * number_option(option_of(server, PortOption::threads));
    }
  }
  return has;
}

}  // namespace

void fit_connections_to_descriptors(bool by_client) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const Descriptors has = descriptors_of_process(limit.rlim_cur);
  const std::uint64_t wanted = number_option(Option::max_connections);
  const std::uint64_t possible = connections_within(has, wanted);
  if (has.ports == 0 || possible == wanted) return;
  set_number_option(Option::max_connections, possible);
  const std::string line = "handlersocket: handlersocket_max_connections is " +
                           std::to_string(possible) + " instead of " + std::to_string(wanted) +
                           " for each port: the server may have " + std::to_string(has.limit) +
                           " files open (open_files_limit), and needs some of them itself";
  // Who has asked for that many is warned. Of the default it is only news.
  if (by_client || server::was_set("handlersocket_max_connections")) {
    log(net::LogLevel::warning, line);
  } else if (number_option(Option::verbose) != 0) {
    server::log_milestone(line);
  }
}

}  // namespace hs::mysqld
