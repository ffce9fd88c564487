// BusyPoll: whether a worker that has nothing to do stays awake for a moment.
//
// A client that sends one request at a time sends the next one a few microseconds after its reply.
// To sleep meanwhile and be woken takes longer than that, and about as much CPU time as to poll for
// so short a time. Where staying awake does not pay, it is tried more and more rarely: each miss
// doubles the number of waits that are skipped before the next try, and each hit takes back one
// miss. So clients that think longer waste only about a thousandth of the time limit for each wait.
//
// It is plain state of one worker's thread, and never waits itself.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hs::net {

class BusyPoll {
 public:
  // Called once for each wait.
  bool worth_it() {
    if (to_skip_ == 0) return true;
    --to_skip_;
    return false;
  }

  // Whether a request came while the worker stayed awake.
  void note(bool came) {
    misses_ = came ? misses_ - std::min(misses_, 1U) : std::min(misses_ + 1, most_misses);
    to_skip_ = (1U << misses_) - 1;
  }

 private:
  static constexpr unsigned most_misses = 10;

  unsigned misses_ = 0;  // misses that no hit has taken back
  std::uint32_t to_skip_ = 0;
};

}  // namespace hs::net
