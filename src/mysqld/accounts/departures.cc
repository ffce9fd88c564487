#include "mysqld/accounts/departures.h"

#include <utility>

namespace hs::mysqld {

void Departures::add(std::unique_ptr<server::Departure> departure) {
  const std::lock_guard lock(mutex_);
  departures_.push_back(std::move(departure));
  are_there_.store(true, std::memory_order_relaxed);
}

void Departures::tell() {
  if (!are_there_.load(std::memory_order_relaxed)) [[likely]]
    return;
  std::vector<std::unique_ptr<server::Departure>> departures;
  {
    const std::lock_guard lock(mutex_);
    departures.swap(departures_);
    are_there_.store(false, std::memory_order_relaxed);
  }
  for (const auto& departure : departures) departure->tell();
}

}  // namespace hs::mysqld
