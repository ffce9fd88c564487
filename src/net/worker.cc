#include "net/worker.h"

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <thread>
#include <utility>

namespace hs::net {
namespace {

constexpr std::size_t events_at_once = 512;

}  // namespace

bool Worker::open() {
  epoll_ = Descriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) return false;
  // Edge-triggered: never read, each notification is an event.
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = static_cast<Source*>(&inbox_)}};
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, inbox_.fd(), &event) == 0;
}

void Worker::run() {
  ::pthread_setname_np(::pthread_self(), "hs-worker");
  // An exception must not end the process that we are a guest of.
  try {
    app_ = shared_.factory(Role::worker, counters_);
    if (app_ == nullptr || !app_->start()) {
      if (!shared_.stopping) shared_.log("handlersocket: a worker could not start");
      app_.reset();
    } else if (!acceptor_.watch(epoll_.get())) {
      shared_.log("handlersocket: a worker cannot watch the listeners");
    } else {
      loop();
    }
  } catch (const std::exception& error) {
    shared_.log(std::string("handlersocket: a worker leaves: ") + error.what());
  }
  leave();
}

void Worker::loop() {
  while (!shared_.stopping.load(std::memory_order_relaxed) && app_->keep_running()) {
    const int timeout = time_to_wait();
    const std::size_t count = await_events(timeout);
    if (count == 0 && timeout != 0 && !rested_) {
      rested_ = true;
      app_->idle();
    }
    acceptor_.resume(now_);
    retry_blocked();
    run_pass();
    close_expired(count < events_at_once);
  }
}

int Worker::time_to_wait() const {
  if (!ready_.empty()) return 0;
  // No shorter, to find out sooner that there is nothing to do: a timer that is due soon is dear
  // to set at each request.
  const std::uint64_t due = connections_.next_unblock();
  if (due >= now_ + tick_ms * ms) return tick_ms;
  const std::uint64_t delay = due > now_ ? due - now_ : 0;
  return std::min(tick_ms, static_cast<int>((delay + ms - 1) / ms));
}

// How many there were. Only a client that is alone is worth staying awake for: among several the
// next request is there sooner than anyone could fall asleep, or nobody knows when it comes.
std::size_t Worker::await_events(int timeout_ms) {
  const bool may_stay = shared_.config.busy_poll.count() != 0 && timeout_ms != 0;
  if (may_stay && turns_.size() == 1 && busy_poll_.worth_it()) {
    if (const std::size_t count = stay_awake(); count != 0) return count;
  }
  return take_events(timeout_ms);
}

std::size_t Worker::stay_awake() {
  counters_.add(Counter::busy_polls);
  const std::chrono::nanoseconds limit = shared_.config.busy_poll;
  const std::uint64_t deadline = monotonic_now() + static_cast<std::uint64_t>(limit.count());
  std::size_t count = take_events(0);
  while (count == 0 && now_ < deadline) {
    std::this_thread::yield();  // to the client, if it has to share the core with us
    count = take_events(0);
  }
  // What came late has waited for whoever the core was given to: asleep, we would have been woken.
  const bool in_time = count != 0 && now_ < deadline;
  busy_poll_.note(in_time);
  if (in_time) counters_.add(Counter::busy_poll_hits);
  return count;
}

// How many there were.
std::size_t Worker::take_events(int timeout_ms) {
  std::array<epoll_event, events_at_once> events;
  const int count = std::max(
      ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms), 0);
  now_ = monotonic_now();
  for (int i = 0; i < count; ++i) take_event(events[static_cast<std::size_t>(i)]);
  if (inbox_filled_) take_inbox();
  return static_cast<std::size_t>(count);
}

