#include "net/streamer.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <utility>

namespace hs::net {
namespace {

constexpr std::size_t largest_kept_out = std::size_t{1} << 20;
// How long a streamer waits for a client before it parks the client's find. A client that reads
// needs less than this to be scheduled, and those who wait for the streamer can bear it.
constexpr std::uint64_t park_after = 15 * ms;
// A find is also parked if it has been carried for this time and others wait for a streamer.
constexpr std::uint64_t share_of_streamer = 20 * ms;
// For how long a waiter stays that has nothing to do.
constexpr int waiter_stays_ms = 10'000;

// Sends to one client while its find is carried.
class ClientStream final : public Stream {
 public:
  // `queue` is that of the streamer.
  ClientStream(Shared& shared, ConnectionQueue& queue, CounterBlock& counters,
               StreamerApplication& app, Connection& connection)
      : shared_(shared),
        queue_(queue),
        counters_(counters),
        app_(app),
        connection_(connection),
        began_(kernel::monotonic_now()) {}

  Sent send(Buffer& out, bool may_stall) override {
    Sent result = failed_ || !may_go_on() ? Sent::ended : Sent::all;
    std::size_t sent = 0;
    while (result == Sent::all && sent < out.size()) {
      const Transfer taken = connection_.send(out.view().substr(sent));
      if (taken.result == Transfer::Result::done) {
        counters_.add(Counter::bytes_sent, taken.bytes);
        sent += taken.bytes;
      } else {
        result = taken.result == Transfer::Result::failed ? Sent::ended : wait_for_room(may_stall);
      }
    }
    out.drop_front(sent);
    failed_ = result == Sent::ended;
    if (failed_) out.clear();
    // Threads that share this core have less to do than a streamer: a worker must not wait for its
    // time slice.
    kernel::yield();
    if (result == Sent::all && may_stall && has_had_its_share()) return Sent::stalled;
    return result;
  }
  bool must_give_way() override {
    kernel::yield();
    return has_had_its_share();
  }
  bool must_end() override {
    failed_ = failed_ || nobody_waits();
    return failed_;
  }
  std::chrono::nanoseconds waited() const override { return std::chrono::nanoseconds{waited_}; }
  // From now on only the rest of the reply is sent, as of any other reply: KILL no longer ends it.
  void end_find() { find_is_over_ = true; }
  bool failed() const { return failed_; }

 private:
  bool may_go_on() {
    return !nobody_waits() && app_.keep_running() && (find_is_over_ || !app_.killed());
  }

  // Somebody has closed the connection, or its worker leaves.
  bool nobody_waits() const {
    return connection_.has_to_end.load(std::memory_order_relaxed) ||
           shared_.stopping.load(std::memory_order_relaxed) || connection_.home->closed();
  }

  bool has_had_its_share() {
    return kernel::monotonic_now() - began_ >= share_of_streamer && queue_.anyone_waits();
  }

  // Returns Sent::all if the client has made room. All waits for the client are counted together: a
  // client that takes a byte now and then is no better than one that takes none.
  Sent wait_for_room(bool may_stall) {
    const std::chrono::nanoseconds patience = shared_.config.stream_patience.get();
    const std::uint64_t limit =
        may_stall ? park_after : static_cast<std::uint64_t>(patience.count());
    std::array<pollfd, 2> waits{
        pollfd{.fd = connection_.socket.get(), .events = POLLOUT, .revents = 0},
        pollfd{.fd = shared_.stop_event.fd(), .events = POLLIN, .revents = 0}};
    while (may_go_on()) {
      if (waited_ >= limit || (may_stall && queue_.anyone_waits())) {
        return may_stall ? Sent::stalled : Sent::ended;
      }
      const std::uint64_t begin = kernel::monotonic_now();
      const std::uint64_t left_ms = (limit - waited_ + ms - 1) / ms;
      const int ready =
          kernel::poll(waits.data(), waits.size(),
                       static_cast<int>(std::min<std::uint64_t>(left_ms, longest_poll_ms)));
      waited_ += kernel::monotonic_now() - begin;
      // An error comes as an event too, and the next send() finds it.
      if (ready > 0 && waits[0].revents != 0) return Sent::all;
    }
    return Sent::ended;
  }

  // A KILL is noticed within this time.
  static constexpr std::uint64_t longest_poll_ms = 20;

