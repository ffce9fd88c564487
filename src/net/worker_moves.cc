// Connections that go to other workers: because the spread has changed (net/balance.h), or because
// their next request writes and this worker's crew only reads (net/crew.h).
#include <algorithm>
#include <cassert>
#include <new>

#include "net/worker.h"

namespace hs::net {
namespace {

// More wait for the next round, because the other connections want their turn.
constexpr std::size_t moves_at_once = 64;
constexpr std::uint64_t time_between_moves = 1 * ms;
// A connection that only reads goes home after so many turns. One that writes now and then would
// only go to and fro.
constexpr std::uint8_t reads_before_home = 8;

constexpr bool is_write(RequestKind kind) {
  return kind == RequestKind::update || kind == RequestKind::erase || kind == RequestKind::insert;
}

bool has_written(const RequestCounts& answered) {
  for (std::size_t kind = 0; kind < request_kind_count; ++kind) {
    if (answered.of_kind[kind] != 0 && is_write(static_cast<RequestKind>(kind))) return true;
  }
  return false;
}

// Whether nothing happens with it that only its worker knows of.
bool may_move(const Connection& connection) {
  return connection.state == ConnectionState::waiting && connection.dialogue != nullptr &&
         connection.is_introduced();
}

}  // namespace

// Connections that have something to do stay, so the worker looks again as long as it has too many.
// A worker that connections are not spread over always looks now and then.
void Worker::spread_connections() {
  const auto [spread, number] = crew_.balance.spread();
  const bool is_among = inbox_.number < spread;
  if (number == spread_seen_ && is_among) [[likely]]
    return;
  const std::uint64_t pause = number == spread_seen_ ? tick_ms * ms : time_between_moves;
  if (now_ - moved_at_ < pause) return;
  moved_at_ = now_;
  spread_seen_ = number;
  Inbox* const to = crew_.emptiest_but(inbox_);
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
  send_on(leaving, count, *to);
}

// Sends on connections that were given away. False: the other worker has left, and they are this
// one's again.
bool Worker::send_on(std::list<Connection>& leaving, std::size_t count, Inbox& to) {
  to.load.fetch_add(count, std::memory_order_relaxed);
  if (to.take_over(leaving)) {
    inbox_.load.fetch_sub(count, std::memory_order_relaxed);
    return true;
  }
  to.load.fetch_sub(count, std::memory_order_relaxed);
  adopt(leaving);
  return false;
}

// The connection, which is in state `waiting`, goes to a worker of the crew. False: it is still here,
// and may have a turn on its input.
bool Worker::move_to(const Crew& crew, Connection& connection) {
  Inbox* const to = crew.emptiest_but(inbox_);
  std::list<Connection> leaving;
  if (to == nullptr || !give_away(connection, leaving)) return false;
  send_on(leaving, 1, *to);
  return true;
}

// The next request of the connection writes, and this crew only reads. If it cannot go now, it is
// asked again soon. If nobody is left who writes, it ends.
void Worker::hand_to_writers(Connection& connection) {
  const Crew& crew = shared_.crews[connection.port->config.writing_crew];
  assert(&crew != &crew_);
  connection.due = true;
  connection.reads_away = 0;
  if (move_to(crew, connection)) return;
  connection.due = false;
  if (crew.emptiest_but(inbox_) == nullptr) return linger(connection);
  connections_.set_state(connection, Connection::State::blocked, now_);
}

void Worker::note_away(Connection& connection, const RequestCounts& answered) const {
  if (connection.port->config.crew == crew_.number) [[likely]]
    return;
  if (has_written(answered)) {
    connection.reads_away = 0;
  } else if (answered.last != RequestKind::count_ && connection.reads_away < reads_before_home) {
    ++connection.reads_away;  // a turn may also have only a part of a request, or one that waits
  }
}

// The connection is in state `waiting`, and its client is to send the next request. True: it has gone
// to the crew of its port, because it only reads.
bool Worker::go_home(Connection& connection) {
  const std::size_t home = connection.port->config.crew;
  if (home == crew_.number || connection.reads_away < reads_before_home) [[likely]]
    return false;
  return move_to(shared_.crews[home], connection);
}

// How many connections each worker has if they are spread evenly.
std::size_t Worker::share_of_each(unsigned spread) const {
  std::size_t all = 0;
  for (const auto& inbox : crew_.inboxes) all += inbox->load.load(std::memory_order_relaxed);
  return (all + spread - 1) / spread;
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

// Takes connections that another worker has given away. The kernel reports what has come meanwhile.
// What had come before may be in the connection's filter, and the kernel knows nothing of it.
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
    } else if (connection.has_to_end.load(std::memory_order_relaxed)) {
      end(connection);
    } else if (!connection.recount()) {
      shed(connection);
    } else if (connection.due || connection.readable) {
      enqueue(connection);
    }
  }
  connections_.take_over(connections);
}

}  // namespace hs::net
