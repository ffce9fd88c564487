#include "mysqld/plugin/connections_table.h"

#include <chrono>
#include <utility>

#include "mysqld/plugin/ports.h"

namespace hs::mysqld {
namespace {

std::uint64_t in_ms(std::chrono::nanoseconds time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

}  // namespace

ConnectionRows connection_rows() {
  ConnectionRows shown;
  for (const bool write_port : {false, true}) {
    PortConnections connections = connections_of(write_port);
    shown.is_complete &= connections.list.is_complete;
    for (net::ConnectionInfo& one : connections.list.connections) {
      shown.rows.push_back({.id = one.id,
                            .port = connections.port,
                            .peer = std::move(one.peer),
                            .account = std::move(one.user),
                            .state = one.state,
                            .age_ms = in_ms(one.age),
                            .idle_ms = in_ms(one.idle),
                            .bytes_received = one.received,
                            .bytes_sent = one.sent,
                            .waiting_bytes = one.waiting_bytes,
                            .protocol = one.protocol});
    }
  }
  return shown;
}

}  // namespace hs::mysqld