  Shared& shared_;
  ConnectionQueue& queue_;
  CounterBlock& counters_;
  StreamerApplication& app_;
  Connection& connection_;
  const std::uint64_t began_;
  std::uint64_t waited_ = 0;  // ns that it has waited for the client in all
  bool find_is_over_ = false;
  bool failed_ = false;
};

}  // namespace

void Streamer::run() {
  const Carrier& kind = carrier_of(role_);
  ::pthread_setname_np(::pthread_self(), kind.thread);
  // An exception must not end the process that we are a guest of.
  try {
    if (start(kind.could_not_start)) loop();
  } catch (const std::exception& error) {
    shared_.log_line(LogLevel::error, kind.leaves, error.what());
  }
  if (!has_retired_) queue().leave();
  if (app_ != nullptr) app_->stop();
  app_.reset();
}

bool Streamer::start(const char* failure) try {
  app_ = shared_.factory.make_streamer(crew_.number, role_, counters_);
  // The host shuts down, and says so itself.
  if (app_ == nullptr) return false;
  if (app_->start()) return true;
  if (!shared_.stopping) shared_.log_line(LogLevel::error, failure);
  app_.reset();
  return false;
} catch (const std::exception& error) {
  shared_.log_line(LogLevel::error, failure, ": ", error.what());
  return false;
}

void Streamer::loop() {
  bool rested = false;
  int idle_ticks = 0;
  while (!shared_.stopping.load(std::memory_order_relaxed) && app_->keep_running()) {
    Connection* const connection = queue().pop(std::chrono::milliseconds(tick_ms));
    if (connection != nullptr) {
      carry(*connection);
      rested = false;
      idle_ticks = 0;
      continue;
    }
    if (!rested) app_->idle();
    rested = true;
    if (role_ != Role::waiter || ++idle_ticks * tick_ms < waiter_stays_ms) continue;
    has_retired_ = queue().retire();
    if (has_retired_) return;
  }
}

// A long reply is moved. A short one is copied, so that the connection gets no more memory than it
// needs.
void Streamer::keep_output(Connection& connection) {
  connection.output_sent = 0;
  if (out_.size() > largest_kept_out) {
    connection.output = std::move(out_);
  } else {
    connection.output.append(out_.view());
  }
}

void Streamer::carry(Connection& connection) {
  Turn turn;
  turn.dialogue = connection.dialogue.get();
  turn.port = connection.port->number;
  turn.input = connection.input.view();
  turn.blocked_since = connection.blocked_since;
  turn.arrived_at = connection.arrived_at;
  turn.deadline = connection.deadline;
  turn.connection = connection.id;
  turn.peer = &connection.peer;
  Endpoint endpoint;
  if (role_ == Role::log_in) {
    endpoint = connection.endpoint();
    turn.endpoint = &endpoint;
  }
  turn.on_remote_thread = role_ == Role::remote;
  const bool is_late = turn.on_remote_thread &&
                       kernel::monotonic_now() - connection.listed_at >= shared_.remote_patience();
  CounterBlock& counters = counters_.of(connection.port->number);
  ClientStream stream(shared_, queue(), counters, *app_, connection);
  out_.clear();
  try {
    if (is_late) {
      app_->answer_late(turn, out_);
    } else {
      app_->run_stream(turn, out_, stream);
    }
    // Its worker sends what the client does not take now.
    stream.end_find();
    if (stream.send(out_, true) == Stream::Sent::stalled) keep_output(connection);
    hide_secret(turn);
    connection.consume(turn.consumed);
    connection.next = turn.next;
    connection.deadline = turn.deadline;
    const std::uint64_t now = kernel::monotonic_now();
    connection.note_blocked(turn, now);
    counters.latencies.add(turn.answered, now - connection.arrived_at);
    connection.note_answered(turn.answered);
    // A find that was parked has run, so it no longer waits for a lock that it met before.
    if (turn.next == Next::stream) connection.blocked_since = 0;
    // A find that was parked may meet a lock when it goes on. Then its reply has begun all the
    // same.
    connection.reply_begun =
        turn.next == Next::stream || (turn.next == Next::retry && connection.reply_begun);
    connection.broken = stream.failed();
  } catch (const std::exception&) {  // for any exception: the worker waits for its connection
    connection.broken = true;
  }
  if (out_.capacity() > largest_kept_out) out_.free_memory();
  queue().done();
  connection.home->give_back(connection);
}

}  // namespace hs::net
