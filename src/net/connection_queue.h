// ConnectionQueue: connections that wait for a carrier, a thread that does what takes long.
//
// Streamers, handshakers, log-in threads, remote threads and waiters have a queue each. Workers put
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
  // Called by a carrier that has nothing to do: leaves, unless there is something to do by now. False:
  // it has to stay.
  bool retire();

  // Called by a worker. False if there is no carrier.
  bool push(Connection& connection);
  // Called by a worker: keeps a free carrier for the connection that it pushes next, or for none if
  // it cancels that.
  enum class Place : std::uint8_t {
    reserved,
    taken,  // every carrier has a connection; one more carrier would help
    full,   // `most` connections have a carrier
  };
  Place reserve(std::size_t most);
  void cancel_reservation();
  // Called by its worker: gives back the connection if it still waits.
  void give_back(const Connection& connection);
  // Called by a worker: takes out those of its connections that have been in their state since
  // `since` or longer, `most` at most, and returns the chain. They are its own again at once.
  Connection* take_back(const Inbox& inbox, std::uint64_t since, std::size_t most);
  // The same with those whose deadline has come. `next` becomes the first deadline of those that stay,
  // if that is sooner.
  Connection* take_overdue(const Inbox& inbox, std::uint64_t now, std::size_t most,
                           std::uint64_t& next);
  // Called by a worker that leaves: gives back those of its connections that still wait.
  void give_back_all_of(const Inbox& inbox);

  // Called by a carrier: whether a connection waits to be taken.
  bool anyone_waits();
  // Called by a carrier. Null if no connection came for `patience`. Who has got one calls done()
  // before it gives the connection back.
  Connection* pop(std::chrono::milliseconds patience);
  void done();
  // Wakes every carrier.
  void wake_all();

 private:
  template <class Condition>
  void give_back_where(Condition condition);
  enum class Look : std::uint8_t { take, pass, end };
  template <class Judge>
  Connection* take_where(std::size_t most, Judge judge);
  void append(Connection& connection);

  std::mutex mutex_;
  kernel::Condition filled_;
  std::size_t carriers_ = 0;
  std::size_t carried_ = 0;   // connections that a carrier has
  std::size_t queued_ = 0;    // connections that wait
  std::size_t reserved_ = 0;  // carriers that are kept for connections which come next
  Connection* first_ = nullptr;
  Connection* last_ = nullptr;
};

}  // namespace hs::net
