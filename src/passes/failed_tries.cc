#include "passes/failed_tries.h"

#include <algorithm>
#include <utility>

namespace hs::passes {
namespace {

constexpr std::uint64_t second = 1'000'000'000;
// Between two lines about one address, and between two lines at all.
constexpr std::uint64_t line_of_address = second;
constexpr std::uint64_t any_line = second / 10;

}  // namespace

// Its debt becomes less with time.
FailedTries::Address* FailedTries::find(const Network& network, std::uint64_t now) {
  const auto found = by_network_.find(network);
  if (found == by_network_.end()) return nullptr;
  Address& address = *found->second;
  const std::uint64_t passed = now - std::min(now, address.counted_at);
  address.debt -= std::min(address.debt, passed);
  address.counted_at = std::max(now, address.counted_at);
  return &address;
}

bool FailedTries::has_room(const Network& network, std::uint64_t now) {
  const std::lock_guard lock(mutex_);
  const Address* const address = find(network, now);
  return address == nullptr || address->debt + cost() <= second;
}

bool FailedTries::take(const Network& network, std::uint64_t now) {
  const std::lock_guard lock(mutex_);
  Address* address = find(network, now);
  if (address == nullptr) {
    if (addresses_.size() >= most_addresses) {
      by_network_.erase(addresses_.back().network);
      addresses_.pop_back();
    }
    addresses_.push_front({.network = network, .counted_at = now});
    try {
      by_network_.emplace(network, addresses_.begin());
    } catch (...) {
      addresses_.pop_front();
      throw;
    }
    address = &addresses_.front();
  } else if (address->debt + cost() > second) {
    return false;
  }
  address->debt += cost();
  addresses_.splice(addresses_.begin(), addresses_, by_network_.find(network)->second);
  return true;
}

void FailedTries::give_back(const Network& network) {
  const std::lock_guard lock(mutex_);
  const auto found = by_network_.find(network);
  if (found == by_network_.end()) return;
  Address& address = *found->second;
  address.debt -= std::min(address.debt, cost());
}

std::uint64_t FailedTries::to_be_logged(const Network& network, std::uint64_t now) {
  const std::lock_guard lock(mutex_);
  Address* const address = find(network, now);
  if (address == nullptr) return 0;  // others have taken its place
  ++address->unlogged;
  const bool is_due = address->logged_at == 0 || now >= address->logged_at + line_of_address;
  if (!is_due || (line_at_ != 0 && now < line_at_ + any_line)) return 0;
  address->logged_at = line_at_ = now;
  return std::exchange(address->unlogged, 0);
}

}  // namespace hs::passes
