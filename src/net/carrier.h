// Carrier: a thread that has a connection instead of its worker, while the connection does what takes
// long.
//
// Each kind of carrier has a queue of its own in each crew, and a connection has a state of its own
// while it waits for one or is with it. What else tells the kinds apart is one line of `carriers`. All
// are a Streamer (net/streamer.h) but the last one, which is a Handshaker (net/handshaker.h).
#pragma once

#include <array>
#include <cstddef>

#include "net/connection_state.h"
#include "net/server.h"

namespace hs::net {

struct Carrier {
  Role role;
  ConnectionState state;        // of a connection that waits for it, or is with it
  unsigned CrewConfig::*count;  // so many threads a crew has; of waiters at most so many
  const char* thread;           // its name in the operating system
  // What the log says. Whole lines, because to put one together takes memory. A handshaker has no
  // application that could fail.
  const char* could_not_start;
  const char* leaves;
};

// In the order of Role.
inline constexpr std::array carriers{
    Carrier{Role::streamer, ConnectionState::streaming, &CrewConfig::streamers, "hs-streamer",
            "handlersocket: a streamer could not start", "handlersocket: a streamer leaves: "},
    Carrier{Role::log_in, ConnectionState::logging_in, &CrewConfig::log_in_threads, "hs-log-in",
            "handlersocket: a log-in thread could not start",
            "handlersocket: a log-in thread leaves: "},
    Carrier{Role::remote, ConnectionState::remote, &CrewConfig::remote_threads, "hs-remote",
            "handlersocket: a remote thread could not start",
            "handlersocket: a remote thread leaves: "},
    Carrier{Role::waiter, ConnectionState::lock_wait, &CrewConfig::waiters, "hs-waiter",
            "handlersocket: a thread that waits for locks could not start",
            "handlersocket: a thread that waits for locks leaves: "},
    Carrier{Role::handshaker, ConnectionState::shaking, &CrewConfig::handshakers, "hs-handshaker",
            nullptr, nullptr},
};

// The place of a carrier in `carriers`. The role is not that of a worker.
constexpr std::size_t place_of(Role role) { return static_cast<std::size_t>(role) - 1; }

constexpr const Carrier& carrier_of(Role role) { return carriers[place_of(role)]; }

constexpr bool is_in_order() {
  for (const Carrier& carrier : carriers)
    if (&carrier != &carrier_of(carrier.role)) return false;
  return true;
}
static_assert(is_in_order());

// Null: the worker itself has a connection in this state.
constexpr const Carrier* carrier_of(ConnectionState state) {
  for (const Carrier& carrier : carriers)
    if (carrier.state == state) return &carrier;
  return nullptr;
}

// Whether another thread has the dialogue of a connection in this state. A handshaker leaves it alone.
constexpr bool has_dialogue_away(ConnectionState state) {
  const Carrier* const carrier = carrier_of(state);
  return carrier != nullptr && carrier->role != Role::handshaker;
}

// Whether only the worker's own loop uses a connection in this state.
constexpr bool may_end(ConnectionState state) {
  return state != ConnectionState::in_pass && carrier_of(state) == nullptr;
}

}  // namespace hs::net
