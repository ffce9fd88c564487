#include "net/acceptor.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace hs::net {
namespace {

// More wait for the next turn of the loop, after the requests of those that are connected.
constexpr int accepts_at_once = 16;
constexpr std::uint64_t pause_length = 100 * ms;
constexpr std::uint64_t log_interval = 60'000 * ms;

// These say something about one client that is gone by now, see accept(2).
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
  for (Listener& listener : shared_.listeners) {
    // Exclusive: a new client wakes one worker, not all.
    epoll_event event{.events = EPOLLIN | EPOLLEXCLUSIVE,
                      .data = {.ptr = static_cast<Source*>(&listener)}};
    if (::epoll_ctl(epoll, EPOLL_CTL_ADD, listener.fd(), &event) != 0 && errno != EEXIST)
      return false;
  }
  return true;
}

void Acceptor::accept_some(const Listener& listener, std::uint64_t now,
                           std::vector<Descriptor>& kept) {
  for (int i = 0; i < accepts_at_once && paused_until_ == 0; ++i) {
    Descriptor socket(::accept4(listener.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      if (!concerns_one_client(errno)) pause(errno, now);
      continue;
    }
    if (shared_.connections.fetch_add(1, std::memory_order_relaxed) >=
        shared_.config.max_connections) {
      shared_.connections.fetch_sub(1, std::memory_order_relaxed);
      counters_.add(Counter::connections_refused);
      continue;
    }
    counters_.add(Counter::connections_opened);
    listener.complete(socket, shared_.config);
    Inbox& home = least_loaded();
    home.load.fetch_add(1, std::memory_order_relaxed);
    if (&home != &own_inbox_) {
      if (home.offer(socket)) continue;
      home.load.fetch_sub(1, std::memory_order_relaxed);
      own_inbox_.load.fetch_add(1, std::memory_order_relaxed);
    }
    kept.push_back(std::move(socket));
  }
}

void Acceptor::turn_away_waiting(std::span<char> scratch) const {
  for (const Listener& listener : shared_.listeners) {
    // No more than can wait at once, or those that come meanwhile would never let us go.
    for (int i = 0; i <= shared_.config.backlog; ++i) {
      Descriptor socket(::accept4(listener.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket) break;
      end_with_eof(socket, scratch);
    }
  }
}

void Acceptor::pause(int error, std::uint64_t now) {
  for (const Listener& listener : shared_.listeners) {
    ::epoll_ctl(epoll_, EPOLL_CTL_DEL, listener.fd(), nullptr);
  }
  paused_until_ = now + pause_length;
  std::uint64_t logged = shared_.accept_error_logged.load(std::memory_order_relaxed);
  if (logged != 0 && now - logged < log_interval) return;
  if (!shared_.accept_error_logged.compare_exchange_strong(logged, now)) return;
  shared_.log("handlersocket: cannot accept connections for the moment: " +
              std::generic_category().message(error));
}

// This worker's own inbox unless another worker has clearly fewer connections:
// handing one over costs a wake-up.
Inbox& Acceptor::least_loaded() const {
  const std::size_t own_load = own_inbox_.load.load(std::memory_order_relaxed);
  std::size_t least = own_load;
  Inbox* best = &own_inbox_;
  for (const auto& inbox : shared_.inboxes) {
    const std::size_t load = inbox->load.load(std::memory_order_relaxed);
    if (load < least && !inbox->closed()) {
      least = load;
      best = inbox.get();
    }
  }
  return own_load > least + 1 + least / 8 ? *best : own_inbox_;
}

}  // namespace hs::net
