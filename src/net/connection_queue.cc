#include "net/connection_queue.h"

#include <algorithm>
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

bool ConnectionQueue::retire() {
  const std::lock_guard lock(mutex_);
  if (carried_ + queued_ + reserved_ >= carriers_) return false;
  --carriers_;
  return true;
}

bool ConnectionQueue::push(Connection& connection) {
  {
    const std::lock_guard lock(mutex_);
    if (carriers_ == 0) return false;
    if (reserved_ != 0) --reserved_;
    append(connection);
  }
  filled_.notify_one();
  return true;
}

ConnectionQueue::Place ConnectionQueue::reserve(std::size_t most) {
  const std::lock_guard lock(mutex_);
  const std::size_t used = carried_ + queued_ + reserved_;
  if (used >= most) return Place::full;
  if (used >= carriers_) return Place::taken;
  ++reserved_;
  return Place::reserved;
}

void ConnectionQueue::cancel_reservation() {
  const std::lock_guard lock(mutex_);
  --reserved_;
}

Connection* ConnectionQueue::pop(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (first_ == nullptr) filled_.wait_for(lock, patience);
  if (first_ == nullptr) return nullptr;
  --queued_;
  ++carried_;
  return std::exchange(first_, first_->next_in_queue);
}

void ConnectionQueue::done() {
  const std::lock_guard lock(mutex_);
  --carried_;
}

bool ConnectionQueue::anyone_waits() {
  const std::lock_guard lock(mutex_);
  return first_ != nullptr;
}

void ConnectionQueue::wake_all() { filled_.notify_all(); }

void ConnectionQueue::give_back_all_of(const Inbox& inbox) {
  const std::lock_guard lock(mutex_);
  give_back_where([&](const Connection& connection) { return connection.home == &inbox; });
}

void ConnectionQueue::give_back(const Connection& connection) {
  const std::lock_guard lock(mutex_);
  give_back_where([&](const Connection& waiting) { return &waiting == &connection; });
}

// The connections of one worker stand in the order of their time.
Connection* ConnectionQueue::take_back(const Inbox& inbox, std::uint64_t since, std::size_t most) {
  return take_where(most, [&](const Connection& connection) {
    if (connection.home != &inbox) return Look::pass;
    return connection.listed_at > since ? Look::end : Look::take;
  });
}

Connection* ConnectionQueue::take_overdue(const Inbox& inbox, std::uint64_t now, std::size_t most,
                                          std::uint64_t& next) {
  std::size_t left = most;
  return take_where(most + 1, [&](const Connection& connection) {
    if (connection.home != &inbox || connection.deadline == 0) return Look::pass;
    if (connection.deadline <= now && left != 0) {
      --left;
      return Look::take;
    }
    next = std::min(next, connection.deadline);
    return Look::pass;
  });
}

// Takes out those that the judge wants, and returns the chain.
template <class Judge>
Connection* ConnectionQueue::take_where(std::size_t most, Judge judge) {
  const std::lock_guard lock(mutex_);
  Connection* taken = nullptr;
  Connection** taken_end = &taken;
  Connection* before = nullptr;  // the last one that stays
  Connection* connection = first_;
  while (connection != nullptr && most != 0) {
    Connection* const next = connection->next_in_queue;
    const Look look = judge(*connection);
    if (look == Look::end) break;
    if (look == Look::pass) {
      before = connection;
    } else {
      (before == nullptr ? first_ : before->next_in_queue) = next;
      if (last_ == connection) last_ = before;
      connection->next_in_queue = nullptr;
      *taken_end = connection;
      taken_end = &connection->next_in_queue;
      --queued_;
      --most;
    }
    connection = next;
  }
  return taken;
}

void ConnectionQueue::append(Connection& connection) {
  connection.next_in_queue = nullptr;
  (first_ == nullptr ? first_ : last_->next_in_queue) = &connection;
  last_ = &connection;
  ++queued_;
}

// Gives back the connections for which the condition holds, marked as broken.
template <class Condition>
void ConnectionQueue::give_back_where(Condition condition) {
  Connection* rest = std::exchange(first_, nullptr);
  queued_ = 0;
  while (rest != nullptr) {
    Connection& connection = *std::exchange(rest, rest->next_in_queue);
    if (condition(connection)) {
      connection.broken = true;
      connection.home->give_back(connection);
    } else {
      append(connection);
    }
  }
}

}  // namespace hs::net
