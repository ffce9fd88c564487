// The table handlersocket_connections.
#include <chrono>
#include <string>

#include "base/ports.h"
#include "mysqld/plugin/ports.h"
#include "mysqld/plugin/shown_tables.h"

namespace hs::mysqld {
namespace {

struct Row {
  net::ConnectionInfo connection;

  std::uint64_t key() const { return connection.id; }
};

std::uint64_t in_ms(std::chrono::nanoseconds time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

using Column = ColumnOf<Row>;

constexpr std::array columns{
    Column{{"ID", 0}, [](const Row& row) -> Cell { return row.connection.id; }},
    Column{{"PORT", longest_port_name},
           [](const Row& row) -> Cell { return port_table[row.connection.port].name; }},
    Column{{"PEER", 64},
           [](const Row& row) -> Cell { return std::string_view(row.connection.peer); }},
    Column{{"ACCOUNT", 384},
           [](const Row& row) -> Cell { return std::string_view(row.connection.user); }},
    Column{{"STATE", 16}, [](const Row& row) -> Cell { return row.connection.state; }},
    Column{{"AGE_MS", 0}, [](const Row& row) -> Cell { return in_ms(row.connection.age); }},
    Column{{"IDLE_MS", 0}, [](const Row& row) -> Cell { return in_ms(row.connection.idle); }},
    Column{{"REQUESTS", 0}, [](const Row& row) -> Cell { return row.connection.requests; }},
    Column{{"LAST_REQUEST", 16},
           [](const Row& row) -> Cell { return row.connection.last_request; }},
    Column{{"BYTES_RECEIVED", 0}, [](const Row& row) -> Cell { return row.connection.received; }},
    Column{{"BYTES_SENT", 0}, [](const Row& row) -> Cell { return row.connection.sent; }},
    Column{{"WAITING_BYTES", 0},
           [](const Row& row) -> Cell { return row.connection.waiting_bytes; }},
    Column{{"PROTOCOL", 16}, [](const Row& row) -> Cell { return row.connection.tls; }},
};
constexpr auto shown_columns = shown(columns);

// Asks the workers of all ports.
std::unique_ptr<ShownRows> ask() {
  auto shown = std::make_unique<RowsOf<Row>>(columns);
  net::ConnectionList list = all_connections();
  if (!list.is_complete) {
    shown->warning =
        "A worker of handlersocket has not answered in time: its connections are missing";
  }
  for (net::ConnectionInfo& one : list.connections) shown->rows.push_back({std::move(one)});
  return shown;
}

}  // namespace

constinit const ShownTable connections_table{
    "handlersocket_connections", "The connections of HandlerSocket", shown_columns, ask};

}  // namespace hs::mysqld
