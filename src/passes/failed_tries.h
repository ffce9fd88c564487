// FailedTries: how many wrong secrets and passwords have come from each address lately.
//
// One object for all ports. It keeps an address to so many wrong tries a second, whatever number of
// connections it makes, and says when the log should tell of them. A right try costs an address
// nothing. It remembers a bounded number of addresses: those that have tried last. Any thread may
// call it. It never waits and never logs by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>

#include "base/setting.h"
#include "net/peer.h"

namespace hs::passes {

class FailedTries {
 public:
  using Network = net::PeerAddress::Network;
  static constexpr std::size_t most_addresses = 4096;

  // Of one address, and so many at once.
  explicit FailedTries(std::uint64_t most_a_second) : most_a_second_(most_a_second) {}
  void set_most_a_second(std::uint64_t most) { most_a_second_ = most; }

  // Whether another try may be wrong now. All times are those of the monotonic clock, in ns.
  bool has_room(const Network& address, std::uint64_t now);
  // Counts a try as a wrong one. False: there is no room, and it must not be made yet. May throw
  // bad_alloc.
  bool take(const Network& address, std::uint64_t now);
  // It was right.
  void give_back(const Network& address);
  // A wrong try has been answered. Returns of how many the log should tell now; 0: of none yet.
  std::uint64_t to_be_logged(const Network& address, std::uint64_t now);

 private:
  struct Address {
    Network network;
    std::uint64_t debt = 0;        // what its wrong tries have cost, in ns of waiting
    std::uint64_t counted_at = 0;  // the debt is as it was then
    std::uint64_t unlogged = 0;
    std::uint64_t logged_at = 0;
  };
  using Addresses = std::list<Address>;

  std::uint64_t cost() const { return 1'000'000'000 / most_a_second_.get(); }
  Address* find(const Network& address, std::uint64_t now);

  Setting<std::uint64_t> most_a_second_;
  std::mutex mutex_;
  Addresses addresses_;  // the one that has tried last comes first
  std::map<Network, Addresses::iterator> by_network_;
  std::uint64_t line_at_ = 0;  // when the log was told last, about any address
};

}  // namespace hs::passes
