// The table `handlersocket_connections`: its columns, and its rows as values.
//
// Says nothing about the server. Each family shows the table in its own way (connections_schema.h
// in the family's folder). Any thread of the server may ask for the rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hs::mysqld {

struct ConnectionRow {
  std::uint64_t id;
  std::string_view port;
  std::string peer;
  std::string account;
  std::string_view state;
  std::uint64_t age_ms;
  std::uint64_t idle_ms;
  std::uint64_t bytes_received;
  std::uint64_t bytes_sent;
  std::uint64_t waiting_bytes;
  std::string_view protocol;
};

using ConnectionCell = std::variant<std::uint64_t, std::string_view>;

struct ConnectionColumn {
  const char* name;
  unsigned text_length;  // the most characters of a text; 0: an unsigned BIGINT
  ConnectionCell (*cell)(const ConnectionRow& row);
};

inline constexpr std::array connection_columns{
    ConnectionColumn{"ID", 0, [](const ConnectionRow& row) -> ConnectionCell { return row.id; }},
    ConnectionColumn{"PORT", 5,
                     [](const ConnectionRow& row) -> ConnectionCell { return row.port; }},
    ConnectionColumn{
        "PEER", 64,
        [](const ConnectionRow& row) -> ConnectionCell { return std::string_view(row.peer); }},
    ConnectionColumn{
        "ACCOUNT", 384,
        [](const ConnectionRow& row) -> ConnectionCell { return std::string_view(row.account); }},
    ConnectionColumn{"STATE", 16,
                     [](const ConnectionRow& row) -> ConnectionCell { return row.state; }},
    ConnectionColumn{"AGE_MS", 0,
                     [](const ConnectionRow& row) -> ConnectionCell { return row.age_ms; }},
    ConnectionColumn{"IDLE_MS", 0,
                     [](const ConnectionRow& row) -> ConnectionCell { return row.idle_ms; }},
    ConnectionColumn{"BYTES_RECEIVED", 0,
                     [](const ConnectionRow& row) -> ConnectionCell { return row.bytes_received; }},
    ConnectionColumn{"BYTES_SENT", 0,
                     [](const ConnectionRow& row) -> ConnectionCell { return row.bytes_sent; }},
    ConnectionColumn{"WAITING_BYTES", 0,
                     [](const ConnectionRow& row) -> ConnectionCell { return row.waiting_bytes; }},
    ConnectionColumn{"PROTOCOL", 16,
                     [](const ConnectionRow& row) -> ConnectionCell { return row.protocol; }},
};

struct ConnectionRows {
  std::vector<ConnectionRow> rows;
  bool is_complete = true;
};

// What a client is told where the rows are not complete.
inline constexpr const char* connections_are_missing =
    "A worker of handlersocket has not answered in time: its connections are missing";

// Asks the workers of both ports. Throws bad_alloc.
ConnectionRows connection_rows();

}  // namespace hs::mysqld
