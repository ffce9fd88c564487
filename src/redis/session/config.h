// Config: the settings of a port that speaks Redis's protocol, and what its connections share.
//
// It is made before the port's threads start, and outlives their dialogues. Any thread may read it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/setting.h"
#include "keys/clock.h"
#include "keys/containers.h"
#include "net/server.h"
#include "passes/log_in.h"
#include "redis/session/client_names.h"
#include "redis/session/command_counts.h"
#include "redis/session/scan_positions.h"

namespace hs::redis {

// What INFO and HELLO tell of the server.
struct ServerFacts {
  std::string version{};  // of the database server
  std::uint64_t uptime_s = 0;
  std::uint64_t connected_clients = 0;
  std::uint64_t most_clients = 0;
  std::uint64_t connections_received = 0;
  std::uint64_t connections_refused = 0;
  std::uint64_t commands_processed = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t waiting_bytes = 0;  // requests and replies that wait now, at all ports
  std::uint64_t tcp_port = 0;
};

// How many bytes of commands wait for EXEC, on all connections of a port.
class QueuedBytes {
 public:
  bool take(std::size_t bytes) {
    if (bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= most) return true;
    give_back(bytes);
    return false;
  }
  void give_back(std::size_t bytes) { bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  static constexpr std::size_t most = std::size_t{64} << 20;
  std::atomic<std::size_t> bytes_ = 0;
};

struct Config {
  Config(const passes::LogInConfig& log_in_config, const Setting<std::size_t>& most_bytes,
         std::uint64_t last_cursor = ScanPositions::any_cursor())
      : log_in(log_in_config), max_request_size(most_bytes), scans(last_cursor) {}

  const passes::LogInConfig& log_in;
  const Setting<std::size_t>& max_request_size;
  bool writable = true;
  std::string default_database{};  // empty: each key has to name one
  std::function<ServerFacts()> facts{};
  // Shared with other ports.
  std::shared_ptr<const keys::ContainerSource> containers =
      std::make_shared<const keys::ContainerSource>();
  keys::Clock::Ask wall_ms = keys::Clock::system_ms;
  mutable QueuedBytes queued{};
  mutable ScanPositions scans;
  mutable ClientNames clients{};
  mutable CommandCountSet command_counts{};
  // The connections of the port, and the end of one. They ask the workers and wait, so no worker calls
  // them. Empty: there is nobody to ask.
  std::function<net::ConnectionList()> connections{};
  std::function<net::Closing(std::uint64_t)> close{};
};

}  // namespace hs::redis
