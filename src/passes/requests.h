// Requests: the requests of one turn, as its dialogue executes them in a pass.
//
// It lives on the stack for one call of Dialogue::execute(). The dialogue asks it before each
// request, and tells it how the request has ended. What that means for the turn and for the pass is
// decided here: the budget, the order of reads and writes, locks, commits, and which replies are
// true only if the commit succeeds. It knows no protocol.
#pragma once

#include <cstddef>
#include <span>

#include "passes/dialogue.h"
#include "passes/runner.h"

namespace hs::passes {

class Requests {
 public:
  Requests(Runner& runner, std::size_t number, std::span<net::Turn> turns, Buffer& out)
      : runner_(runner), number_(number), turns_(turns), turn_(turns[number]), out_(out) {}
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  net::Turn& turn() const { return turn_; }
  Buffer& out() const { return out_; }
  Protocol& protocol() const { return runner_.protocol(); }
  store::Store& store() const { return *runner_.store_; }
  Runs runs() const { return runner_.runs_; }

  // Whether the turn's first request has waited for too long. It is not executed but refused with
  // `row_wait_timed_out`.
  bool gives_up_first() const { return gives_up_first_; }

  // Whether the pass has room for the next request. If not, the turn is over.
  bool may_begin() {
    if (runner_.is_full(out_)) [[unlikely]] {
      leave_rest();
      return false;
    }
    runner_.request_begin_ = out_.size();
    return true;
  }
  // The request that began last has ended so. True: go on with the request at `turn().consumed`,
  // which may be the same one again. False: the turn is over.
  bool end(const Answer& answer, std::size_t end_offset);
  // The request that ends at `end_offset` was answered with an error and not executed.
  void refused(Counter counter, std::size_t end_offset);

  void tally(Counter counter) { runner_.tally(counter); }

 private:
  friend class Runner;

  void leave_rest();
  bool wait(const Answer& answer);
  bool commit_so_far();

  Runner& runner_;
  const std::size_t number_;
  const std::span<net::Turn> turns_;
  net::Turn& turn_;
  Buffer& out_;
  bool gives_up_first_ = false;
  bool broken_ = false;  // the pass has to be executed again
};

}  // namespace hs::passes
