// What a streamer executes: long finds, and writes that take long. What a waiter executes: writes
// that wait for a row. And what a remote thread does: any request to a table on another server. Who
// has waited too long for a remote thread is answered here, also on a worker.
#include <cassert>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "passes/runner.h"
#include "passes/waiting.h"

namespace hs::passes {
namespace {

using net::Next;
using net::Turn;
using store::Outcome;
using store::PassMode;
using store::Verdict;

constexpr std::size_t max_opened_for_streams = 64;

using Clock = std::chrono::steady_clock;

// When a request has to end that has been worked on for some time already.
Clock::time_point end_of_request(std::chrono::nanoseconds most, std::chrono::nanoseconds worked) {
  return most.count() == 0 ? store::Budget::never : Clock::now() + (most - worked);
}

// Passes a long find's bytes on to the connection, and ends the find when its time is over. A find
// on a remote thread is never parked: a streamer could not go on with it.
class StreamSink final : public store::Sink {
 public:
  StreamSink(net::Stream& stream, bool may_park, std::unique_ptr<store::Position> from,
             std::chrono::nanoseconds most_time)
      : stream_(stream),
        may_park_(may_park),
        sent_(from != nullptr && from->reply_begun),
        worked_(from != nullptr ? from->worked : std::chrono::nanoseconds{0}),
        rows_(from != nullptr ? from->rows_examined : 0),
        began_(Clock::now()),
        ends_(end_of_request(most_time, worked_)) {
    position = std::move(from);
  }
  Flushed flush(Buffer& out, bool can_park) override {
    if (!alive_ || is_over_time()) return Flushed::ended;
    sent_ = true;
    switch (stream_.send(out, may_park_ && can_park)) {
      case net::Stream::Sent::all: return Flushed::sent;
      case net::Stream::Sent::stalled: return Flushed::stalled;
      case net::Stream::Sent::ended: break;
    }
    alive_ = false;
    return Flushed::ended;
  }
  bool must_give_way() override { return may_park_ && stream_.must_give_way(); }
  bool must_end() override {
    if (stream_.must_end()) alive_ = false;
    return !alive_ || is_over_time();
  }
  bool has_sent() const { return sent_; }
  bool alive() const { return alive_; }
  bool was_late() const { return was_late_; }
  // The find's, in all its pieces.
  std::chrono::nanoseconds worked() const { return worked_ + (Clock::now() - began_); }
  std::uint64_t rows_before() const { return rows_; }

 private:
  bool is_over_time() {
    was_late_ = was_late_ || (ends_ != store::Budget::never && Clock::now() >= ends_);
    return was_late_;
  }

