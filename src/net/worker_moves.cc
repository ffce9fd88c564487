// Connections that go to other workers, because the spread has changed (net/balance.h).
#include <algorithm>
#include <limits>
#include <new>

#include "net/worker.h"

namespace hs::net {
namespace {

// More wait for the next round, because the other connections want their turn.
constexpr std::size_t moves_at_once = 64;
constexpr std::uint64_t time_between_moves = 1 * ms;

// Whether nothing happens with it that only its worker knows of.
bool may_move(const Connection& connection) {
  return connection.state == ConnectionState::waiting && connection.dialogue != nullptr &&
         connection.is_introduced();
}

}  // namespace

// Connections that have something to do stay, so the worker looks again as long as it has too many.
// A worker that connections are not spread over always looks now and then.
void Worker::spread_connections() {
  const auto [spread, number] = shared_.balance.spread();
  const bool is_among = number_ < spread;
  if (number == spread_seen_ && is_among) [[likely]]
    return;
  const std::uint64_t pause = number == spread_seen_ ? tick_ms * ms : time_between_moves;
  if (now_ - moved_at_ < pause) return;
  moved_at_ = now_;
  spread_seen_ = number;
  Inbox* const to = emptiest(spread);
  if (to == nullptr) return;
  const std::size_t share = share_of_each(spread);
  const std::size_t own = inbox_.load.load(std::memory_order_relaxed);
  const std::size_t missing = share - std::min(share, to->load.load(std::memory_order_relaxed));
  const std::size_t surplus = is_among ? own - std::min(own, share) : own;
  const std::size_t wanted = std::min({surplus, std::max<std::size_t>(missing, 1), moves_at_once});
  if (wanted == 0) return;
  // Not only those that have been silent for longest, which stand first.
  std::list<Connection> leaving;
  std::size_t count = 0;
  std::size_t due = 0;
  connections_.for_each_active([&](Connection& connection) {
    due += is_among ? wanted : own;
    if (due < own || !may_move(connection) || !give_away(connection, leaving)) return true;
    due -= own;
    return ++count < wanted;
  });
  if (count < surplus && (is_among || count == wanted)) spread_seen_ = 0;
  if (count == 0) return;
  to->load.fetch_add(count, std::memory_order_relaxed);
  shared_.balance.note_move();
  if (to->take_over(leaving)) {
    inbox_.load.fetch_sub(count, std::memory_order_relaxed);
  } else {
    to->load.fetch_sub(count, std::memory_order_relaxed);
    adopt(leaving);
  }
}

// How many connections each worker has if they are spread evenly.
std::size_t Worker::share_of_each(unsigned spread) const {
  std::size_t all = 0;
  for (const auto& inbox : shared_.inboxes) all += inbox->load.load(std::memory_order_relaxed);
  return (all + spread - 1) / spread;
}

// The one with fewest connections of those that they are spread over; null if none of them is
// another's.
Inbox* Worker::emptiest(unsigned spread) const {
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  Inbox* emptiest = nullptr;
  for (unsigned i = 0; i < spread; ++i) {
    Inbox& inbox = *shared_.inboxes[i];
    const std::size_t load = inbox.load.load(std::memory_order_relaxed);
    if (&inbox == &inbox_ || inbox.closed() || load >= fewest) continue;
    fewest = load;
    emptiest = &inbox;
  }
  return emptiest;
}

// False: it has to stay for now.
bool Worker::give_away(Connection& connection, std::list<Connection>& to) {
  // Who has been chosen to go is ended here.
  if (!connection.share.lend()) return false;
  if (!connections_.release(connection, to)) {
    connection.recount();
    return false;
  }
  kernel::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, connection.socket.get(), nullptr);
  connection.dialogue->depart();
  counters_of(connection).add(Counter::connections_moved);
  return true;
}

// Takes connections that another worker has given away. They have waited since, so the kernel
// reports what has come meanwhile.
void Worker::adopt(std::list<Connection>& connections) {
  bool has_room = true;
  try {
    const std::size_t most_queued = 2 * (connections_.size() + connections.size() + 1);
    if (ready_.capacity() < most_queued) ready_.reserve(2 * most_queued);
  } catch (const std::bad_alloc&) {
    has_room = false;
  }
  for (auto at = connections.begin(); at != connections.end();) {
    Connection& connection = *at++;
    connection.list = &connections;
    connection.home = &inbox_;
    connection.share.change_home(inbox_);
    epoll_event event{.events = EPOLLIN | EPOLLRDHUP | EPOLLET,
                      .data = {.ptr = static_cast<Source*>(&connection)}};
    if (!has_room ||
        kernel::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, connection.socket.get(), &event) != 0) {
      close(connection);
    } else if (!connection.recount()) {
      shed(connection);
    }
  }
  connections_.take_over(connections);
}

}  // namespace hs::net
