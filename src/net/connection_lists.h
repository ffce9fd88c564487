// ConnectionLists: owns a worker's connections and knows whose time is up.
//
// Used by the worker's thread alone. Each connection is in exactly one list, by
// its state, and each list is ordered by time, so that all bookkeeping is O(1).
#pragma once

#include <array>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>

#include "base/setting.h"
#include "net/connection.h"

namespace hs::net {

class ConnectionLists {
 public:
  using Timeout = Setting<std::chrono::seconds>;

  // `idle_timeout` and `log_in_timeout` are read when they are needed; 0: none.
  // `handshake_timeout` in ns.
  ConnectionLists(const Timeout& idle_timeout, const Timeout& log_in_timeout,
                  std::uint64_t handshake_timeout)
      : idle_timeout_(idle_timeout),
        log_in_timeout_(log_in_timeout),
        handshake_timeout_(handshake_timeout) {}

  Connection& add(Accepted socket, std::unique_ptr<Dialogue> dialogue, Inbox& home,
                  std::uint64_t now);
  // The connection has just come. It has to send something soon, and to log in if it has a place
  // among the strangers.
  void add_newcomer(Connection& connection);
  void erase(Connection& connection);
  void clear();
  // Moves a connection that waits to the end of `to`: it goes to another worker. False: it has not
  // done what a newcomer has to, and has to be watched here.
  bool release(Connection& connection, std::list<Connection>& to);
  // Takes connections that other workers have released, in the order of their last activity.
  // `connections` is empty afterwards.
  void take_over(std::list<Connection>& connections);
  std::size_t size() const;
  // Whether another thread has one of them. Looks at all whose handshake is not over.
  bool any_away() const;

  // The only place where a state changes. A connection that becomes blocked again waits longer each
  // time.
  void set_state(Connection& connection, Connection::State state, std::uint64_t now) {
    assert(may_follow(connection.state, state));
    const bool moves = !is_active(connection.state) || !is_active(state);
    connection.state = state;
    if (moves) [[unlikely]]
      list_by_state(connection, now);
  }
  // Notes that the client has sent or taken something. Does almost nothing if that was noted a
  // moment ago.
  void mark_active(Connection& connection, std::uint64_t now);

  // The first connection whose time is up; null if there is none.
  Connection* first_idle(std::uint64_t now) const;
  Connection* first_unblocked(std::uint64_t now) const;
  Connection* first_lingered(std::uint64_t now) const;
  // Of those that wait for their client's part of the handshake.
  Connection* first_late(std::uint64_t now) const;
  // Of the newcomers that have not done what they have to, also those that another thread has. Gives
  // each of them once.
  Connection* next_late_newcomer(std::uint64_t now);
  // Whether the handshake of this one has taken too long.
  bool is_late(const Connection& connection, std::uint64_t now) const {
    return now - connection.listed_at >= handshake_timeout_;
  }
  // When the next blocked connection wants its turn; a time far away if there is none.
  std::uint64_t next_unblock() const;

  // Looks at one after the other. Null if there is none with this id.
  Connection* find(std::uint64_t id);

  // The function may release or erase the connection that it gets. It returns whether to go on.
  template <typename Function>
  void for_each_active(Function function) {
    for (auto at = active_.begin(); at != active_.end();) {
      Connection& connection = *at++;
      if (!function(connection)) return;
    }
  }
  template <typename Function>
  void for_each(Function function) {
    for (Connection& connection : active_) function(connection);
    for (List& list : blocked_) {
      for (Connection& connection : list) function(connection);
    }
    for (Connection& connection : streaming_) function(connection);
    for (Connection& connection : greeting_) function(connection);
    for (Connection& connection : lingering_) function(connection);
  }

 private:
  using List = std::list<Connection>;
  // The delays of a blocked connection. Each delay has a list of its own, so that each list is in
  // order.
  static constexpr std::array<std::uint8_t, 6> delays_ms{1, 2, 4, 8, 16, 20};

  // Whether connections of this state are in active_.
  static constexpr bool is_active(Connection::State state) {
    return state <= Connection::State::flushing;
  }
  static_assert(Connection::State::flushing < Connection::State::blocked);

  void list_by_state(Connection& connection, std::uint64_t now);
  void move(Connection& connection, List& to, std::uint64_t at);

  const Timeout& idle_timeout_;
  const Timeout& log_in_timeout_;
  const std::uint64_t handshake_timeout_;
  mutable List active_;  // waiting to flushing, ordered by the last activity
  mutable std::array<List, delays_ms.size()> blocked_;
  List streaming_;         // streaming, logging_in and remote
  mutable List greeting_;  // greeting and shaking, ordered by the beginning of the handshake
  mutable List lingering_;
  // Ordered by the time when they came. Who has done what a newcomer has to leaves the list when it
  // is the first.
  std::list<Connection*> newcomers_;
};

}  // namespace hs::net
