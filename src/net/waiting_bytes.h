// WaitingBytes: the budget for all that waits in memory to be read or sent.
//
// Both ports share one budget. Each connection has a Share in it, which says how much memory its
// kept input and its unsent replies take. A small amount is free of charge: most connections never
// hold more, and their number has a limit of its own. When the rest comes near the limit, the
// connections that hold most are chosen to go, and their workers end them.
//
// Strangers are connections that still shake hands or have not logged in. They have a quarter of
// the limit for themselves, beside the others' limit. When that comes to its end, strangers are
// chosen to go, first who has made no progress for longest. Nobody else goes for their sake.
//
// The budget owns none of the bytes, ends no connection and never waits. Any worker's thread may
// call it for its own connections.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>

#include "base/once_a_minute.h"

namespace hs::net {

class Inbox;
struct Connection;

class WaitingBytes {
 public:
  static constexpr std::size_t default_limit = std::size_t{256} << 20;
  // What a client may send before it has logged in, and two bytes that show that it has sent more.
  static constexpr std::size_t default_allowance = 4096 + 2;

  // `allowance`: what a connection may hold free of charge.
  explicit WaitingBytes(std::size_t limit = default_limit,
                        std::size_t allowance = default_allowance)
      : allowance_(allowance), limit_(limit) {}
  WaitingBytes(const WaitingBytes&) = delete;
  WaitingBytes& operator=(const WaitingBytes&) = delete;

  // Any thread. What is held already and has no room in the new limit goes when something is added.
  void set_limit(std::size_t limit) { limit_ = limit; }
  std::size_t limit() const { return limit_; }
  // What all connections hold at the moment, without what is free of charge.
  std::size_t held() const { return known_.held + strangers_.held; }
  // More may be held only by those that are about to go.
  std::size_t most_held() const { return limit_ + room_of_strangers(); }
  // What a connection may hold free of charge.
  std::size_t allowance() const { return allowance_; }

  // Called when a chosen connection is ended. True, once a minute at most, if the log has to say
  // so.
  bool is_to_be_logged(std::uint64_t now) { return line_.is_due(now); }

 private:
  // A link of a circular list. A link that is in no list points to itself.
  struct Link {
    Link* previous = this;
    Link* next = this;
  };

 public:
  class Share;

  // The connections of one worker that have been chosen to go.
  class Leavers {
   public:
    bool any() const { return any_.load(std::memory_order_relaxed); }

   private:
    friend WaitingBytes;
    Link first_;
    std::atomic<bool> any_{false};
  };
  // Called by the worker: the next connection that it has to end; null if there is none.
  Connection* next_to_go(Leavers& leavers);

 private:
  enum class Place : std::uint8_t { none, by_size, strangers, leaving };

  struct Sums {
    std::atomic<std::size_t> held{0};  // changed under the lock
    std::size_t leaving = 0;  // the part of connections that have been chosen to go; under the lock
  };

  Sums& sums_of(const Share& share);
  std::size_t room_of_strangers() const;

  bool has_room(const Share& share, std::size_t more) const;
  bool introduce(Share& share, bool is_stranger);
  bool set(Share& share, std::size_t bytes);
  bool grow(Share& share, std::size_t more);
  bool lend(Share& share);

  bool grow_stranger(Share& share, std::size_t more);

  void count(Share& share, std::size_t bytes);
  void make_room();
  void choose(std::size_t target, const Share* last);
  void choose_strangers(std::size_t more);
  void send_away(Share& share);
  void put_in_place(Share& share);
  static void take_out(Link& link);
  static void put_last(Link& list, Link& link);

  const std::size_t allowance_;
  std::atomic<std::size_t> limit_;
  // Every turn reads the members above. They stand in another cache line than those below, which
  // change often.
  alignas(64) Sums known_;
  Sums strangers_;
  OnceAMinute line_;

  std::mutex mutex_;  // for everything below, and the places of all shares
  // One list for each power of two of what the shares hold. In a list the share that came first
  // stands first.
  std::array<Link, std::numeric_limits<std::size_t>::digits + 1> by_size_;
  Link waiting_strangers_;  // who has made progress last stands last
};

// The part of one connection. Only the connection's worker calls it.
class WaitingBytes::Share : private Link {
 public:
  Share(WaitingBytes& all, Connection& connection, Inbox& home)
      : all_(all), connection_(connection), home_(&home) {}
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;
  ~Share() { set(0); }

  bool is_stranger() const { return is_stranger_; }
  // Says whether the connection is a stranger. At first it is none. False: it was a stranger, and
  // among the others there is no room for what it holds. That is counted all the same until the
  // worker has ended the connection.
  bool introduce(bool is_stranger) {
    return is_stranger == is_stranger_ || all_.introduce(*this, is_stranger);
  }

  // Whether there is room for `more` bytes without the last part, which is for what is there
  // already. No: the connections that hold most are about to go, and nothing should be read
  // meanwhile that would have to be kept, except what is free of charge or was granted by grow().
  bool has_room(std::size_t more) const { return all_.has_room(*this, more); }

  // Says how much memory the connection takes now. False: it is more than before, and there is no
  // room for it. It is counted all the same until the worker has ended the connection.
  bool set(std::size_t bytes) {
    const std::size_t charged = bytes <= all_.allowance_ ? 0 : bytes;
    if (charged == charged_ && !lent_) [[likely]]
      return true;
    lent_ = false;
    return all_.set(*this, charged);
  }
  // What counts for it at the moment.
  std::size_t charged() const { return charged_; }
  // The connection is about to take `more` bytes. False: there is no room, and nothing was counted.
  // Then connections have been chosen to go, perhaps this one.
  bool grow(std::size_t more) { return all_.grow(*this, more); }
  // Another thread uses the connection until the next set(), so it cannot be chosen meanwhile.
  // False: it has been chosen already.
  bool lend() {
    if (charged_ == 0) return true;
    return lent_ = all_.lend(*this);
  }
  // The connection belongs to another worker now. Called by that worker before its first set(). The
  // worker before has called lend().
  void change_home(Inbox& home) { home_ = &home; }

 private:
  friend WaitingBytes;

  WaitingBytes& all_;
  Connection& connection_;
  Inbox* home_;
  std::size_t charged_ = 0;  // written by the worker under the lock
  bool lent_ = false;
  bool is_stranger_ = false;   // as charged_
  Place place_ = Place::none;  // only used under the lock
};

}  // namespace hs::net
