// StreamQueue: connections that wait for a streamer.
//
// Workers put connections in, and streamers take them out. The queue owns no connection and never
// allocates. Each connection comes back through its worker's inbox, even when no streamer is left
// to carry its find.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>

#include "kernel_calls.h"
#include "net/connection.h"

namespace hs::net {

class StreamQueue {
 public:
  // A streamer has started or left. When the last one leaves, it gives back all connections of the
  // queue, marked as broken.
  void join();
  void leave();

  // Called by a worker. False if there is no streamer.
  bool push(Connection& connection);
  // Called by a worker: whether a streamer has nothing to do. If there are several streamers, one
  // is kept free for long finds, so then two must have nothing to do.
  bool has_spare();
  // Called by its worker: gives back the connection if it still waits.
  void give_back(const Connection& connection);
  // Called by a worker that leaves: gives back those of its connections that still wait.
  void give_back_all_of(const Inbox& inbox);

  // Called by a streamer: whether a connection waits to be taken.
  bool anyone_waits();
  // Called by a streamer. Null if no connection came for `patience`.
  Connection* pop(std::chrono::milliseconds patience);
  // Wakes every streamer.
  void wake_all();

 private:
  template <class Condition>
  void give_back_where(Condition condition);

  std::mutex mutex_;
  kernel::Condition filled_;
  std::size_t streamers_ = 0;
  std::size_t idle_ = 0;  // those of the streamers that wait in pop()
  Connection* first_ = nullptr;
  Connection* last_ = nullptr;
};

}  // namespace hs::net
