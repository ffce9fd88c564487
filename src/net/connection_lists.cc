#include "net/connection_lists.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "net/shared.h"

namespace hs::net {
namespace {

// Activity is noted this exactly: a busy connection's list entry moves ten times a second, not
// at each request.
constexpr std::uint64_t activity_grain = 100 * ms;
// How long a closed connection may take to read its last replies.
constexpr std::uint64_t linger_time = 1000 * ms;

}  // namespace

Connection& ConnectionLists::add(Descriptor socket, std::unique_ptr<Dialogue> dialogue, Inbox& home,
                                 std::uint64_t now) {
  Connection& connection = active_.emplace_back(std::move(socket), std::move(dialogue), home);
  connection.list = &active_;
  connection.in_list = std::prev(active_.end());
  connection.listed_at = now;
  return connection;
}

void ConnectionLists::erase(Connection& connection) { connection.list->erase(connection.in_list); }

void ConnectionLists::clear() {
  active_.clear();
  for (List& list : blocked_) list.clear();
  streaming_.clear();
  lingering_.clear();
}

std::size_t ConnectionLists::size() const {
  std::size_t count = active_.size() + streaming_.size() + lingering_.size();
  for (const List& list : blocked_) count += list.size();
  return count;
}

void ConnectionLists::set_state(Connection& connection, Connection::State state,
                                std::uint64_t now) {
  connection.state = state;
  switch (state) {
    case Connection::State::open:
    case Connection::State::flushing: return move(connection, active_, now);
    case Connection::State::blocked: {
      const std::size_t step = connection.retries;
      if (step + 1 < delays_ms.size()) ++connection.retries;
      return move(connection, blocked_[step], now + delays_ms[step] * ms);
    }
    case Connection::State::streaming: return move(connection, streaming_, now);
    case Connection::State::lingering: return move(connection, lingering_, now);
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
  if (idle_timeout_ == 0 || active_.empty()) return nullptr;
  Connection& first = active_.front();
  return now - first.listed_at >= idle_timeout_ + activity_grain ? &first : nullptr;
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

std::uint64_t ConnectionLists::next_unblock() const {
  std::uint64_t next = std::numeric_limits<std::uint64_t>::max();
  for (const List& list : blocked_) {
    if (!list.empty()) next = std::min(next, list.front().listed_at);
  }
  return next;
}

}  // namespace hs::net