void Worker::take_event(const epoll_event& event) {
  Source& source = *static_cast<Source*>(event.data.ptr);
  switch (source.kind) {
    case Source::Kind::listener:
      acceptor_.accept_some(static_cast<const Listener&>(source), now_, sockets_);
      for (Descriptor& socket : sockets_) add(std::move(socket));
      sockets_.clear();
      return;
    case Source::Kind::inbox: inbox_filled_ = true; return;
    case Source::Kind::connection: break;
  }
  Connection& connection = static_cast<Connection&>(source);
  if ((event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) connection.readable = true;
  if ((event.events & (EPOLLRDHUP | EPOLLHUP)) != 0) connection.peer_done = true;
  switch (connection.state) {
    case Connection::State::open:
    case Connection::State::lingering:
      if (connection.readable) enqueue(connection);
      return;
    case Connection::State::flushing:
      if ((event.events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0) flush(connection);
      return;
    case Connection::State::blocked:
    case Connection::State::streaming: return;  // read when it is open again
  }
}

void Worker::take_inbox() {
  inbox_filled_ = false;
  Connection* returned = inbox_.take(sockets_);
  for (Descriptor& socket : sockets_) add(std::move(socket));
  sockets_.clear();
  while (returned != nullptr) {
    Connection& connection = *std::exchange(returned, returned->next_in_queue);
    connections_.set_state(connection, Connection::State::open, now_);
    if (connection.broken) {
      close(connection);
    } else {
      proceed(connection);
    }
  }
}

// The socket counts as a connection since it was accepted.
void Worker::add(Descriptor socket) {
  Connection* connection = nullptr;
  try {
    // So that enqueue() never allocates; a pass may queue those again that it is about to remove.
    const std::size_t most_queued = 2 * (connections_.size() + 1);
    if (ready_.capacity() < most_queued) ready_.reserve(2 * most_queued);
    connection = &connections_.add(std::move(socket), app_->open_dialogue(), inbox_, now_);
  } catch (const std::bad_alloc&) {
    shared_.connections.fetch_sub(1, std::memory_order_relaxed);
    inbox_.load.fetch_sub(1, std::memory_order_relaxed);
    counters_.add(Counter::connections_closed);
    return;
  }
  epoll_event event{.events = EPOLLIN | EPOLLRDHUP | EPOLLET,
                    .data = {.ptr = static_cast<Source*>(connection)}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, connection->socket.get(), &event) != 0 ||
      connection->dialogue == nullptr) {
    close(*connection);
  }
}

void Worker::retry_blocked() {
  while (Connection* const connection = connections_.first_unblocked(now_)) {
    connections_.set_state(*connection, Connection::State::open, now_);
    connection->due = true;
    enqueue(*connection);
  }
}

// `caught_up`: no event of a client waits to be seen, so a silent one is really silent.
void Worker::close_expired(bool caught_up) {
  while (Connection* const connection = connections_.first_lingered(now_)) close(*connection);
  while (Connection* const connection = caught_up ? connections_.first_idle(now_) : nullptr) {
    if (connection->queued) {
      connections_.mark_active(*connection, now_);
    } else {
      close(*connection);
    }
  }
}

void Worker::close(Connection& connection) {
  if (connection.queued) std::erase(ready_, &connection);
  connections_.erase(connection);
  shared_.connections.fetch_sub(1, std::memory_order_relaxed);
  inbox_.load.fetch_sub(1, std::memory_order_relaxed);
  counters_.add(Counter::connections_closed);
}

void Worker::leave() {
  inbox_.close();
  await_streamers();
  end_all_connections();
  if (app_ != nullptr) app_->stop();
  app_.reset();
  epoll_.close();
  // Nobody would answer: clients are better off with a refused connection.
  if (shared_.workers_left.fetch_sub(1) == 1) {
    acceptor_.turn_away_waiting({arena_.get(), arena_size_});
    shared_.listeners.clear();
  }
}

// A streamer that has one of our connections sees that the inbox is closed and
// gives it back at its next send.
void Worker::await_streamers() {
  shared_.streams.give_back_all_of(inbox_);
  while (true) {
    inbox_.reset();
    Connection* returned = inbox_.take(sockets_);
    const std::size_t refused = sockets_.size();
    for (Descriptor& socket : sockets_) end_with_eof(socket, {arena_.get(), arena_size_});
    sockets_.clear();
    shared_.connections.fetch_sub(refused, std::memory_order_relaxed);
    inbox_.load.fetch_sub(refused, std::memory_order_relaxed);
    counters_.add(Counter::connections_closed, refused);
    while (returned != nullptr) {
      Connection& connection = *std::exchange(returned, returned->next_in_queue);
      connections_.set_state(connection, Connection::State::open, now_);
    }
    if (!connections_.any_streaming()) return;
    pollfd inbox{.fd = inbox_.fd(), .events = POLLIN, .revents = 0};
    ::poll(&inbox, 1, tick_ms);
  }
}

void Worker::end_all_connections() {
  const std::size_t count = connections_.size();
  connections_.for_each([this](Connection& connection) {
    end_with_eof(connection.socket, {arena_.get(), arena_size_});
  });
  ready_.clear();
  connections_.clear();
  shared_.connections.fetch_sub(count, std::memory_order_relaxed);
  inbox_.load.fetch_sub(count, std::memory_order_relaxed);
  counters_.add(Counter::connections_closed, count);
}

}  // namespace hs::net
