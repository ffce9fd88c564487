// Crew: some workers, and the threads that do for them what takes long.
//
// A server has one crew or several. Each port belongs to one: its workers serve the port's
// connections. If they only read, they give a connection whose next request writes to another crew,
// which the port names. So the commits of one crew hold up nobody who reads with the other, and long
// requests of one take no thread from the other.
//
// Shared owns the crews. The configuration, the listeners and the inboxes are set before any thread
// starts. All threads may use the other members at the same time.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <list>
#include <memory>
#include <vector>

#include "net/balance.h"
#include "net/connection_queue.h"
#include "net/connection_state.h"
#include "net/inbox.h"
#include "net/listener.h"
#include "net/server.h"

namespace hs::net {

class Waiters;

struct Crew {
  Crew(std::size_t number_in_server, const CrewConfig& crew_config)
      : number(number_in_server), config(crew_config) {}

  // Where a connection in `state` waits for its carrier.
  ConnectionQueue& queue_of(ConnectionState state) {
    switch (state) {
      case ConnectionState::logging_in: return log_ins;
      case ConnectionState::remote: return remotes;
      case ConnectionState::lock_wait: return lock_waits;
      case ConnectionState::shaking: return handshakes;
      default: assert(state == ConnectionState::streaming); return streams;
    }
  }

  // Of the inboxes of the workers over which connections are spread, but not `own`: the one with
  // fewest connections. Null if none of them takes any.
  Inbox* emptiest_but(const Inbox& own) const {
    Inbox* emptiest = nullptr;
    const unsigned spread = balance.spread().workers;
    for (unsigned i = 0; i < spread; ++i) {
      Inbox& inbox = *inboxes[i];
      if (&inbox == &own || inbox.closed()) continue;
      if (emptiest == nullptr || inbox.load.load(std::memory_order_relaxed) <
                                     emptiest->load.load(std::memory_order_relaxed))
        emptiest = &inbox;
    }
    return emptiest;
  }

  void wake_all() {
    streams.wake_all();
    handshakes.wake_all();
    log_ins.wake_all();
    remotes.wake_all();
    lock_waits.wake_all();
    for (const auto& inbox : inboxes) inbox->wake();
  }

  const std::size_t number;  // among those of its server
  const CrewConfig config;
  Balance balance{config.workers, config.adapts};
  std::list<Listener> listeners;                // of the ports that belong to it
  std::vector<std::unique_ptr<Inbox>> inboxes;  // one for each worker
  ConnectionQueue streams;                      // of those that wait for a streamer
  ConnectionQueue handshakes;                   // of those that wait for a handshaker
  ConnectionQueue log_ins;                      // of those that wait for a log-in thread
  ConnectionQueue remotes;                      // of those that wait for a remote thread
  ConnectionQueue lock_waits;                   // of those that a waiter has been found for
  Waiters* waiters = nullptr;                   // set before any thread starts
  std::atomic<std::size_t> workers_left{0};     // those that still serve
};

}  // namespace hs::net
