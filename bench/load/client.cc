#include "load/client.h"

#include <sys/epoll.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "load/strange_server.h"

namespace hs::bench {
namespace {

constexpr std::size_t input_size = std::size_t{256} << 10;
constexpr int connect_timeout_ms = 10'000;
constexpr std::chrono::seconds greeting_timeout{30};
// Without traffic, a run looks at the clock this often.
constexpr std::chrono::nanoseconds longest_wait = std::chrono::milliseconds(50);

std::string system_error() { return std::strerror(errno); }

timespec to_timespec(std::chrono::nanoseconds time) {
  const auto count = std::clamp(time, std::chrono::nanoseconds::zero(), longest_wait).count();
  return {.tv_sec = 0, .tv_nsec = count};
}

}  // namespace

Client::Client(const Options& options, Address address, std::uint32_t connections,
               std::atomic<std::uint64_t>& newest_key, std::uint64_t seed)
    : options_(options),
      address_(std::move(address)),
      wire_(make_wire(options)),
      keys_(options.keys, newest_key, seed),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      connections_(connections),
      input_(input_size),
      operations_left_(options.operations == 0 ? std::numeric_limits<std::uint64_t>::max()
                                               : options.operations / options.threads),
      rate_(options.rate / options.threads) {
  request_keys_.reserve(std::max(options.keys_per_find, options.rows_per_insert));
}

std::string Client::connect() {
  for (Connection& connection : connections_) {
    if (options_.rate > 0) connection.starts.resize(options_.depth);
    if (!open(connection)) return "cannot connect: " + address_.error();
  }
  const auto deadline = Clock::now() + greeting_timeout;
  while (std::ranges::any_of(connections_, [](auto& each) { return each.greetings != 0; })) {
    if (!handle_events(to_timespec(longest_wait))) return "epoll_wait: " + system_error();
    if (outcome_.lost_connections != 0) return "connection lost: " + outcome_.tally.first_error;
    if (uncounted_.errors != 0) return "the server refused: " + uncounted_.first_error;
    if (Clock::now() > deadline) return "the server does not answer";
  }
  return {};
}

void Client::run(const Timeline& timeline) {
  timeline_ = timeline;
  running_ = true;
  now_ = loop_began_ = Clock::now();
  if (options_.rate <= 0) {
    for (Connection& connection : connections_) start_batch(connection);
  } else {
    // The kernel may wake a thread 50 us late. That time would count as the server's.
    ::prctl(PR_SET_TIMERSLACK, 1UL);
  }
  while (!finished()) {
    const bool all_started = options_.rate <= 0 || start_due_requests();
    if (!handle_events(time_to_wait(all_started))) break;
  }
  if (options_.rate > 0) record_unanswered();
  connections_.clear();
}

// If a server stops answering before the end, there are no replies, but its slowness has to count.
// So each request that still waits, sent or not, counts with the time that it has waited so far.
void Client::record_unanswered() {
  const auto now = std::min(Clock::now(), timeline_.to);
  const auto record = [&](Clock::time_point intended) {
    if (intended < now)
      outcome_.latency.record(static_cast<std::uint64_t>((now - intended).count()));
  };
  for (const Connection& connection : connections_) {
    for (std::uint32_t i = 0; i < connection.in_flight; ++i) {
      record(connection.starts[(connection.oldest + i) % options_.depth]);
    }
  }
  if (operations_left_ == 0) return;
  while (intended_start(started_requests_ + 1) < now) record(intended_start(++started_requests_));
}

Clock::time_point Client::intended_start(std::uint64_t number) const {
  const std::chrono::duration<double> since(static_cast<double>(number) / rate_);
  return loop_began_ + std::chrono::duration_cast<Clock::duration>(since);
}

bool Client::finished() const {
  if (now_ >= timeline_.to || alive_ == 0) return true;
  return operations_left_ == 0 && busy_ == 0;
}

// False if epoll itself fails.
bool Client::handle_events(const timespec& timeout) {
  std::array<epoll_event, 256> events;
  const int count = epoll_pwait2(epoll_.get(), events.data(), events.size(), &timeout, nullptr);
  if (count < 0 && errno != EINTR) return false;
  now_ = Clock::now();
  counting_ = running_ && now_ >= timeline_.from && now_ < timeline_.to;
  for (int i = 0; i < count; ++i) {
    Connection& connection = *static_cast<Connection*>(events[i].data.ptr);
    if ((events[i].events & EPOLLOUT) != 0) flush(connection);
    if ((events[i].events & ~EPOLLOUT) != 0 && connection.socket.valid()) receive(connection);
  }
  return true;
}

timespec Client::time_to_wait(bool all_started) const {
  // If a request is due but was not started, it waits for room in a connection, and a reply will
  // wake this thread. If one has become due since then, the wait must be zero.
  if (options_.rate <= 0 || !all_started) return to_timespec(longest_wait);
  return to_timespec(intended_start(started_requests_ + 1) - Clock::now());
}

bool Client::open(Connection& connection) {
  connection.started = Clock::now();
  connection.socket = address_.connect(connect_timeout_ms);
  if (!connection.socket.valid()) return false;
  connection.counter = wire_->counter();
  connection.out.clear();
  connection.sent = 0;
  connection.waits_to_send = false;
  connection.has_heard = false;
  connection.in_flight = 0;
  epoll_event event{.events = EPOLLIN, .data = {.ptr = &connection}};
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, connection.socket.get(), &event) != 0) return false;
  ++alive_;
  connection.greetings = wire_->greet(connection.out);
  // A connection that is used for one request sends it together with its greeting.
  if (running_ && options_.reconnect) {
    start_batch(connection);
  } else {
    flush(connection);
  }
  return true;
}

