// Meter: waits while the client threads work, shows how it goes, and reads the clocks at both ends.
//
// Belongs to the main thread. What it asks of the clients it asks through two callbacks, which any
// thread may be in the middle of changing: they read atomics.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "load/options.h"
#include "load/result.h"

namespace hs::bench {

using Clock = std::chrono::steady_clock;

// Only what is answered between `from` and `to` counts.
struct Timeline {
  Clock::time_point from;
  Clock::time_point to;

  static Timeline starting_now(const Options& options);
};

class Meter {
 public:
  // `done` is how many requests were answered so far; `ended` whether nobody works any more.
  Meter(const Options& options, std::function<std::uint64_t()> done, std::function<bool()> ended)
      : options_(options), done_(std::move(done)), ended_(std::move(ended)) {}

  // Returns when the time is over or everyone has ended; fills in the times of `result`.
  void watch(const Timeline& timeline, Result& result);

 private:
  void wait_until(Clock::time_point end);

  const Options& options_;
  std::function<std::uint64_t()> done_;
  std::function<bool()> ended_;
  Clock::time_point last_shown_ = Clock::now();
  std::uint64_t shown_ = 0;
};

// Writes the result where the options want it; the program's exit code.
int deliver(const Options& options, const Result& result);

}  // namespace hs::bench
