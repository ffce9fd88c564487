// ConnectionQueue: connections that wait for a carrier, a thread that does what takes long.
//
// Streamers, handshakers, log-in threads and remote threads have a queue each. Workers put
// connections in, and carriers take them out. The queue owns no connection and never allocates.
// Each connection comes back through its worker's inbox, even when no carrier is left. The exception
// is one that its worker takes back because it has waited too long.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "kernel_calls.h"
#include "net/connection.h"

namespace hs::net {

class ConnectionQueue {
 public:
  // A carrier has started or left. When the last one leaves, it gives back all connections of the
  // queue, marked as broken.
  void join();
  void leave();

  // Called by a worker. False if there is no carrier.
  bool push(Connection& connection);
  // Called by a worker: whether a carrier has nothing to do. If there are several carriers, one
  // is kept free for long finds, so then two must have nothing to do.
  bool has_spare();
  // Called by its worker: gives back the connection if it still waits.
  void give_back(const Connection& connection);
  // Called by a worker: takes out those of its connections that have been in their state since
  // `since` or longer, `most` at most, and returns the chain. They are its own again at once.
  Connection* take_back(const Inbox& inbox, std::uint64_t since, std::size_t most);
  // Called by a worker that leaves: gives back those of its connections that still wait.
  void give_back_all_of(const Inbox& inbox);

  // Called by a carrier: whether a connection waits to be taken.
  bool anyone_waits();
  // Called by a carrier. Null if no connection came for `patience`.
  Connection* pop(std::chrono::milliseconds patience);
  // Wakes every carrier.
  void wake_all();

 private:
  template <class Condition>
  void give_back_where(Condition condition);

  std::mutex mutex_;
  kernel::Condition filled_;
  std::size_t carriers_ = 0;
  std::size_t idle_ = 0;  // those of the carriers that wait in pop()
  Connection* first_ = nullptr;
  Connection* last_ = nullptr;
};

}  // namespace hs::net