void Client::lose(Connection& connection, std::string_view why) {
  ++outcome_.lost_connections;
  outcome_.tally.error(why);
  busy_ -= connection.in_flight != 0;
  connection.in_flight = 0;
  connection.socket.reset();
  --alive_;
}

void Client::flush(Connection& connection) {
  Buffer& out = connection.out;
  while (connection.sent < out.size()) {
    const ssize_t sent = connection.socket.send(out.view(connection.sent, out.size()));
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) return lose(connection, system_error());
    if (sent < 0) break;
    connection.sent += static_cast<std::size_t>(sent);
  }
  const bool waits = connection.sent < out.size();
  if (!waits) {
    out.clear();
    connection.sent = 0;
  }
  if (waits == connection.waits_to_send) return;
  connection.waits_to_send = waits;
  epoll_event event{.events = EPOLLIN | (waits ? EPOLLOUT : 0U), .data = {.ptr = &connection}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.socket.get(), &event);
}

void Client::receive(Connection& connection) {
  ssize_t count = 0;
  do {
    count = connection.socket.receive(input_);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count < 0) return lose(connection, system_error());
    if (count == 0) return lose(connection, "the server closed the connection");
    std::string_view bytes(input_.data(), static_cast<std::size_t>(count));
    if (!std::exchange(connection.has_heard, true)) {
      const std::string strange = strange_server(bytes, options_.protocol);
      if (!strange.empty()) return lose(connection, strange);
    }
    // Line by line, so that replies to a greeting are not counted, and the replies behind them are
    // not lost.
    while (connection.greetings != 0 && !bytes.empty()) {
      const std::size_t end = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
      greeted(connection, feed(connection, bytes.substr(0, end), uncounted_));
      bytes.remove_prefix(end);
    }
    if (bytes.empty()) continue;
    answered(connection, feed(connection, bytes, counting_ ? outcome_.tally : uncounted_));
  } while (static_cast<std::size_t>(count) == input_.size() && connection.socket.valid());
}

