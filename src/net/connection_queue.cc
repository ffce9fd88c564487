#include "net/connection_queue.h"

#include <utility>

#include "net/inbox.h"

namespace hs::net {

void ConnectionQueue::join() {
  const std::lock_guard lock(mutex_);
  ++carriers_;
}

void ConnectionQueue::leave() {
  const std::lock_guard lock(mutex_);
  if (--carriers_ != 0) return;
  give_back_where([](const Connection&) { return true; });
}

bool ConnectionQueue::push(Connection& connection) {
  {
    const std::lock_guard lock(mutex_);
    if (carriers_ == 0) return false;
    connection.next_in_queue = nullptr;
    (first_ == nullptr ? first_ : last_->next_in_queue) = &connection;
    last_ = &connection;
  }
  filled_.notify_one();
  return true;
}

Connection* ConnectionQueue::pop(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (first_ == nullptr) {
    ++idle_;
    filled_.wait_for(lock, patience);
    --idle_;
  }
  if (first_ == nullptr) return nullptr;
  return std::exchange(first_, first_->next_in_queue);
}

bool ConnectionQueue::has_spare() {
  const std::lock_guard lock(mutex_);
  const std::size_t left_for_finds = carriers_ > 1 ? 1 : 0;
  return first_ == nullptr && idle_ > left_for_finds;
}

bool ConnectionQueue::anyone_waits() {
  const std::lock_guard lock(mutex_);
  return first_ != nullptr;
}

void ConnectionQueue::wake_all() { filled_.notify_all(); }

void ConnectionQueue::give_back_all_of(const Inbox& inbox) {
  const std::lock_guard lock(mutex_);
  give_back_where([&](const Connection& connection) { return &connection.home == &inbox; });
}

void ConnectionQueue::give_back(const Connection& connection) {
  const std::lock_guard lock(mutex_);
  give_back_where([&](const Connection& waiting) { return &waiting == &connection; });
}

// The connections of one worker stand in the order of their time.
Connection* ConnectionQueue::take_back(const Inbox& inbox, std::uint64_t since, std::size_t most) {
  const std::lock_guard lock(mutex_);
  Connection* taken = nullptr;
  Connection** taken_end = &taken;
  Connection* before = nullptr;  // the last one that stays
  Connection* connection = first_;
  while (connection != nullptr && most != 0) {
    Connection* const next = connection->next_in_queue;
    if (&connection->home != &inbox) {
      before = connection;
    } else if (connection->listed_at > since) {
      break;
    } else {
      (before == nullptr ? first_ : before->next_in_queue) = next;
      if (last_ == connection) last_ = before;
      connection->next_in_queue = nullptr;
      *taken_end = connection;
      taken_end = &connection->next_in_queue;
      --most;
    }
    connection = next;
  }
  return taken;
}

// Gives back the connections for which the condition holds, marked as broken.
template <class Condition>
void ConnectionQueue::give_back_where(Condition condition) {
  Connection* rest = std::exchange(first_, nullptr);
  while (rest != nullptr) {
    Connection& connection = *std::exchange(rest, rest->next_in_queue);
    if (condition(connection)) {
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
