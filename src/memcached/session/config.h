// Config: the settings of a port that speaks memcached's protocol.
//
// It is made before the port's threads start, and outlives their dialogues. Any thread may read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/setting.h"
#include "keys/clock.h"
#include "keys/containers.h"
#include "passes/log_in.h"

namespace hs::memcached {

// What `stats` tells of the server.
struct ServerFacts {
  std::string version{};  // of the database server
  std::uint64_t uptime_s = 0;
  std::uint64_t connected_clients = 0;
  std::uint64_t most_clients = 0;
  std::uint64_t connections_received = 0;
  std::uint64_t connections_refused = 0;
  std::uint64_t tcp_port = 0;
  std::uint64_t gets = 0;
  std::uint64_t changes = 0;
  std::uint64_t deletes = 0;
  std::uint64_t log_ins = 0;
  std::uint64_t log_ins_failed = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
};

struct Config {
  Config(const passes::LogInConfig& log_in_config, const Setting<std::size_t>& most_bytes,
         const Setting<bool>& flushes)
      : log_in(log_in_config), max_request_size(most_bytes), may_flush(flushes) {}

  const passes::LogInConfig& log_in;
  const Setting<std::size_t>& max_request_size;
  const Setting<bool>& may_flush;  // whether flush_all deletes the rows of a container
  bool writable = true;
  std::function<ServerFacts()> facts{};
  std::shared_ptr<const keys::ContainerSource> containers =
      std::make_shared<const keys::ContainerSource>();
  keys::Clock::Ask wall_ms = keys::Clock::system_ms;
  // Of a get of many keys on a streamer: how many bytes it gathers before it sends them, and after how many
  // keys it looks whether others wait. Tests and the simulator have less.
  std::size_t piece_bytes = std::size_t{256} << 10;
  std::uint32_t keys_between_looks = 1000;
};

}  // namespace hs::memcached