  net::Stream& stream_;
  const bool may_park_;
  bool sent_;
  bool alive_ = true;
  bool was_late_ = false;
  const std::chrono::nanoseconds worked_;  // before
  const std::uint64_t rows_;               // looked at before
  const Clock::time_point began_;
  const Clock::time_point ends_;
};

// Frees the memory of a large request when it has been executed.
struct GivesBack {
  Protocol& protocol;
  ~GivesBack() { protocol.give_back(); }
};

}  // namespace

// A pass of one request. If something throws, nothing is left open.
template <class Execute>
Outcome Runner::run_pass(PassMode mode, Execute execute) {
  try {
    budget_.begin(config_.max_pass_steps);
    // A find ends by its sink.
    if (mode == PassMode::aside)
      budget_.end_time_at(end_of_request(config_.max_request_time.get(), {}));
    store_->begin_pass(mode, budget_);
    const Outcome outcome = execute();
    const Outcome ended = store_->end_pass();
    store_->release();
    return outcome.ok() && !ended.ok() ? ended : outcome;
  } catch (...) {
    store_->abandon_pass();
    throw;
  }
}

// Opens the request's index and has the dialogue execute it.
Outcome Runner::run_alone(PassMode mode, Turn& turn, const FirstRequest& request, Alone& alone) {
  return run_pass(mode, [&] {
    const Outcome opened = open_for_stream(request, alone.use);
    return alone.use ? static_cast<Dialogue&>(*turn.dialogue).execute_first(alone) : opened;
  });
}

FirstRequest Runner::begin_alone(Turn& turn) {
  turn.consumed = turn.reply_begin = turn.reply_end = 0;
  turn.next = Next::wait;
  begin_tally();
  attend(turn);
  requests_ = 1;
  return static_cast<Dialogue&>(*turn.dialogue).first_request(turn, protocol());
}

// So a server that does not answer delays each client by a bounded time only, and the requests of
// clients that have given up take no time of the remote threads.
void Runner::answer_late(Turn& turn, Buffer& out) {
  attend(turn);
  const GivesBack at_the_end{protocol()};
  const FirstRequest request = begin_alone(turn);
  switch (request.kind) {
    case FirstRequest::Kind::incomplete:
    case FirstRequest::Kind::done: return;
    case FirstRequest::Kind::quick: turn.next = Next::again; return;
    case FirstRequest::Kind::open:  // the worker counts it, and answers it
      turn.next = Next::again;
      return static_cast<Dialogue&>(*turn.dialogue).end_open(request, lock_wait_timed_out, {});
    case FirstRequest::Kind::find:
    case FirstRequest::Kind::write: break;
  }
  tally(Counter::errors);
  protocol().append_error(lock_wait_timed_out, out);
  note_answered(turn, request.counter);
  end_request(turn, request.end_offset, true);
  count();
}

void Runner::run_stream(Turn& turn, Buffer& out, net::Stream& stream) {
  assert(out.empty());
  attend(turn);
  const GivesBack at_the_end{protocol()};
  const FirstRequest request = begin_alone(turn);
  switch (request.kind) {
    case FirstRequest::Kind::incomplete:
    case FirstRequest::Kind::done: return;
    case FirstRequest::Kind::quick: turn.next = Next::again; return;
    case FirstRequest::Kind::find: run_find(turn, request, out, stream); break;
    case FirstRequest::Kind::write: run_write(turn, request, out); break;
    case FirstRequest::Kind::open: run_open(turn, request); break;
  }
  count();
}

void Runner::run_find(Turn& turn, const FirstRequest& request, Buffer& out, net::Stream& stream) {
  auto& dialogue = static_cast<Dialogue&>(*turn.dialogue);
  StreamSink sink(stream, !turn.on_remote_thread, std::move(dialogue.position()),
                  config_.max_request_time.get());
  store::IndexUse use;
  Alone alone{.protocol = protocol(),
              .store = *store_,
              .use = use,
              .out = out,
              .sink = &sink,
              .reply_begins = !sink.has_sent()};
  Outcome outcome = run_alone(PassMode::together, turn, request, alone);

  if (outcome.verdict() == Verdict::parked) {
    assert(sink.position != nullptr);
    if (!sink.position->reply_begun) out.clear();
    sink.position->worked = sink.worked();
    sink.position->rows_examined = sink.rows_before() + budget_.rows();
    dialogue.position() = std::move(sink.position);
    requests_ = 0;  // it is counted when it ends
    tally(Counter::finds_parked);
    turn.next = Next::stream;
    return;
  }
  if (outcome.verdict() == Verdict::remote && !sink.has_sent()) return hand_on(turn, out);
  if (sink.was_late()) {
    outcome = Error::max_request_time;
    tally(Counter::requests_timed_out);
  }
  if (!outcome.ok()) out.clear();
  const bool is_untouched = !sink.has_sent() || sink.position != nullptr;
  if (outcome.verdict() == Verdict::blocked && is_untouched) {
    if (turn.blocked_since == 0) tally(Counter::requests_blocked);
    if (time_blocked(turn) < config_.lock_wait_timeout.get()) {
      requests_ = 0;
      dialogue.position() = std::move(sink.position);
      turn.next = Next::retry;
      return;
    }
    outcome = lock_wait_timed_out;
  }
  if (!outcome.answered()) outcome = deadlock;  // nothing else can end a find with a sink

  if (!outcome.status().ok()) {
    tally(Counter::errors);
    if (!sink.has_sent()) protocol().append_error(outcome.status(), out);
  }
  // A reply that has begun cannot become an error, so its connection is closed.
  const bool whole = outcome.status().ok() || !sink.has_sent();
  const bool goes_on = whole && sink.alive();
  if (!goes_on) out.clear();
  note_answered(turn, request.counter);
  tally(turn.on_remote_thread ? Counter::requests_remote : Counter::long_finds);
  note_time(turn, request, sink.worked(), sink.rows_before() + budget_.rows());
  end_request(turn, request.end_offset, goes_on);
}

// Tells of the streamer's request if it took long.
void Runner::note_time(const Turn& turn, const FirstRequest& request,
                       std::chrono::nanoseconds worked, std::uint64_t rows) const {
  const std::chrono::nanoseconds is_long = config_.long_request_time.get();
  if (is_long.count() == 0 || worked < is_long) return;
  config_.note_long_request({.connection = turn.connection,
                             .peer = turn.peer,
                             .account = turn.dialogue->user(),
                             .kind = request.described,
                             .names = request.names,
                             .rows_examined = rows,
                             .time = worked});
}

// The streamer's request has been answered: sets what the turn does next.
void Runner::end_request(Turn& turn, std::size_t consumed, bool goes_on) {
  turn.consumed = consumed;
  if (!goes_on) {
    turn.next = Next::close;
  } else if (protocol().whole_requests(turn.input.substr(consumed)) != 0) {
    turn.next = Next::again;
  }
}

// A write that takes long, or waits for a row that another session has locked. If nothing was done,
// it has to be executed again, and requests_ is set to 0.
void Runner::run_write(Turn& turn, const FirstRequest& request, Buffer& out) {
  store::IndexUse use;
  Alone alone{.protocol = protocol(),
              .store = *store_,
              .use = use,
              .out = out,
              .sink = nullptr,
              .reply_begins = true};
  const Clock::time_point began = Clock::now();
  const Outcome outcome = run_alone(PassMode::aside, turn, request, alone);
  if (outcome.verdict() == Verdict::remote) return hand_on(turn, out);
  Status status = outcome.status();
  // A deadlock: two sessions waited for each other, and this one was chosen to give way.
  const bool gave_way = outcome.verdict() == Verdict::broken || status.kind() == Error::deadlock;
  if (!outcome.answered() || (gave_way && !outcome.is_for_good())) {
    if (turn.blocked_since == 0) tally(Counter::requests_blocked);
    if (time_blocked(turn) < config_.lock_wait_timeout.get()) {
      turn.next = outcome.verdict() == Verdict::oversized ? Next::in_line : Next::retry;
      requests_ = 0;
      return;
    }
    if (gave_way && status.kind() != Error::deadlock) status = deadlock;
    if (status.ok()) status = lock_wait_timed_out;
  }
  if (!status.ok()) {
    out.clear();
    tally(Counter::errors);
    protocol().append_error(status, out);
  }
  if (status.kind() == Error::max_request_time) tally(Counter::requests_timed_out);
  note_answered(turn, request.counter);
  tally(Counter::values_ignored, alone.values_ignored);
  tally(turn.on_remote_thread ? Counter::requests_remote : Counter::writes_aside);
  note_time(turn, request, Clock::now() - began, budget_.rows());
  end_request(turn, request.end_offset, true);
}

// An index of a table on another server. What the worker has to know of it is left with the
// dialogue. This opens the table even if this thread has done so before: it may be gone.
void Runner::run_open(Turn& turn, const FirstRequest& request) {
  store::IndexUse use;
  requests_ = 0;  // the worker counts it
  const Outcome outcome = run_pass(PassMode::together, [&] {
    return store_->open_index(request.names, *request.caller, *request.codec, use);
  });
  turn.next = Next::again;
  Status status = outcome.status();
  if (!outcome.answered()) {
    if (time_blocked(turn) < config_.lock_wait_timeout.get()) {
      turn.next = Next::retry;
      return;
    }
    status = lock_wait_timed_out;
  }
  static_cast<Dialogue&>(*turn.dialogue).end_open(request, status, use);
}

// The table has moved to another server. Nothing was done.
void Runner::hand_on(Turn& turn, Buffer& out) {
  out.clear();
  requests_ = 0;
  turn.next = Next::remote;
}

// Sets `use`, or leaves it null if the index cannot be opened. An index stays open for later
// requests, because a streamer is not asked to open any. Another connection may have opened it: what
// this caller may do is asked when the index is used.
Outcome Runner::open_for_stream(const FirstRequest& request, store::IndexUse& use) {
  if (const auto found = opened_.find(request.index_key); found != opened_.end()) {
    use = {found->second, *request.caller, *request.codec};
    return {};
  }
  const Outcome outcome = store_->open_index(request.names, *request.caller, *request.codec, use);
  if (!use) return outcome;
  if (opened_.size() >= max_opened_for_streams) opened_.clear();
  opened_.emplace(request.index_key, use.shared());
  return outcome;
}

}  // namespace hs::passes
