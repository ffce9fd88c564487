// For how long a turn's first request has been blocked, when its time is over, and how waiting ends.
//
// Pure functions, on the thread that has the turn.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/status.h"
#include "kernel_calls.h"
#include "net/application.h"
#include "passes/runner_config.h"

namespace hs::passes {

// The answers to a request that has waited too long for a row or a table, to one that a deadlock has
// ended, and to one whose own time is over.
inline constexpr Status row_wait_timed_out = Error::row_locked;
inline constexpr Status lock_wait_timed_out = Error::table_locked;
inline constexpr Status deadlock = Error::deadlock;
inline constexpr Status out_of_time = Error::max_request_time;

// The monotonic clock, in ns, as net/ has it.
inline std::uint64_t monotonic_now() { return net::kernel::monotonic_now(); }

// Only the first request of a turn can have been blocked before.
inline std::chrono::nanoseconds time_blocked(const net::Turn& turn) {
  if (turn.blocked_since == 0 || turn.consumed != 0) return std::chrono::nanoseconds{0};
  return std::chrono::nanoseconds{monotonic_now()} - std::chrono::nanoseconds{turn.blocked_since};
}

// When the time of a request is over that may take so many milliseconds since it has come; 0: it has
// no end. No client has more time than the server gives to each request.
inline std::uint64_t deadline_of(const net::Turn& turn, std::uint64_t within_ms,
                                 const RunnerConfig& config) {
  if (within_ms == 0) return 0;
  constexpr std::uint64_t ns_of_ms = 1'000'000;
  const auto most = static_cast<std::uint64_t>(config.max_request_time.get().count());
  const std::uint64_t within = within_ms * ns_of_ms;
  return turn.arrived_at + (most != 0 && most < within ? most : within);
}

inline bool is_over(std::uint64_t deadline) { return deadline != 0 && monotonic_now() >= deadline; }

}  // namespace hs::passes
