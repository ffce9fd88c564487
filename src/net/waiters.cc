#include "net/waiters.h"

#include <exception>

namespace hs::net {

bool Waiters::reserve(Otherwise otherwise) {
  using Place = ConnectionQueue::Place;
  const std::size_t most = crew_.config.waiters;
  const std::size_t share = otherwise == Otherwise::waits ? most : (most + 3) / 4;
  Place place = queue().reserve(share);
  if (place == Place::taken && start_one()) place = queue().reserve(share);
  return place == Place::reserved;
}

bool Waiters::start_one() try {
  const std::lock_guard lock(mutex_);
  forget_those_who_left();
  if (waiters_.size() >= crew_.config.waiters) return false;
  Waiter& waiter = waiters_.emplace_back(shared_, crew_);
  queue().join();
  try {
    waiter.thread = kernel::Thread([&waiter] {
      waiter.streamer.run();
      waiter.has_left = true;
    });
  } catch (const std::exception&) {
    queue().leave();
    waiters_.pop_back();
    throw;
  }
  return true;
} catch (const std::exception&) {  // no memory, or no thread: the connection is asked again later
  return false;
}

void Waiters::forget_those_who_left() {
  for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
    if (waiter->has_left) {
      waiter->thread.join();
      waiter = waiters_.erase(waiter);
    } else {
      ++waiter;
    }
  }
}

void Waiters::join() {
  const std::lock_guard lock(mutex_);
  for (Waiter& waiter : waiters_) waiter.thread.join();
  waiters_.clear();
}

}  // namespace hs::net
