#include "passes/stream_runner.h"

#include <cassert>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "passes/late_answer.h"
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

Clock::time_point time_of(std::uint64_t deadline) {
  return Clock::now() +
         (std::chrono::nanoseconds{deadline} - std::chrono::nanoseconds{monotonic_now()});
}

// Passes a long find's bytes on to the connection, and ends the find when its time is over. A find
// on a remote thread is never parked: a streamer could not go on with it.
class StreamSink final : public store::Sink {
 public:
  // `deadline`: as in net::Turn.
  StreamSink(net::Stream& stream, bool may_park, std::unique_ptr<store::Position> from,
             std::chrono::nanoseconds most_time, std::uint64_t deadline)
      : stream_(stream),
        may_park_(may_park),
        sent_(from != nullptr && from->reply_begun),
        worked_(from != nullptr ? from->worked : std::chrono::nanoseconds{0}),
        rows_(from != nullptr ? from->rows_examined : 0),
        began_(Clock::now()),
        ends_(end_of_request(most_time, worked_)),
        deadline_(deadline) {
    position = std::move(from);
  }
  Flushed flush(Buffer& out, bool can_park) override {
    if (!alive_ || is_over_time()) return Flushed::ended;
    sent_ = true;
    const net::Stream::Sent sent = stream_.send(out, may_park_ && can_park);
    waited_ = stream_.waited();
    switch (sent) {
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
  bool is_over_time() {
    const bool has_end = ends_ != store::Budget::never;
    was_late_ = was_late_ || (has_end && Clock::now() - waited_ >= ends_) || is_over(deadline_);
    return was_late_;
  }
  bool has_sent() const { return sent_; }
  bool alive() const { return alive_; }
  bool was_late() const { return was_late_; }
  // Where the find goes on, and what it has cost until then. Null: at its beginning.
  std::unique_ptr<store::Position> take_position(std::uint64_t rows_now) {
    if (position != nullptr) {
      position->worked = worked();
      position->rows_examined = rows_ + rows_now;
    }
    return std::move(position);
  }
  // On the find, in all its pieces.
  std::chrono::nanoseconds worked() const { return worked_ + (Clock::now() - began_) - waited_; }
  std::uint64_t rows_before() const { return rows_; }

 private:
  net::Stream& stream_;
  const bool may_park_;
  bool sent_;
  bool alive_ = true;
  bool was_late_ = false;
  const std::chrono::nanoseconds worked_;  // before
  const std::uint64_t rows_;               // looked at before
  const Clock::time_point began_;
  const Clock::time_point ends_;  // if it never waits for the client
  const std::uint64_t deadline_;
  std::chrono::nanoseconds waited_{};  // for the client, in this piece
};

struct ClearsUses {
  std::vector<store::IndexUse>& uses;
  ~ClearsUses() { uses.clear(); }
};

// The table is on another server. What was not sent yet is found there.
void hand_on(Turn& turn, Buffer& out) {
  out.clear();
  turn.next = Next::remote;
}

}  // namespace

StreamRunner::StreamRunner(const RunnerConfig& config, std::unique_ptr<store::Store> store,
                           std::span<const MakeProtocol> protocols,
                           std::span<CounterBlock* const> counters)
    : config_(config), store_(std::move(store)), ports_(*store_, protocols, counters) {}

// A pass of one request. If something throws, nothing is left open.
template <class Execute>
Outcome StreamRunner::run_pass(PassMode mode, std::uint64_t deadline, Execute execute) {
  try {
    budget_.begin(config_.max_pass_steps);
    // A find ends by its sink.
    if (mode == PassMode::aside) {
      budget_.end_time_at(end_of_request(config_.max_request_time.get(), {}));
      if (deadline != 0) budget_.interrupt_at(time_of(deadline));
    }
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

// Whether a request that is blocked may be asked again.
bool StreamRunner::may_wait(const Turn& turn) const {
  return time_blocked(turn) < config_.lock_wait_timeout.get() && !is_over(turn.deadline);
}

// Opens the request's indexes and has the dialogue execute it. No use outlives the pass.
Outcome StreamRunner::run_planned(PassMode mode, Turn& turn, const Plan& plan, Place& place) {
  const ClearsUses at_the_end{uses_};
  place.deadline = turn.deadline;
  return run_pass(mode, turn.deadline, [&] {
    const Outcome opened = open_indexes(plan);
    const bool is_missing = uses_.size() != plan.indexes.size();
    if (is_missing && (plan.replies == 1 || !opened.answered())) return opened;
    place.uses = uses_;
    place.not_opened = opened.status();
    return static_cast<Dialogue&>(*turn.dialogue).execute_planned(place, ports_.protocol());
  });
}

void StreamRunner::answer_late(Turn& turn, Buffer& out) { passes::answer_late(turn, ports_, out); }

void StreamRunner::run_stream(Turn& turn, Buffer& out, net::Stream& stream) {
  assert(out.empty());
  const GivesBack at_the_end{ports_};
  turn.consumed = turn.reply_begin = turn.reply_end = 0;
  turn.next = Next::wait;
  ports_.attend(turn);
  ports_.clear_tallies();
  const Plan plan = static_cast<Dialogue&>(*turn.dialogue).plan(turn, ports_.protocol());
  turn.deadline = deadline_of(turn, plan.within_ms, config_);
  switch (plan.kind) {
    case Plan::Kind::incomplete:
    case Plan::Kind::done: return;
    case Plan::Kind::quick: turn.next = Next::again; return;
    case Plan::Kind::find: run_find(turn, plan, out, stream); break;
    case Plan::Kind::write: run_write(turn, plan, out, stream); break;
    case Plan::Kind::open: run_open(turn, plan); break;
  }
  ports_.publish();
}

void StreamRunner::run_find(Turn& turn, const Plan& plan, Buffer& out, net::Stream& stream) {
  auto& dialogue = static_cast<Dialogue&>(*turn.dialogue);
  StreamSink sink(stream, !turn.on_remote_thread, std::move(dialogue.position()),
                  config_.max_request_time.get(), turn.deadline);
  Place place{
      .store = *store_, .uses = {}, .out = out, .sink = &sink, .reply_begins = !sink.has_sent()};
  budget_.begin(config_.max_pass_steps);  // it counts what was done, which may be nothing
  Outcome outcome = sink.is_over_time() ? Outcome(out_of_time)
                                        : run_planned(PassMode::together, turn, plan, place);

  if (outcome.verdict() == Verdict::parked) {
    assert(sink.position != nullptr);
    if (!sink.position->reply_begun) out.clear();
    dialogue.position() = sink.take_position(budget_.rows());
    ports_.tally().add(Counter::finds_parked);
    turn.next = Next::stream;
    return;
  }
  if (outcome.verdict() == Verdict::remote && (!sink.has_sent() || plan.reply_is_of_parts)) {
    // A remote thread finds the parts that are missing. The position has what the others have cost.
    if (sink.has_sent()) dialogue.position() = sink.take_position(budget_.rows());
    return hand_on(turn, out);
  }
  if (sink.was_late()) outcome = out_of_time;
  if (!outcome.ok()) out.clear();
  const bool is_untouched = !sink.has_sent() || sink.position != nullptr;
  if (outcome.verdict() == Verdict::blocked && is_untouched) {
    if (turn.blocked_since == 0) ports_.tally().add(Counter::requests_blocked);
    if (may_wait(turn)) {
      dialogue.position() = sink.take_position(budget_.rows());
      turn.next = Next::retry;
      return;
    }
    outcome = is_over(turn.deadline) ? out_of_time : lock_wait_timed_out;
  }
  if (!outcome.answered()) outcome = deadlock;  // nothing else can end a find with a sink

  const bool may_fail = plan.may_end_with_error(sink.has_sent());
  if (!outcome.status().ok()) {
    if (outcome.status() == out_of_time) ports_.tally().add(Counter::requests_timed_out);
    ports_.tally().add(Counter::errors);
    if (may_fail) dialogue.append_errors(outcome.status(), plan.replies, out);
  }
  const bool goes_on = (outcome.status().ok() || may_fail) && sink.alive();
  if (!goes_on) out.clear();
  ports_.tally().add(turn.on_remote_thread ? Counter::requests_remote : Counter::long_finds);
  note_time(turn, plan, sink.worked(), sink.rows_before() + budget_.rows());
  end_request(turn, plan, outcome.status(), goes_on);
}

// Tells of the streamer's request if it took long.
void StreamRunner::note_time(const Turn& turn, const Plan& plan, std::chrono::nanoseconds worked,
                             std::uint64_t rows) const {
  const std::chrono::nanoseconds is_long = config_.long_request_time.get();
  if (is_long.count() == 0 || worked < is_long) return;
  config_.note_long_request({.connection = turn.connection,
                             .peer = turn.peer,
                             .account = turn.dialogue->user(),
                             .kind = plan.described,
                             .names = plan.first_names(),
                             .rows_examined = rows,
                             .time = worked});
}

// The request has been answered.
void StreamRunner::end_request(Turn& turn, const Plan& plan, Status ended, bool goes_on) {
  ports_.tally_own(Counter::passes);
  ports_.tally().add_answered(turn, plan.counter);
  static_cast<Dialogue&>(*turn.dialogue).end_planned(ended, ports_.protocol());
  end_alone(turn, plan.end_offset, goes_on);
}

// A write that takes long, or waits for a row that another session has locked. If nothing was done,
// it has to be executed again.
void StreamRunner::run_write(Turn& turn, const Plan& plan, Buffer& out, net::Stream& stream) {
  Place place{.store = *store_, .uses = {}, .out = out, .client = &stream};
  const Clock::time_point began = Clock::now();
  budget_.begin(config_.max_pass_steps);  // it counts what was done, which may be nothing
  const Outcome outcome = is_over(turn.deadline) ? Outcome(out_of_time)
                                                 : run_planned(PassMode::aside, turn, plan, place);
  if (outcome.verdict() == Verdict::remote) return hand_on(turn, out);
  Status status = outcome.status();
  // A deadlock: two sessions waited for each other, and this one was chosen to give way.
  const bool gave_way = outcome.verdict() == Verdict::broken || status.kind() == Error::deadlock;
  if (!outcome.answered() || (gave_way && !outcome.is_for_good())) {
    if (turn.blocked_since == 0) ports_.tally().add(Counter::requests_blocked);
    if (may_wait(turn)) {
      turn.next = outcome.verdict() == Verdict::oversized ? Next::in_line : Next::retry;
      return;
    }
    if (gave_way && status.kind() != Error::deadlock) status = deadlock;
    if (status.ok()) status = lock_wait_timed_out;
    if (is_over(turn.deadline)) status = out_of_time;
  }
  if (!status.ok()) {
    out.clear();
    static_cast<Dialogue&>(*turn.dialogue).append_errors(status, plan.replies, out);
  }
  if (!status.ok() || place.failed) ports_.tally().add(Counter::errors);
  if (status == out_of_time) ports_.tally().add(Counter::requests_timed_out);
  ports_.tally().add(Counter::values_ignored, place.values_ignored);
  ports_.tally().add(turn.on_remote_thread ? Counter::requests_remote : Counter::writes_aside);
  note_time(turn, plan, Clock::now() - began, budget_.rows());
  end_request(turn, plan, status, true);
}

// An index of a table on another server. What the worker has to know of it is left with the
// dialogue. This opens the table even if this thread has done so before: it may be gone.
void StreamRunner::run_open(Turn& turn, const Plan& plan) {
  const NeededIndex& index = plan.indexes.front();
  store::IndexUse use;
  const Outcome outcome = run_pass(
      PassMode::together, 0, [&] { return store_->open_index(index.names, *plan.caller, use); });
  turn.next = Next::again;
  Status status = outcome.status();
  if (!outcome.answered()) {
    if (may_wait(turn)) {
      turn.next = Next::retry;
      return;
    }
    status = lock_wait_timed_out;
  }
  RemoteOpen ended{.key = std::string(index.key), .status = status};
  if (use) {
    ended.key_parts = use.index().key_parts();
    ended.column_count = use.index().column_count();
  }
  static_cast<Dialogue&>(*turn.dialogue).remote_open() = std::move(ended);
}

// Fills `uses_`, up to the first index that cannot be opened. An index stays open for later requests,
// because a streamer is not asked to open any. Another connection may have opened it: what this
// caller may do is asked when the index is used.
Outcome StreamRunner::open_indexes(const Plan& plan) {
  uses_.clear();
  for (const NeededIndex& index : plan.indexes) {
    if (const auto found = opened_.find(index.key); found != opened_.end()) {
      uses_.emplace_back(found->second, *plan.caller);
      continue;
    }
    store::IndexUse use;
    const Outcome outcome = store_->open_index(index.names, *plan.caller, use);
    if (!use) return outcome;
    if (opened_.size() >= max_opened_for_streams) opened_.clear();
    opened_.emplace(index.key, use.shared());
    uses_.push_back(std::move(use));
  }
  return {};
}

}  // namespace hs::passes