// Returns how many replies were in `bytes`.
std::uint64_t Client::feed(Connection& connection, std::string_view bytes, Tally& tally) {
  const std::uint64_t before = tally.replies;
  connection.counter->feed(bytes, tally);
  return tally.replies - before;
}

void Client::greeted(Connection& connection, std::uint64_t replies) {
  if (replies == 0) return;
  connection.greetings -= std::min<std::size_t>(replies, connection.greetings);
  if (connection.greetings == 0 && running_ && connection.in_flight == 0) start_batch(connection);
}

void Client::answered(Connection& connection, std::uint64_t replies) {
  if (replies == 0) return;
  if (replies > connection.in_flight) return lose(connection, "more replies than requests");
  done_.store(done_.load(std::memory_order_relaxed) + replies, std::memory_order_relaxed);
  connection.in_flight -= static_cast<std::uint32_t>(replies);
  busy_ -= connection.in_flight == 0;
  const auto now = Clock::now();
  if (options_.rate > 0) {
    for (std::uint64_t i = 0; i < replies; ++i) {
      const auto taken = now - connection.starts[connection.oldest];
      connection.oldest = connection.oldest + 1 == options_.depth ? 0 : connection.oldest + 1;
      if (counting_) outcome_.latency.record(static_cast<std::uint64_t>(taken.count()));
    }
    return;
  }
  if (connection.in_flight != 0) return;
  if (counting_) {
    const auto taken = now - connection.started;
    outcome_.latency.record(static_cast<std::uint64_t>(taken.count()), connection.batch);
  }
  if (!options_.reconnect) return start_batch(connection);
  connection.socket.reset();
  --alive_;
  if (!open(connection)) {
    ++outcome_.lost_connections;
    outcome_.tally.error("cannot connect: " + address_.error());
  }
}

void Client::write_request(Connection& connection) {
  const Mix& mix = options_.mix;
  Action action = Action::find;
  if (mix.find != 100) action = mix.at(static_cast<std::uint32_t>(keys_.below(100)));
  request_keys_.clear();
  for (std::uint32_t i = 0; i < options_.keys_of(action); ++i)
    request_keys_.push_back(action == Action::insert ? keys_.insert() : keys_.existing());
  connection.counter->expect(action, request_keys_);
  wire_->write(connection.out, action, request_keys_);
  busy_ += connection.in_flight == 0;
  ++connection.in_flight;
  --operations_left_;
}

void Client::start_batch(Connection& connection) {
  const std::uint64_t wanted = options_.reconnect ? 1 : options_.depth;
  connection.batch = static_cast<std::uint32_t>(std::min(wanted, operations_left_));
  if (!options_.reconnect) connection.started = Clock::now();
  for (std::uint32_t i = 0; i < connection.batch; ++i) write_request(connection);
  if (connection.batch != 0) flush(connection);
}

// Each request has its own time, whatever happened to those before it. If there is no room for one,
// it is sent late, but measured from its own time. False if some have to wait, for room in a
// connection or for the end.
bool Client::start_due_requests() {
  const auto now = Clock::now();
  const std::chrono::duration<double> passed = now - loop_began_;
  const auto due = static_cast<std::uint64_t>(passed.count() * rate_);
  std::size_t full = 0;
  while (started_requests_ < due && full < connections_.size() && operations_left_ != 0) {
    Connection& connection = connections_[next_connection_];
    next_connection_ = next_connection_ + 1 == connections_.size() ? 0 : next_connection_ + 1;
    if (!connection.socket.valid() || connection.in_flight == options_.depth) {
      ++full;
      continue;
    }
    full = 0;
    const std::size_t slot = (connection.oldest + connection.in_flight) % options_.depth;
    connection.starts[slot] = intended_start(++started_requests_);
    write_request(connection);
  }
  for (Connection& connection : connections_) {
    if (connection.socket.valid() && connection.sent < connection.out.size()) flush(connection);
  }
  return started_requests_ >= due && operations_left_ != 0;
}

}  // namespace hs::bench
