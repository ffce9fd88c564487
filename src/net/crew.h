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

#include <array>
#include <atomic>
#include <cstddef>
#include <list>
#include <memory>
#include <vector>

#include "net/balance.h"
#include "net/carrier.h"
#include "net/connection_queue.h"
#include "net/inbox.h"
#include "net/listener.h"
#include "net/server.h"

namespace hs::net {

class Waiters;

struct Crew {
  Crew(std::size_t number_in_server, const CrewConfig& crew_config)
      : number(number_in_server), config(crew_config) {}

  // Where connections wait for a carrier.
  ConnectionQueue& queue_of(Role carrier) { return queues[place_of(carrier)]; }

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
    for (ConnectionQueue& queue : queues) queue.wake_all();
    for (const auto& inbox : inboxes) inbox->wake();
  }

  const std::size_t number;  // among those of its server
  const CrewConfig config;
  Balance balance{config.workers, config.adapts};
  std::list<Listener> listeners;                        // of the ports that belong to it
  std::vector<std::unique_ptr<Inbox>> inboxes;          // one for each worker
  std::array<ConnectionQueue, carriers.size()> queues;  // one for each kind of carrier
  Waiters* waiters = nullptr;                           // set before any thread starts
  std::atomic<std::size_t> workers_left{0};             // those that still serve
};

}  // namespace hs::net
