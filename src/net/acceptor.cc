#include "net/acceptor.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <new>

namespace hs::net {
namespace {

// If more clients wait, they come in the next round of the loop, after the requests of connected
// clients.
constexpr int accepts_at_once = 16;
constexpr std::uint64_t pause_length = 100 * ms;

// These errors concern one client that is gone by now, see accept(2).
bool concerns_one_client(int error) {
  switch (error) {
    case EINTR:
    case ECONNABORTED:
    case EPERM:
    case EPROTO:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH: return true;
    default: return false;
  }
}

}  // namespace

bool Acceptor::watch(int epoll) {
  epoll_ = epoll;
  paused_until_ = 0;
  for (Listener& listener : crew_.listeners) {
    // Exclusive: a new client wakes one worker, not all workers.
    epoll_event event{.events = EPOLLIN | EPOLLEXCLUSIVE,
                      .data = {.ptr = static_cast<Source*>(&listener)}};
    if (kernel::epoll_ctl(epoll, EPOLL_CTL_ADD, listener.fd(), &event) != 0 && errno != EEXIST)
      return false;
  }
  return true;
}

void Acceptor::accept_some(const Listener& listener, std::uint64_t now,
                           std::vector<Accepted>& kept) {
  // A socket that was accepted must find room in `kept`.
  try {
    kept.reserve(kept.size() + accepts_at_once);
  } catch (const std::bad_alloc&) {
    return pause(ENOMEM, now);
  }
  Port& port = listener.port();
  CounterBlock& counters = counters_.of(port.number);
  for (int i = 0; i < accepts_at_once && paused_until_ == 0; ++i) {
    Accepted accepted{.socket = {}, .peer = {}, .port = &port};
    accepted.socket = Descriptor(kernel::accept4(
        listener.fd(), accepted.peer.room(), accepted.peer.length(), SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!accepted.socket) {
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      if (!concerns_one_client(errno)) pause(errno, now);
      continue;
    }
    if (port.connections.fetch_add(1, std::memory_order_relaxed) >=
        shared_.config.max_connections.get()) {
      port.connections.fetch_sub(1, std::memory_order_relaxed);
      counters.add(Counter::connections_refused);
      continue;
    }
    counters.add(Counter::connections_opened);
    listener.complete(accepted.socket, shared_.config);
    Inbox& home = least_loaded();
    home.load.fetch_add(1, std::memory_order_relaxed);
    if (&home != &own_inbox_) {
      if (home.offer(accepted)) continue;
      home.load.fetch_sub(1, std::memory_order_relaxed);
      own_inbox_.load.fetch_add(1, std::memory_order_relaxed);
    }
    kept.push_back(std::move(accepted));
  }
}

void Acceptor::turn_away_waiting(std::span<char> scratch) const {
  for (const Listener& listener : crew_.listeners) {
    // At most as many as can wait at once. Otherwise clients that keep coming would never let us
    // go.
    for (int i = 0; i <= shared_.config.backlog; ++i) {
      Descriptor socket(
          kernel::accept4(listener.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket) break;
      end_with_eof(socket, scratch);
    }
  }
}

void Acceptor::pause(int error, std::uint64_t now) {
  for (const Listener& listener : crew_.listeners) {
    kernel::epoll_ctl(epoll_, EPOLL_CTL_DEL, listener.fd(), nullptr);
  }
  paused_until_ = now + pause_length;
  if (!shared_.accept_error_line.is_due(now)) return;
  std::array<char, 128> buffer;
  shared_.log_line(LogLevel::warning, "handlersocket: cannot accept connections for the moment: ",
                   ::strerror_r(error, buffer.data(), buffer.size()));
}

// Of the workers over which connections are spread: this one, unless another has clearly fewer
// connections, as it costs a wake-up to hand a connection over.
Inbox& Acceptor::least_loaded() const {
  const unsigned spread = crew_.balance.spread().workers;
  Inbox* const other = crew_.emptiest_but(own_inbox_);
  if (other == nullptr) return own_inbox_;
  const std::size_t least = other->load.load(std::memory_order_relaxed);
  const bool has_few = own_inbox_.load.load(std::memory_order_relaxed) <= least + 1 + least / 8;
  return own_inbox_.number < spread && has_few ? own_inbox_ : *other;
}

}  // namespace hs::net
