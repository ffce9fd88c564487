#include "passes/requests.h"

#include <cassert>
#include <chrono>

#include "passes/waiting.h"

namespace hs::passes {
namespace {

using net::Next;
using store::Outcome;
using store::PassMode;
using store::Verdict;

// A request that asks for a row now and then never gets it while others queue for it. So after this
// time a waiter queues for it, too.
constexpr std::chrono::milliseconds queue_after{50};

}  // namespace

// The pass is full. Nobody knows yet whether the next request reads or writes, and there is room
// kept for writes.
void Requests::leave_rest() {
  turn_.put_off =
      runner_.runs_ == Runs::all_but_writes && protocol().writes() && turn_.consumed == 0;
  if (!turn_.put_off) turn_.next = Next::again;
}

void Requests::refused(Counter counter, std::size_t end_offset) {
  runner_.note_answered(turn_, counter);
  tally(Counter::errors);
  turn_.consumed = end_offset;
  ++runner_.requests_;
  runner_.budget_.spend();
}

bool Requests::end(const Answer& answer, std::size_t end_offset) {
  if (answer.put_off) {
    turn_.put_off = runner_.runs_ == Runs::all_but_writes;
    if (!turn_.put_off) {
      turn_.next = Next::again;
      runner_.budget_.spend();
    }
    return false;
  }
  bool ok = answer.ok;
  switch (answer.verdict) {
    case Verdict::answered: break;
    case Verdict::parked: assert(false); [[fallthrough]];  // a find is parked only if it has a sink
    case Verdict::oversized:
      turn_.next = answer.status.ok() ? Next::stream : Next::in_line;
      if (!answer.status.ok()) tally(Counter::requests_blocked);
      return false;
    case Verdict::remote: turn_.next = Next::remote; return false;
    case Verdict::not_yet: broken_ = !commit_so_far(); return !broken_;
    case Verdict::blocked:
      if (wait(answer)) return false;
      protocol().append_error(answer.status.ok() ? lock_wait_timed_out : answer.status, out_);
      ok = false;
      break;
    case Verdict::broken:
      broken_ = runner_.mode_ == PassMode::together;
      if (broken_) return false;
      // Each write commits alone now, so the store should have given this answer itself.
      protocol().append_error(deadlock, out_);
      ok = false;
      break;
  }
  ++runner_.requests_;
  runner_.budget_.spend();
  runner_.note_answered(turn_, answer.counter);
  turn_.consumed = end_offset;
  runner_.tally(Counter::values_ignored, answer.values_ignored);
  if (!ok) tally(Counter::errors);
  if (runner_.mode_ == PassMode::writes_alone) return true;
  if (answer.for_good) {
    assert(runner_.writes_.empty());
    runner_.set_mark_in(number_, turn_, out_);
    return true;
  }
  // A request behind a write may have seen that write: a find its row, an insert its key. So its
  // reply, even an error, is true only if the commit succeeds.
  const bool is_behind_write = (answer.write || answer.read) && !runner_.writes_.empty();
  if (is_behind_write || (ok && answer.write))
    runner_.writes_.push_back({number_, runner_.request_begin_, out_.size(), ok});
  return true;
}

// Whether a request that is blocked is to be asked again.
bool Requests::wait(const Answer& answer) {
  if (turn_.blocked_since == 0 || turn_.consumed != 0) tally(Counter::requests_blocked);
  const std::chrono::nanoseconds blocked = time_blocked(turn_);
  if (blocked >= runner_.config_.lock_wait_timeout.get()) return false;
  turn_.next = !answer.status.ok() && blocked >= queue_after ? Next::queue : Next::retry;
  return true;
}

// Ends the pass and begins another in its place. So a write that cannot be undone comes behind a
// commit, and is never executed twice. False if the pass was broken by that.
bool Requests::commit_so_far() {
  assert(runner_.mode_ == PassMode::together);
  turn_.reply_end = out_.size();
  const Outcome ended = runner_.store_->end_pass();
  if (ended.verdict() == Verdict::broken) return false;
  if (!ended.ok()) runner_.answer_writes(ended.status(), turns_.first(number_ + 1), out_);
  runner_.attend(turn_);
  runner_.store_->release();
  runner_.begin_pass(PassMode::together);
  runner_.set_mark_in(number_, turn_, out_);
  return true;
}

}  // namespace hs::passes
