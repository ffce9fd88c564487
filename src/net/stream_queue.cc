#include "net/stream_queue.h"

#include <utility>

#include "net/inbox.h"

namespace hs::net {

void StreamQueue::join() {
  const std::lock_guard lock(mutex_);
  ++streamers_;
}

void StreamQueue::leave() {
  const std::lock_guard lock(mutex_);
  if (--streamers_ == 0) give_back_where(nullptr);
}

bool StreamQueue::push(Connection& connection) {
  {
    const std::lock_guard lock(mutex_);
    if (streamers_ == 0) return false;
    connection.next_in_queue = nullptr;
    (first_ == nullptr ? first_ : last_->next_in_queue) = &connection;
    last_ = &connection;
  }
  filled_.notify_one();
  return true;
}

Connection* StreamQueue::pop(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (first_ == nullptr) filled_.wait_for(lock, patience);
  if (first_ == nullptr) return nullptr;
  return std::exchange(first_, first_->next_in_queue);
}

void StreamQueue::wake_all() { filled_.notify_all(); }

void StreamQueue::give_back_all_of(const Inbox& inbox) {
  const std::lock_guard lock(mutex_);
  give_back_where(&inbox);
}

// Of one worker, or of all if `inbox` is null.
void StreamQueue::give_back_where(const Inbox* inbox) {
  Connection* rest = std::exchange(first_, nullptr);
  while (rest != nullptr) {
    Connection& connection = *std::exchange(rest, rest->next_in_queue);
    if (inbox == nullptr || &connection.home == inbox) {
      connection.broken = true;
      connection.home.give_back(connection);
    } else {
      connection.next_in_queue = nullptr;
      (first_ == nullptr ? first_ : last_->next_in_queue) = &connection;
      last_ = &connection;
    }
  }
}

}  // namespace hs::net
