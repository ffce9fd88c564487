#include "passes/requests.h"

#include <cassert>
#include <chrono>
#include <utility>

#include "passes/waiting.h"

namespace hs::passes {
namespace {

using net::Next;
using store::PassMode;
using store::Verdict;

// A request that asks for a row now and then never gets it while others queue for it. So after this
// time a waiter queues for it, too.
constexpr std::chrono::milliseconds queue_after{50};

}  // namespace

// The pass is full. Nobody knows yet whether the next request reads or writes, and there is room
// kept for writes.
void Requests::leave_rest() {
  turn_.put_off = runs() == Runs::all_but_writes && pass_.executes_writes() &&
                  protocol().writes() && turn_.consumed == 0;
  if (!turn_.put_off) turn_.next = Next::again;
}

void Requests::append_errors(Status status, std::uint32_t replies) {
  static_cast<Dialogue&>(*turn_.dialogue).append_errors(status, replies, out_);
}

void Requests::refused(Counter counter, std::size_t end_offset) {
  pass_.tally().add_answered(turn_, counter);
  tally(Counter::errors);
  turn_.consumed = end_offset;
  pass_.end_request();
}

bool Requests::end(const Answer& answer, std::size_t end_offset) {
  if (answer.put_off) {
    turn_.put_off = runs() == Runs::all_but_writes;
    if (!turn_.put_off) {
      turn_.next = Next::again;
      pass_.spend();
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
    case Verdict::not_yet: return stop(Stop::before_commit);
    case Verdict::blocked:
      if (wait(answer)) return false;
      append_errors(answer.status.ok() ? lock_wait_timed_out : answer.status, answer.replies);
      ok = false;
      break;
    case Verdict::broken:
      if (pass_.mode() == PassMode::together) return stop(Stop::broken);
      if (wait(answer)) return false;
      append_errors(deadlock, answer.replies);
      ok = false;
      break;
  }
  pass_.end_request();
  pass_.tally().add_answered(turn_, answer.counter);
  const std::size_t begin_offset = std::exchange(turn_.consumed, end_offset);
  pass_.tally().add(Counter::values_ignored, answer.values_ignored);
  if (!ok) tally(Counter::errors);
  if (pass_.mode() == PassMode::writes_alone) return true;
  // The store has had nothing to commit. If there are replies to writes, these have changed nothing.
  if (answer.for_good) return stop(Stop::committed);
  // A request behind a write may have seen that write: a find its row, an insert its key. So its
  // reply, even an error, is true only if the commit succeeds.
  const bool is_behind_write = (answer.write || answer.read) && !pass_.writes().empty();
  if (is_behind_write || (ok && answer.write))
    pass_.add_write_reply(number_, begin_offset, out_, ok, answer.replies);
  return true;
}

// Whether a request that is blocked is to be asked again.
bool Requests::wait(const Answer& answer) {
  if (turn_.blocked_since == 0 || turn_.consumed != 0) tally(Counter::requests_blocked);
  const std::chrono::nanoseconds blocked = time_blocked(turn_);
  if (blocked >= pass_.config().lock_wait_timeout.get()) return false;
  turn_.next = !answer.status.ok() && blocked >= queue_after ? Next::queue : Next::retry;
  return true;
}

}  // namespace hs::passes
