// StreamQueue: connections that wait for a streamer.
//
// Workers put them in, streamers take them out; it owns none of them and never
// allocates. Each connection comes back through its worker's inbox, also when
// no streamer is left to carry its find.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

#include "net/connection.h"

namespace hs::net {

class StreamQueue {
 public:
  // A streamer has started or left. The last to leave gives the queue back, as broken.
  void join();
  void leave();

  // A worker: false if there is no streamer.
  bool push(Connection& connection);
  // A worker that leaves: gives back those of its connections that still wait.
  void give_back_all_of(const Inbox& inbox);

  // A streamer: null if none came for `patience`.
  Connection* pop(std::chrono::milliseconds patience);
  // Wakes every streamer.
  void wake_all();

 private:
  void give_back_where(const Inbox* inbox);

  std::mutex mutex_;
  std::condition_variable filled_;
  std::size_t streamers_ = 0;
  Connection* first_ = nullptr;
  Connection* last_ = nullptr;
};

}  // namespace hs::net
