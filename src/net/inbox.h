// Inbox: what other threads give to a worker.
//
// One a worker. Any thread puts accepted sockets and connections back from a
// streamer in; the worker alone takes them out, woken through its epoll set.
// It owns the sockets that wait in it, never the connections.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "net/connection.h"
#include "net/descriptor.h"

namespace hs::net {

class Inbox : public Source {
 public:
  Inbox() : Source(Kind::inbox) {}

  // Before the threads start. False: errno says why.
  bool open() { return wakeup_.open(); }
  int fd() const { return wakeup_.fd(); }

  // How many connections the worker has or is about to get.
  std::atomic<std::size_t> load{0};

  // Any thread: takes `socket` unless the worker has left or memory is short.
  bool offer(Descriptor& socket) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return false;
      try {
        sockets_.push_back(std::move(socket));
      } catch (const std::bad_alloc&) {
        return false;
      }
    }
    wakeup_.notify();
    return true;
  }

  // A streamer: is done with the connection.
  void give_back(Connection& connection) {
    {
      const std::lock_guard lock(mutex_);
      connection.next_in_queue = std::exchange(returned_, &connection);
    }
    wakeup_.notify();
  }

  void wake() const { wakeup_.notify(); }
  // Only for a worker that waits without its epoll set.
  void reset() const { wakeup_.reset(); }

  // The worker: swaps what is there for the empty `sockets`; returns the chain
  // of connections given back.
  Connection* take(std::vector<Descriptor>& sockets) {
    const std::lock_guard lock(mutex_);
    sockets.swap(sockets_);
    return std::exchange(returned_, nullptr);
  }

  // The worker: takes no more sockets.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  bool closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
  }

 private:
  Wakeup wakeup_;
  mutable std::mutex mutex_;
  std::vector<Descriptor> sockets_;
  Connection* returned_ = nullptr;
  bool closed_ = false;
};

}  // namespace hs::net
