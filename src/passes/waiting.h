// For how long a turn's first request has been blocked, and how waiting ends.
//
// Pure functions, on the thread that has the turn.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/status.h"
#include "kernel_calls.h"
#include "net/application.h"

namespace hs::passes {

// The answers to a request that has waited too long for a row or a table, and to one that a
// deadlock has ended.
inline constexpr Status row_wait_timed_out = Error::row_locked;
inline constexpr Status lock_wait_timed_out = Error::table_locked;
inline constexpr Status deadlock = Error::deadlock;

// The monotonic clock, in ns, as net/ has it.
inline std::uint64_t monotonic_now() { return net::kernel::monotonic_now(); }

// Only the first request of a turn can have been blocked before.
inline std::chrono::nanoseconds time_blocked(const net::Turn& turn) {
  if (turn.blocked_since == 0 || turn.consumed != 0) return std::chrono::nanoseconds{0};
  return std::chrono::nanoseconds{monotonic_now()} - std::chrono::nanoseconds{turn.blocked_since};
}

}  // namespace hs::passes
