// Requests: the requests of one turn, as its dialogue executes them in a pass.
//
// It lives on the stack while a worker executes the turn. The dialogue asks it before each request,
// and tells it how the request has ended. What that means for the turn is decided here: the budget,
// the order of reads and writes, locks, and which replies are true only if the commit succeeds. It
// knows no protocol, and leaves to PassRunner whatever concerns other turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "passes/dialogue.h"
#include "passes/pass.h"
#include "passes/waiting.h"

namespace hs::passes {

class Requests {
 public:
  // Why the turn was stopped, although the dialogue could go on with it.
  enum class Stop : std::uint8_t {
    none,
    before_commit,  // its next request comes behind a commit of all that was executed before it
    committed,      // its last request is committed, and must never be executed again
    broken,         // the pass has to be executed again
  };

  Requests(Pass& pass, std::size_t number, net::Turn& turn, Buffer& out, bool gives_up_first)
      : pass_(pass), number_(number), turn_(turn), out_(out), gives_up_first_(gives_up_first) {}
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  // For the dialogue.
  net::Turn& turn() const { return turn_; }
  Buffer& out() const { return out_; }
  Protocol& protocol() const { return pass_.protocol(); }
  store::Store& store() const { return pass_.store(); }
  Runs runs() const { return pass_.runs(); }
  Changes& changes() const { return pass_.changes(); }

  // Whether the turn's first request has waited for too long. It is not executed but refused with
  // `row_wait_timed_out`, or if its own time is over with `out_of_time`.
  bool gives_up_first() const { return gives_up_first_ && turn_.consumed == 0; }

  // The next request may take so many milliseconds since it has come. Returns whether they are over:
  // then it is not executed but refused with `out_of_time`.
  bool begin_within(std::uint64_t within_ms) {
    turn_.deadline = deadline_of(turn_, within_ms, pass_.config());
    return is_over(turn_.deadline);
  }
  // The request of begin_within() was answered.
  void end_within() { turn_.deadline = 0; }

  // Whether the pass has room for the next request. If not, the turn is over.
  bool may_begin() {
    if (pass_.is_full(out_)) [[unlikely]] {
      leave_rest();
      return false;
    }
    pass_.begin_request(out_);
    if (pass_.looks_ahead()) [[unlikely]]
      pass_.look_ahead(number_);
    return true;
  }
  // Of a request of several steps: whether it has done as much as a worker may do for one request. Then
  // it undoes what it has done, and is Verdict::oversized.
  bool is_long() const { return pass_.steps_of_request() > most_steps_of_request; }
  // Of a request of many steps, after each of them: whether it may take the next one. If not, the turn
  // is over. Then the dialogue keeps where the request goes on in a turn to come, if is_part_final().
  bool may_go_on() {
    pass_.spend();
    if (!pass_.is_full(out_)) [[likely]]
      return true;
    if (is_part_final()) turn_.has_part = true;
    leave_rest();
    return false;
  }
  // Whether what the request has done until now, and said in its reply, stays true. Behind changes
  // that are not committed it may not. Then the dialogue takes all of it back, and the request begins
  // anew in the next pass, where reads come before changes.
  bool is_part_final() const { return pass_.writes().empty(); }
  // The request that began last has ended so. True: go on with the request at `turn().consumed`.
  // False: execute() has to return.
  bool end(const Answer& answer, std::size_t end_offset);
  // The request that ends at `end_offset` was answered with an error and not executed.
  void refused(Counter counter, std::size_t end_offset);

  void tally(Counter counter) { pass_.tally().add(counter); }
  // The request that began last has taken so many steps of the pass, beside its first one.
  void spend(std::uint64_t steps) { pass_.spend(steps); }
  // How many notes the protocol has taken in this pass. If the pass is executed again, it is what it was.
  std::uint32_t& notes() const { return pass_.tally().notes; }

  // For PassRunner, when execute() has returned.
  Stop take_stop() { return std::exchange(stop_, Stop::none); }

 private:
  // About a millisecond. What a store lets one find or one write of a worker do is about as much.
  static constexpr std::uint64_t most_steps_of_request = 4000;

  bool stop(Stop why) {
    stop_ = why;
    return false;
  }
  void leave_rest();
  bool wait(const Answer& answer);
  void append_errors(Status status, std::uint32_t replies);

  Pass& pass_;
  const std::size_t number_;
  net::Turn& turn_;
  Buffer& out_;
  const bool gives_up_first_;
  Stop stop_ = Stop::none;
};

}  // namespace hs::passes
