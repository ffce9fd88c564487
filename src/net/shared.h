// Shared: what all threads of one server have in common.
//
// Owned by the Server; the configuration and the listeners are set before any
// thread starts, the rest is made for concurrent use.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/descriptor.h"
#include "net/inbox.h"
#include "net/listener.h"
#include "net/server.h"
#include "net/stream_queue.h"

namespace hs::net {

// How often each thread asks its application whether to go on, at the latest.
inline constexpr int tick_ms = 100;
inline constexpr std::uint64_t ms = 1'000'000;  // in the monotonic clock's nanoseconds

inline std::uint64_t monotonic_now() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

struct Shared {
  Shared(ServerConfig server_config, ApplicationFactory application_factory, LogFunction log_line)
      : config(std::move(server_config)),
        factory(std::move(application_factory)),
        log(std::move(log_line)) {}

  const ServerConfig config;
  const ApplicationFactory factory;
  const LogFunction log;

  std::list<Listener> listeners;
  std::vector<std::unique_ptr<Inbox>> inboxes;  // one a worker
  StreamQueue streams;
  Wakeup stop_event;  // readable for good once the server stops
  std::atomic<bool> stopping{false};
  std::atomic<std::size_t> connections{0};
  std::atomic<std::size_t> workers_left{0};           // that still serve
  std::atomic<std::uint64_t> accept_error_logged{0};  // when
};

}  // namespace hs::net
