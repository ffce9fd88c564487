#include "net/streamer.h"

#include <poll.h>
#include <pthread.h>

#include <array>
#include <chrono>
#include <exception>
#include <string>
#include <thread>

namespace hs::net {
namespace {

constexpr std::size_t largest_kept_out = std::size_t{1} << 20;
// How long a client may take nothing if the configuration sets no limit.
constexpr std::chrono::seconds default_patience{60};

// The way to one client while its find is carried.
class ClientStream final : public Stream {
 public:
  ClientStream(Shared& shared, CounterBlock& counters, Application& app, Connection& connection)
      : shared_(shared), counters_(counters), app_(app), connection_(connection) {}

  bool send(Buffer& out) override {
    std::string_view rest = out.view();
    bool alive = !failed_ && may_go_on();
    while (alive && !rest.empty()) {
      const Transfer sent = connection_.send(rest);
      if (sent.result == Transfer::Result::would_block) {
        alive = wait_for_room();
        continue;
      }
      alive = sent.result == Transfer::Result::done;
      counters_.add(Counter::bytes_sent, sent.bytes);
      rest.remove_prefix(sent.bytes);
    }
    out.clear();
    failed_ = !alive;
    // Whoever shares this core has less to do than we: a worker must not wait for our time slice.
    std::this_thread::yield();
    return alive;
  }
  bool failed() const { return failed_; }

 private:
  bool may_go_on() {
    return !shared_.stopping.load(std::memory_order_relaxed) && !connection_.home.closed() &&
           app_.keep_running();
  }

  // True if the client makes room before its time is up and nobody wants us to leave.
  bool wait_for_room() {
    const std::chrono::seconds timeout = shared_.config.idle_timeout;
    const std::chrono::nanoseconds patience = timeout.count() > 0 ? timeout : default_patience;
    const std::uint64_t deadline = monotonic_now() + static_cast<std::uint64_t>(patience.count());
    std::array<pollfd, 2> waits{
        pollfd{.fd = connection_.socket.get(), .events = POLLOUT, .revents = 0},
        pollfd{.fd = shared_.stop_event.fd(), .events = POLLIN, .revents = 0}};
    while (may_go_on() && monotonic_now() < deadline) {
      // Errors come as an event too, and the next send() finds out.
      if (::poll(waits.data(), waits.size(), tick_ms) > 0 && waits[0].revents != 0) return true;
    }
    return false;
  }

  Shared& shared_;
  CounterBlock& counters_;
  Application& app_;
  Connection& connection_;
  bool failed_ = false;
};

}  // namespace

void Streamer::run() {
  ::pthread_setname_np(::pthread_self(), "hs-streamer");
  // An exception must not end the process that we are a guest of.
  try {
    app_ = shared_.factory(Role::streamer, counters_);
    if (app_ == nullptr || !app_->start()) {
      if (!shared_.stopping) shared_.log("handlersocket: a streamer could not start");
      app_.reset();
    } else {
      loop();
    }
  } catch (const std::exception& error) {
    shared_.log(std::string("handlersocket: a streamer leaves: ") + error.what());
  }
  shared_.streams.leave();
  if (app_ != nullptr) app_->stop();
  app_.reset();
}

void Streamer::loop() {
  bool rested = false;
  while (!shared_.stopping.load(std::memory_order_relaxed) && app_->keep_running()) {
    Connection* const connection = shared_.streams.pop(std::chrono::milliseconds(tick_ms));
    if (connection != nullptr) {
      carry(*connection);
      rested = false;
    } else if (!rested) {
      app_->idle();
      rested = true;
    }
  }
}

void Streamer::carry(Connection& connection) {
  Turn turn;
  turn.dialogue = connection.dialogue.get();
  turn.input = connection.input.view();
  turn.blocked_since = connection.blocked_since;
  ClientStream stream(shared_, counters_, *app_, connection);
  out_.clear();
  try {
    app_->run_stream(turn, out_, stream);
    stream.send(out_);
    connection.consume(turn.consumed);
    connection.next = turn.next;
    connection.note_blocked(turn, monotonic_now());
    if (turn.consumed != 0) counters_.add(Counter::long_finds);
    connection.broken = stream.failed();
  } catch (const std::exception&) {  // whatever it was: the worker waits for its connection
    connection.broken = true;
  }
  if (out_.capacity() > largest_kept_out) out_.release();
  connection.home.give_back(connection);
}

}  // namespace hs::net
