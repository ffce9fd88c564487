#include "passes/late_answer.h"

#include <memory>
#include <string>
#include <utility>

#include "passes/waiting.h"

namespace hs::passes {

using net::Next;
using net::Turn;

void end_alone(Turn& turn, std::size_t consumed, bool goes_on) {
  turn.consumed = consumed;
  if (!goes_on) {
    turn.next = Next::close;
  } else if (turn.dialogue->whole_requests(turn.input.substr(consumed)) != 0) {
    turn.next = Next::again;
  }
}

// So a server that does not answer delays each client by a bounded time only, and the requests of
// clients that have given up take no time of other threads.
void answer_late(Turn& turn, ThreadPorts& ports, Buffer& out) {
  const GivesBack at_the_end{ports};
  auto& dialogue = static_cast<Dialogue&>(*turn.dialogue);
  turn.consumed = turn.reply_begin = turn.reply_end = 0;
  turn.next = Next::wait;
  ports.attend(turn);
  ports.clear_tallies();
  const Plan plan = dialogue.plan(turn, ports.protocol());
  switch (plan.kind) {
    case Plan::Kind::incomplete:
    case Plan::Kind::done: return;
    case Plan::Kind::quick: turn.next = Next::again; return;
    case Plan::Kind::open:  // the worker counts it, and answers it
      turn.next = Next::again;
      dialogue.remote_open() = {.key = std::string(plan.indexes.front().key),
                                .status = lock_wait_timed_out};
      return;
    case Plan::Kind::find:
    case Plan::Kind::write: break;
  }
  const Status ended = is_over(turn.deadline) ? out_of_time : lock_wait_timed_out;
  const std::unique_ptr<store::Position> parked = std::move(dialogue.position());
  const bool goes_on = plan.may_end_with_error(parked != nullptr && parked->reply_begun);
  if (goes_on) dialogue.append_errors(ended, plan.replies, out);
  if (ended == out_of_time) ports.tally().add(Counter::requests_timed_out);
  ports.tally_own(Counter::passes);
  ports.tally().add(Counter::errors);
  ports.tally().add_answered(turn, plan.counter);
  dialogue.end_planned(ended, ports.protocol());
  end_alone(turn, plan.end_offset, goes_on);
  ports.publish();
}

}  // namespace hs::passes
