// Shared: what all threads of one server have in common.
//
// The Server owns it. The configuration and the listeners are set before any thread starts; only
// what is a Setting may change later. All threads may use the other members at the same time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/once_a_minute.h"
#include "net/crew.h"
#include "net/descriptor.h"
#include "net/port.h"
#include "net/server.h"
#include "net/waiting_bytes.h"

namespace hs::net {

// Each thread asks its application whether to go on at least this often.
inline constexpr int tick_ms = 100;
inline constexpr std::uint64_t ms = 1'000'000;  // in the monotonic clock's nanoseconds

struct Shared {
  Shared(ServerConfig server_config, ApplicationFactory application_factory, LogFunction log_line)
      : config(std::move(server_config)),
        factory(std::move(application_factory)),
        log(std::move(log_line)),
        waiting(config.waiting != nullptr ? *config.waiting : own_waiting) {
    for (const PortConfig& port : config.ports)
      ports.emplace_back(ports.size(), port, config.max_strangers);
    for (const CrewConfig& crew : config.crews) crews.emplace_back(crews.size(), crew);
  }

  // For ThreadCounters of one more thread.
  std::vector<CounterSet*> counters_of_ports() const {
    std::vector<CounterSet*> counters;
    for (const PortConfig& port : config.ports) counters.push_back(port.counters);
    return counters;
  }

  // How long a connection waits for a remote thread, in ns.
  std::uint64_t remote_patience() const {
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(config.remote_patience.get()).count());
  }

  // Any thread. If there is no memory for the line, it is not logged.
  void log_line(LogLevel level, std::string_view text, std::string_view detail = {},
                std::string_view more = {}) const noexcept {
    try {
      log(level, std::string(text).append(detail).append(more));
    } catch (const std::exception&) {
    }
  }

  ServerConfig config;
  const ApplicationFactory factory;
  const LogFunction log;

  WaitingBytes own_waiting;  // used if the configuration names none
  WaitingBytes& waiting;
  std::deque<Port> ports;  // by their numbers
  std::deque<Crew> crews;  // the same
  Wakeup stop_event;       // becomes readable when the server stops, and stays so
  std::atomic<bool> stopping{false};
  OnceAMinute accept_error_line;
};

}  // namespace hs::net
