#include "net/worker.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <utility>

namespace hs::net {
namespace {

constexpr std::size_t events_at_once = 512;
constexpr int leavers_at_once = 32;
constexpr std::size_t late_at_once = 1024;  // no more than there is room for in turns_

}  // namespace

bool Worker::open() {
  epoll_ = Descriptor(kernel::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) return false;
  // Edge-triggered: the eventfd is never read, and each notification is an event.
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = static_cast<Source*>(&inbox_)}};
  return kernel::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, inbox_.fd(), &event) == 0;
}

void Worker::run() {
  ::pthread_setname_np(::pthread_self(), "hs-worker");
  // An exception must not end the process that we are a guest of.
  try {
    if (start()) loop();
  } catch (const std::exception& error) {
    shared_.log_line(LogLevel::error, "handlersocket: a worker leaves: ", error.what());
  }
  leave();
}

bool Worker::start() try {
  app_ = shared_.factory.make_worker(crew_.number, counters_);
  // The host shuts down, and says so itself.
  if (app_ == nullptr) return false;
  if (!app_->start()) {
    if (!shared_.stopping)
      shared_.log_line(LogLevel::error, "handlersocket: a worker could not start");
    app_.reset();
    return false;
  }
  if (acceptor_.watch(epoll_.get())) return true;
  shared_.log_line(LogLevel::error, "handlersocket: a worker cannot watch the listeners");
  return false;
} catch (const std::exception& error) {
  shared_.log_line(LogLevel::error, "handlersocket: a worker could not start: ", error.what());
  return false;
}

void Worker::loop() {
  now_ = kernel::monotonic_now();
  while (!shared_.stopping.load(std::memory_order_relaxed) && app_->keep_running()) {
    const int timeout = time_to_wait();
    const std::size_t count = await_events(timeout);
    if (count == 0 && timeout != 0 && !rested_) {
      rested_ = true;
      app_->idle();
    }
    acceptor_.resume(now_);
    retry_blocked();
    end_leavers();
    run_pass();
    close_expired(count < events_at_once);
    answer_late();
    answer_overdue();
    crew_.balance.look(now_);
    spread_connections();
  }
}

int Worker::time_to_wait() const {
  if (!ready_.empty() || inbox_filled_ || inbox_.leavers.any()) return 0;
  // The time-out is never shortened to call idle() sooner: a timer that is due soon costs too much
  // to set at each request.
  const std::uint64_t due = std::min(connections_.next_unblock(), next_deadline_);
  if (due >= now_ + tick_ms * ms) return tick_ms;
  const std::uint64_t delay = due > now_ ? due - now_ : 0;
  return std::min(tick_ms, static_cast<int>((delay + ms - 1) / ms));
}

// Returns the number of events. It is worth staying awake only for a client that is alone. With
// several clients, either the next request is there before the worker could fall asleep, or nobody
// knows when it comes.
std::size_t Worker::await_events(int timeout_ms) {
  const bool may_stay = shared_.config.busy_poll.get().count() != 0 && timeout_ms != 0;
  std::size_t count = 0;
  if (timeout_ms != 0) crew_.balance.sleeps(inbox_.number, std::max(now_, pass_ended_));
  if (may_stay && turns_.size() == 1 && busy_poll_.worth_it()) count = stay_awake();
  if (count == 0) count = take_events(timeout_ms);
  if (timeout_ms != 0) crew_.balance.wakes(inbox_.number, now_);
  // Returned connections are taken only between passes. What a streamer has executed for a
  // connection is newer than what the present pass sees, so the connection must not join that pass.
  if (inbox_filled_) take_inbox();
  return count;
}

std::size_t Worker::stay_awake() {
  counters_.own().add(Counter::busy_polls);
  const std::chrono::nanoseconds limit = shared_.config.busy_poll.get();
  const std::uint64_t deadline = pass_ended_ + static_cast<std::uint64_t>(limit.count());
  std::size_t count = take_events(0);
  while (count == 0 && now_ < deadline) {
    kernel::yield();  // to the client, if it shares the core with this thread
    count = take_events(0);
  }
  // An event that came late has waited for the thread that got the core. A sleeping worker would
  // have been woken sooner.
  const bool in_time = count != 0 && now_ < deadline;
  busy_poll_.note(in_time);
  if (in_time) counters_.own().add(Counter::busy_poll_hits);
  return count;
}

