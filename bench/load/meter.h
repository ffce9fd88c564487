// Meter: waits while the client threads work, shows their progress, and reads the clocks at both
// ends.
//
// It belongs to the main thread. It asks the clients through two callbacks. These read atomics,
// because the client threads may change the values meanwhile.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <ostream>

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
  // `done` returns how many requests were answered so far, `ended` whether all clients have ended.
  Meter(const Options& options, std::function<std::uint64_t()> done, std::function<bool()> ended)
      : options_(options), done_(std::move(done)), ended_(std::move(ended)) {}

  // Returns when the time is over or all clients have ended. Sets the times in `result`.
  void watch(const Timeline& timeline, Result& result);

 private:
  void wait_until(Clock::time_point end);

  const Options& options_;
  std::function<std::uint64_t()> done_;
  std::function<bool()> ended_;
  Clock::time_point last_shown_ = Clock::now();
  std::uint64_t shown_ = 0;
};

using Writer = std::function<void(std::ostream&)>;

// Write the result where the options want it. They return the program's exit code.
int deliver(const Options& options, const Result& result);
int deliver(const Options& options, bool clean, const Writer& json, const Writer& text);

}  // namespace hs::bench
