// Acceptor: takes new connections from the listeners of a crew and spreads them over its workers.
//
// Each worker has one and calls it on its own thread. It only decides who gets a new socket: its
// own worker, or the inbox of another. When the process has no file descriptors left, it stops
// watching the listeners for a moment, so that the worker does not spin.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/counters.h"
#include "net/shared.h"

namespace hs::net {

class Acceptor {
 public:
  Acceptor(Shared& shared, Crew& crew, Inbox& own_inbox, ThreadCounters& counters)
      : shared_(shared), crew_(crew), own_inbox_(own_inbox), counters_(counters) {}

  // Adds the listeners to the worker's epoll set.
  bool watch(int epoll);
  // Accepts a few sockets. Appends those that this worker keeps to `kept`.
  void accept_some(const Listener& listener, std::uint64_t now, std::vector<Accepted>& kept);
  // At the end of service: gives an end of file to the clients that still wait to be accepted. They
  // are not counted.
  void turn_away_waiting(std::span<char> scratch) const;
  // Watches the listeners again if the pause is over.
  void resume(std::uint64_t now) {
    if (paused_until_ != 0 && now >= paused_until_) [[unlikely]]
      watch(epoll_);
  }

 private:
  void pause(int error, std::uint64_t now);
  Inbox& least_loaded() const;

  Shared& shared_;
  Crew& crew_;
  Inbox& own_inbox_;
  ThreadCounters& counters_;
  int epoll_ = -1;
  std::uint64_t paused_until_ = 0;
};

}  // namespace hs::net
