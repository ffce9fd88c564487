// Strangers: how many clients of each address have not logged in.
//
// One object for each server, for its clients that have to log in. A network of 64 bits counts as
// one IPv6 address, because a single client often has all of it. All clients of a Unix socket count
// as one address. Any worker may call it. It closes no connection and never waits.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

#include "base/setting.h"
#include "net/peer.h"

namespace hs::net {

class Strangers {
 private:
  using Counts = std::map<PeerAddress::Network, std::size_t>;

 public:
  // What one connection takes. It is given back when this object ends, at the latest.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept
        : strangers_(std::exchange(other.strangers_, nullptr)), count_(other.count_) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(strangers_, other.strangers_);
      std::swap(count_, other.count_);
      return *this;
    }
    ~Place() { give_back(); }

    explicit operator bool() const { return strangers_ != nullptr; }
    void give_back() {
      if (strangers_ != nullptr) std::exchange(strangers_, nullptr)->give_back(count_);
    }

   private:
    friend class Strangers;
    Place(Strangers& strangers, Counts::iterator count) : strangers_(&strangers), count_(count) {}

    Strangers* strangers_ = nullptr;
    Counts::iterator count_;
  };

  // At most so many of one address. Read at each take().
  explicit Strangers(const Setting<std::size_t>& most) : most_(most) {}

  // An empty place: the address has no more of them. Throws bad_alloc.
  Place take(const PeerAddress& peer);

 private:
  void give_back(Counts::iterator count);

  const Setting<std::size_t>& most_;
  std::mutex mutex_;
  Counts counts_;  // only addresses that have strangers
};

}  // namespace hs::net