// Returns the number of events.
std::size_t Worker::take_events(int timeout_ms) {
  std::array<epoll_event, events_at_once> events;
  const int count = std::max(
      kernel::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms),
      0);
  now_ = kernel::monotonic_now();
  for (int i = 0; i < count; ++i) take_event(events[static_cast<std::size_t>(i)]);
  return static_cast<std::size_t>(count);
}

void Worker::take_event(const epoll_event& event) {
  Source& source = *static_cast<Source*>(event.data.ptr);
  switch (source.kind) {
    case Source::Kind::listener:
      acceptor_.accept_some(static_cast<const Listener&>(source), now_, sockets_);
      for (Accepted& socket : sockets_) add(std::move(socket));
      sockets_.clear();
      return;
    case Source::Kind::inbox: inbox_filled_ = true; return;
    case Source::Kind::connection: break;
  }
  Connection& connection = static_cast<Connection&>(source);
  if ((event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) connection.readable = true;
  if ((event.events & (EPOLLRDHUP | EPOLLHUP)) != 0) connection.peer_done = true;
  switch (connection.state) {
    case Connection::State::waiting:
    case Connection::State::lingering:
      if (connection.readable) enqueue(connection);
      return;
    case Connection::State::flushing:
      if ((event.events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0) flush(connection);
      return;
    case Connection::State::greeting:
      if (connection.progress == ByteFilter::Progress::wants_output) {
        if ((event.events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) == 0) return;
        watch_output(connection, false);
      }
      return shake_hands(connection);
    // These wait for no event. What was noted is looked at when they have their turn, or wait
    // again.
    case Connection::State::queued:
    case Connection::State::draining:
    case Connection::State::in_pass:
    case Connection::State::blocked:
    case Connection::State::streaming:
    case Connection::State::logging_in:
    case Connection::State::remote:
    case Connection::State::lock_wait:
    case Connection::State::shaking: return;
  }
}

// In the middle of a pass: a connection whose next request writes may join it. What else is in the
// inbox stays there.
void Worker::take_moved() {
  inbox_.take_moved(moved_);
  if (!moved_.empty()) adopt(moved_);
}

void Worker::take_inbox() {
  inbox_filled_ = false;
  std::shared_ptr<Question> question;
  Connection* returned = inbox_.take(sockets_, moved_, question);
  for (Accepted& socket : sockets_) add(std::move(socket));
  sockets_.clear();
  if (!moved_.empty()) [[unlikely]]
    adopt(moved_);
  while (returned != nullptr) {
    Connection& connection = *std::exchange(returned, returned->next_in_queue);
    if (connection.state == Connection::State::shaking) [[unlikely]] {
      take_handshake(connection);
    } else {
      take_returned(connection);
    }
  }
  if (question == nullptr) [[likely]]
    return;
  answer(*question);
  // There may be another question. The connections have their turn before it.
  inbox_filled_ = true;
}

// From a streamer or a thread of its kind. A write that still waits after a waiter's time goes behind
// those for which there was no waiter.
void Worker::take_returned(Connection& connection) {
  const bool has_waited = connection.state == Connection::State::lock_wait;
  connections_.set_state(connection, Connection::State::waiting, now_);
  if (has_waited) connection.reads_away = 0;  // for a lock, so it has written
  if (connection.has_to_end.load(std::memory_order_relaxed)) {
    end(connection);
  } else if (connection.broken) {
    close(connection);
  } else if (!connection.recount()) {
    shed(connection);
  } else if (has_waited && connection.next == Next::in_line) {
    connections_.set_state(connection, Connection::State::blocked, now_);
  } else if (connection.output.empty()) {
    proceed(connection);
  } else {
    begin_flushing(connection);
  }
}

void Worker::answer(Question& question) {
  if (question.kind == Question::Kind::close) {
    Connection* const connection = connections_.find(question.id);
    if (connection != nullptr) end(*connection);
    return question.answer({}, connection != nullptr);
  }
  if (question.is_abandoned()) return;
  try {
    if (question.kind == Question::Kind::report) return question.answer(app_->report());
    std::vector<SeenConnection> seen;
    seen.reserve(connections_.size());
    connections_.for_each(
        [&](const Connection& connection) { seen.push_back(seen_at(connection, now_)); });
    question.answer(std::move(seen), false);
  } catch (const std::bad_alloc&) {
    question.fail();
  }
}

// Ends a connection that somebody has asked to end. If a streamer has it, the streamer looks at
// has_to_end and gives it back soon. A handshaker never keeps one for long. A log-in thread keeps
// it as long as the host needs for the log-in, and a remote thread until the other server answers.
void Worker::end(Connection& connection) {
  using State = Connection::State;
  if (connection.state == State::lingering || connection.state == State::draining)
    return;  // it ends already
  if (const Carrier* const carrier = carrier_of(connection.state); carrier != nullptr) {
    connection.has_to_end.store(true, std::memory_order_relaxed);
    return crew_.queue_of(carrier->role).give_back(connection);
  }
  end_work_of(connection);
  linger(connection);
}

// The socket counts as a connection since it was accepted.
void Worker::add(Accepted socket) {
  Port& port = *socket.port;
  Connection* connection = nullptr;
  try {
    // Reserves memory, so that enqueue() never allocates. There are twice as many places as
    // connections, because a pass may queue a connection again whose entry it is about to remove.
    const std::size_t most_queued = 2 * (connections_.size() + 1);
    if (ready_.capacity() < most_queued) ready_.reserve(2 * most_queued);
    connection =
        &connections_.add(std::move(socket), app_->open_dialogue(port.number), inbox_, now_);
    if (connection->dialogue != nullptr) connection->dialogue->number = connection->id;
    connections_.add_newcomer(*connection);
    if (connection->share.is_stranger()) {
      connection->place = port.strangers.take(connection->peer);
      if (!connection->place) return turn_away(*connection);
    }
  } catch (const std::bad_alloc&) {
    if (connection != nullptr) return close(*connection);
    forget(port);
    return;
  }
  epoll_event event{.events = EPOLLIN | EPOLLRDHUP | EPOLLET,
                    .data = {.ptr = static_cast<Source*>(connection)}};
  if (kernel::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, connection->socket.get(), &event) != 0 ||
      connection->dialogue == nullptr) {
    close(*connection);
  }
}

void Worker::retry_blocked() {
  while (Connection* const connection = connections_.first_unblocked(now_)) {
    connections_.set_state(*connection, Connection::State::waiting, now_);
    if (connection->next == Next::in_line && hand_to_waiter(*connection)) continue;
    // A blocked connection with Next::wait had no room to read more of its request, so it has to
    // read first.
    connection->due = connection->next != Next::wait;
    enqueue(*connection);
  }
}

// `caught_up`: no event of a client waits to be seen, so a client that seems silent really is.
void Worker::close_expired(bool caught_up) {
  while (Connection* const connection = connections_.first_lingered(now_)) close(*connection);
  while (Connection* const connection = connections_.first_late(now_)) {
    counters_of(*connection).add(Counter::tls_handshakes_failed);
    end_work_of(*connection);
    linger(*connection);
  }
  while (Connection* const connection = connections_.next_late_newcomer(now_)) {
    end_late(*connection);
  }
  while (Connection* const connection = caught_up ? connections_.first_idle(now_) : nullptr) {
    if (is_listed_as_ready(connection->state)) {
      connections_.mark_active(*connection, now_);
    } else {
      counters_of(*connection).add(Counter::connections_idle);
      close(*connection);
    }
  }
}

// Answers those that have waited too long for a remote thread, as if they had turns in a pass. The
// remote threads may all wait for a server that does not answer, and take nobody meanwhile.
void Worker::answer_late() {
  if (crew_.config.remote_threads == 0 || now_ - late_looked_at_ < tick_ms * ms) return;
  late_looked_at_ = now_;
  const std::uint64_t patience = shared_.remote_patience();
  if (now_ < patience) return;
  answer_as_late(crew_.queue_of(Role::remote).take_back(inbox_, now_ - patience, late_at_once));
}

// The same with those whose deadline has come before a streamer or a remote thread had time for them.
void Worker::answer_overdue() {
  if (next_deadline_ > now_) [[likely]]
    return;
  next_deadline_ = no_deadline;
  for (const Role role : {Role::streamer, Role::remote})
    answer_as_late(crew_.queue_of(role).take_overdue(inbox_, now_, late_at_once, next_deadline_));
}

// They are this worker's again.
void Worker::answer_as_late(Connection* late) {
  if (late == nullptr) return;
  turns_.clear();
  takers_.clear();
  out_.clear();
  while (late != nullptr) {
    Connection& connection = *std::exchange(late, late->next_in_queue);
    connections_.set_state(connection, Connection::State::waiting, now_);
    add_turn(connection, connection.input.view());
    turns_.back().on_remote_thread = true;
  }
  try {
    for (Turn& turn : turns_) {
      const std::size_t begin = out_.size();
      app_->answer_late(turn, out_);
      turn.reply_begin = begin;
      turn.reply_end = out_.size();
    }
  } catch (const std::exception&) {
    return close_pass();
  }
  settle_turns(Turns::all);
}

// Ends only a few at a time, because the other connections want their turn.
void Worker::end_leavers() {
  for (int i = 0; i < leavers_at_once && inbox_.leavers.any(); ++i) {
    if (Connection* const connection = shared_.waiting.next_to_go(inbox_.leavers))
      shed(*connection);
  }
}

// Ends a connection that holds more than there is room for, and gives back its memory at once. The
// client is told why, unless that would stand in the middle of a reply.
void Worker::shed(Connection& connection) {
  counters_of(connection).add(Counter::connections_shed);
  if (shared_.waiting.is_to_be_logged(now_)) {
    shared_.log_line(
        LogLevel::warning,
        "handlersocket: requests and replies that wait take as much memory as "
        "handlersocket_max_waiting_bytes allows: the connections that hold most are closed");
  }
  // A long find may have sent the beginning of its reply. Who holds nothing but a filter has asked
  // nothing.
  const bool between_replies = !connection.input.empty() && connection.output.empty() &&
                               connection.next != Next::stream && !connection.reply_begun;
  end_work_of(connection);
  if (between_replies) return refuse(connection, Refusal::no_room);
  linger(connection);
}

// Ends a connection that is only waiting, and tells its client why.
void Worker::refuse(Connection& connection, Refusal why) {
  try {
    Buffer reply;
    connection.dialogue->refuse(why, reply);
    counters_of(connection).add(Counter::errors);
    counters_of(connection).add(Counter::bytes_sent, connection.send(reply.view()).bytes);
  } catch (const std::bad_alloc&) {  // the connection ends without a reply
  }
  linger(connection);
}

// Whatever the connection waits for: it is only waiting now, and holds nothing.
void Worker::end_work_of(Connection& connection) {
  connection.input.free_memory();
  connection.output.free_memory();
  connection.recount();
  if (connection.state == Connection::State::queued) std::erase(ready_, &connection);
  if (connection.state == Connection::State::flushing ||
      connection.state == Connection::State::greeting) {
    watch_output(connection, false);
  }
  if (connection.state != Connection::State::waiting) {
    connections_.set_state(connection, Connection::State::waiting, now_);
  }
}

void Worker::close(Connection& connection) {
  if (is_listed_as_ready(connection.state)) std::erase(ready_, &connection);
  connection.end_filter();
  Port& port = *connection.port;
  connections_.erase(connection);
  forget(port);
}

// A connection of the port is gone.
void Worker::forget(Port& port) {
  port.connections.fetch_sub(1, std::memory_order_relaxed);
  inbox_.load.fetch_sub(1, std::memory_order_relaxed);
  counters_.of(port.number).add(Counter::connections_closed);
}

void Worker::leave() {
  inbox_.close();
  await_carriers();
  end_all_connections();
  if (app_ != nullptr) app_->stop();
  app_.reset();
  epoll_.close();
  // Nobody would answer: a refused connection is better for the clients.
  if (crew_.workers_left.fetch_sub(1) == 1) {
    acceptor_.turn_away_waiting({arena_.get(), arena_size_});
    crew_.listeners.clear();
  }
}

// A streamer that has a connection of this worker sees that the inbox is closed. It gives the
// connection back at its next send. A handshaker never keeps one for long.
void Worker::await_carriers() {
  for (ConnectionQueue& queue : crew_.queues) queue.give_back_all_of(inbox_);
  std::shared_ptr<Question> question;
  while (true) {
    inbox_.reset();
    Connection* returned = inbox_.take(sockets_, moved_, question);
    connections_.take_over(moved_);
    if (question != nullptr) question->answer({}, false);
    for (Accepted& accepted : sockets_) {
      end_with_eof(accepted.socket, {arena_.get(), arena_size_});
      forget(*accepted.port);
    }
    sockets_.clear();
    while (returned != nullptr) {
      Connection& connection = *std::exchange(returned, returned->next_in_queue);
      connections_.set_state(connection, Connection::State::waiting, now_);
    }
    if (question != nullptr) continue;  // there may be another
    if (!connections_.any_away()) return;
    pollfd inbox{.fd = inbox_.fd(), .events = POLLIN, .revents = 0};
    kernel::poll(&inbox, 1, tick_ms);
  }
}

void Worker::end_all_connections() {
  connections_.for_each([this](Connection& connection) {
    connection.end_filter();
    end_with_eof(connection.socket, {arena_.get(), arena_size_});
    forget(*connection.port);
  });
  ready_.clear();
  connections_.clear();
}

}  // namespace hs::net
