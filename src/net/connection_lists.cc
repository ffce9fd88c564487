#include "net/connection_lists.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "net/shared.h"

namespace hs::net {
namespace {

// The precision of the time of the last activity. So a busy connection moves in its list ten times
// a second, and not at each request.
constexpr std::uint64_t activity_grain = 100 * ms;
// How long a client may take to read its last replies after its connection was closed for sending.
constexpr std::uint64_t linger_time = 1000 * ms;

// Whether it has done what a newcomer has to.
bool is_known(const Connection& connection) {
  return connection.received != 0 && !connection.place;
}

}  // namespace

Connection& ConnectionLists::add(Accepted socket, std::unique_ptr<Dialogue> dialogue, Inbox& home,
                                 std::uint64_t now) {
  Connection& connection = active_.emplace_back(std::move(socket), std::move(dialogue), home, now);
  connection.list = &active_;
  connection.in_list = std::prev(active_.end());
  connection.listed_at = now;
  return connection;
}

void ConnectionLists::add_newcomer(Connection& connection) {
  connection.in_newcomers = newcomers_.insert(newcomers_.end(), &connection);
}

Connection* ConnectionLists::find(std::uint64_t id) {
  Connection* found = nullptr;
  for_each([&](Connection& connection) {
    if (connection.id == id) found = &connection;
  });
  return found;
}

void ConnectionLists::erase(Connection& connection) {
  assert(may_end(connection.state));
  if (connection.in_newcomers) newcomers_.erase(*connection.in_newcomers);
  connection.list->erase(connection.in_list);
}

bool ConnectionLists::release(Connection& connection, std::list<Connection>& to) {
  assert(connection.state == Connection::State::waiting);
  if (connection.in_newcomers) {
    if (!is_known(connection)) return false;
    newcomers_.erase(*connection.in_newcomers);
    connection.in_newcomers.reset();
  }
  to.splice(to.end(), *connection.list, connection.in_list);
  connection.list = nullptr;
  return true;
}

void ConnectionLists::take_over(std::list<Connection>& connections) {
  for (auto at = connections.begin(); at != connections.end(); ++at) {
    assert(is_active(at->state));
    at->list = &active_;
    at->in_list = at;
  }
  const auto by_activity = [](const Connection& one, const Connection& other) {
    return one.listed_at < other.listed_at;
  };
  connections.sort(by_activity);
  // Those that come were mostly active just now. So their places are looked for from the end.
  auto place = active_.end();
  while (!connections.empty()) {
    const auto newest = std::prev(connections.end());
    while (place != active_.begin() && by_activity(*newest, *std::prev(place))) --place;
    active_.splice(place, connections, newest);
    place = newest;
  }
}

void ConnectionLists::clear() {
  newcomers_.clear();
  active_.clear();
  for (List& list : blocked_) list.clear();
  streaming_.clear();
  greeting_.clear();
  lingering_.clear();
}

std::size_t ConnectionLists::size() const {
  std::size_t count = active_.size() + streaming_.size() + greeting_.size() + lingering_.size();
  for (const List& list : blocked_) count += list.size();
  return count;
}

// Moves the connection into the list for its state.
void ConnectionLists::list_by_state(Connection& connection, std::uint64_t now) {
  switch (connection.state) {
    case Connection::State::waiting:
    case Connection::State::queued:
    case Connection::State::in_pass:
    case Connection::State::flushing: return move(connection, active_, now);
    case Connection::State::blocked: {
      const std::size_t step = connection.retries;
      if (step + 1 < delays_ms.size()) ++connection.retries;
      return move(connection, blocked_[step], now + delays_ms[step] * ms);
    }
    case Connection::State::streaming:
    case Connection::State::logging_in:
    case Connection::State::remote:
    case Connection::State::lock_wait: return move(connection, streaming_, now);
    case Connection::State::greeting:
    case Connection::State::shaking:
      if (connection.list != &greeting_) move(connection, greeting_, now);
      return;
    case Connection::State::lingering:
    case Connection::State::draining:
      // The time to linger counts from when lingering began.
      if (connection.list != &lingering_) move(connection, lingering_, now);
      return;
  }
}

void ConnectionLists::move(Connection& connection, List& to, std::uint64_t at) {
  to.splice(to.end(), *connection.list, connection.in_list);
  connection.list = &to;
  connection.listed_at = at;
}

void ConnectionLists::mark_active(Connection& connection, std::uint64_t now) {
  if (now - connection.listed_at >= activity_grain) move(connection, *connection.list, now);
}

Connection* ConnectionLists::first_idle(std::uint64_t now) const {
  const std::chrono::nanoseconds timeout = idle_timeout_.get();
  if (timeout.count() == 0 || active_.empty()) return nullptr;
  Connection& first = active_.front();
  const std::uint64_t idle = now - first.listed_at;
  return idle >= static_cast<std::uint64_t>(timeout.count()) + activity_grain ? &first : nullptr;
}

Connection* ConnectionLists::first_unblocked(std::uint64_t now) const {
  for (List& list : blocked_) {
    if (!list.empty() && list.front().listed_at <= now) return &list.front();
  }
  return nullptr;
}

Connection* ConnectionLists::first_lingered(std::uint64_t now) const {
  if (lingering_.empty()) return nullptr;
  Connection& first = lingering_.front();
  return now - first.listed_at >= linger_time ? &first : nullptr;
}

Connection* ConnectionLists::first_late(std::uint64_t now) const {
  if (greeting_.empty()) return nullptr;
  // One that a handshaker has comes back soon, and its worker looks at its time then.
  Connection& first = greeting_.front();
  return first.state == Connection::State::greeting && is_late(first, now) ? &first : nullptr;
}

Connection* ConnectionLists::next_late_newcomer(std::uint64_t now) {
  const std::chrono::nanoseconds timeout = log_in_timeout_.get();
  while (!newcomers_.empty()) {
    Connection& first = *newcomers_.front();
    const std::uint64_t age = now - first.accepted_at;
    const bool is_late = timeout.count() != 0 && age >= static_cast<std::uint64_t>(timeout.count());
    if (!is_known(first) && !is_late) return nullptr;
    newcomers_.pop_front();
    first.in_newcomers.reset();
    if (!is_known(first)) return &first;
  }
  return nullptr;
}

bool ConnectionLists::any_away() const {
  return !streaming_.empty() ||
         std::any_of(greeting_.begin(), greeting_.end(), [](const Connection& connection) {
           return connection.state == Connection::State::shaking;
         });
}

std::uint64_t ConnectionLists::next_unblock() const {
  std::uint64_t next = std::numeric_limits<std::uint64_t>::max();
  for (const List& list : blocked_) {
    if (!list.empty()) next = std::min(next, list.front().listed_at);
  }
  return next;
}

}  // namespace hs::net
