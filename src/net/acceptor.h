// Acceptor: takes new connections from the listeners and spreads them over the workers.
//
// One a worker, on its thread. It owns nothing but the decision: its worker
// gets the sockets that it keeps, the others go to another worker's inbox. Out
// of descriptors it looks away from the listeners for a moment instead of
// spinning.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/counters.h"
#include "net/shared.h"

namespace hs::net {

class Acceptor {
 public:
  Acceptor(Shared& shared, Inbox& own_inbox, CounterBlock& counters)
      : shared_(shared), own_inbox_(own_inbox), counters_(counters) {}

  // Adds the listeners to the worker's epoll set.
  bool watch(int epoll);
  // Accepts a few; appends those that this worker keeps to `kept`.
  void accept_some(const Listener& listener, std::uint64_t now, std::vector<Descriptor>& kept);
  // At the end of service: gives those that still wait an end of file; they are not counted.
  void turn_away_waiting(std::span<char> scratch) const;
  // Looks at the listeners again if that is due.
  void resume(std::uint64_t now) {
    if (paused_until_ != 0 && now >= paused_until_) [[unlikely]]
      watch(epoll_);
  }

 private:
  void pause(int error, std::uint64_t now);
  Inbox& least_loaded() const;

  Shared& shared_;
  Inbox& own_inbox_;
  CounterBlock& counters_;
  int epoll_ = -1;
  std::uint64_t paused_until_ = 0;
};

}  // namespace hs::net
