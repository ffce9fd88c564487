// BusyPoll: whether a worker that has nothing to do stays awake for a moment.
//
// A client with one request at a time sends the next one a few microseconds
// after its reply. To sleep meanwhile and be woken takes longer than that, and
// about as much CPU time as asking again and again for so short a while. Where
// staying awake does not pay it is tried more and more rarely: after each miss
// twice as many waits go by as after the one before, and each hit takes one miss
// back. So what is wasted on clients that think longer is a thousandth of the
// time limit a wait.
//
// Plain state of one worker's thread; never waits itself.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hs::net {

class BusyPoll {
 public:
  // Asked once a wait.
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

  unsigned misses_ = 0;  // not made up for by hits
  std::uint32_t to_skip_ = 0;
};

}  // namespace hs::net
