// ConnectionLists: owns a worker's connections and knows whose time is up.
//
// Used by the worker's thread alone. Each connection is in exactly one list, by
// its state, and each list is ordered by time, so that all bookkeeping is O(1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>

#include "net/connection.h"

namespace hs::net {

class ConnectionLists {
 public:
  // `idle_timeout` in ns, 0: none.
  explicit ConnectionLists(std::uint64_t idle_timeout) : idle_timeout_(idle_timeout) {}

  Connection& add(Descriptor socket, std::unique_ptr<Dialogue> dialogue, Inbox& home,
                  std::uint64_t now);
  void erase(Connection& connection);
  void clear();
  std::size_t size() const;
  bool any_streaming() const { return !streaming_.empty(); }

  // A connection that becomes blocked waits longer each time.
  void set_state(Connection& connection, Connection::State state, std::uint64_t now);
  // The client sent something or took something. Costs nothing if it did so a moment ago.
  void mark_active(Connection& connection, std::uint64_t now);

  // The first of those whose time is up; null if there is none.
  Connection* first_idle(std::uint64_t now) const;
  Connection* first_unblocked(std::uint64_t now) const;
  Connection* first_lingered(std::uint64_t now) const;
  // When the next blocked connection wants its turn; a time far away if there is none.
  std::uint64_t next_unblock() const;

  template <typename Function>
  void for_each(Function function) {
    for (Connection& connection : active_) function(connection);
    for (List& list : blocked_) {
      for (Connection& connection : list) function(connection);
    }
    for (Connection& connection : lingering_) function(connection);
  }

 private:
  using List = std::list<Connection>;
  // Delays of a blocked connection: one list each, so that each is in order.
  static constexpr std::array<std::uint8_t, 6> delays_ms{1, 2, 4, 8, 16, 20};

  void move(Connection& connection, List& to, std::uint64_t at);

  const std::uint64_t idle_timeout_;
  mutable List active_;  // open and flushing, ordered by the last activity
  mutable std::array<List, delays_ms.size()> blocked_;
  List streaming_;
  mutable List lingering_;
};

}  // namespace hs::net
