// The lines in a turn's input, and for how long its first request has been blocked.
//
// Used by PassRunner, on the thread that has the turn. Owns nothing.
#pragma once

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/status.h"
#include "net/application.h"

namespace hs::session {

// The answers to a request that has waited too long for a row or a table, and to one that a
// deadlock has ended.
inline constexpr Status row_wait_timed_out = Status::server(146);
inline constexpr Status lock_wait_timed_out = Status::server(1205);
inline constexpr Status deadlock = Status::server(149);

// The monotonic clock, in ns, as net/ has it.
inline std::uint64_t monotonic_now() {
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(now.count());
}

// Only the first request of a turn can have been blocked before.
inline std::chrono::nanoseconds time_blocked(const net::Turn& turn) {
  if (turn.blocked_since == 0 || turn.consumed != 0) return std::chrono::nanoseconds{0};
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return now - std::chrono::nanoseconds{turn.blocked_since};
}

struct Line {
  std::string_view text;   // without its LF, and without a CR before that
  std::size_t end_offset;  // behind the LF
};

// The line that begins at `begin`. The caller knows that there is no LF between `begin` and `from`.
inline std::optional<Line> line_at(std::string_view input, std::size_t begin, std::size_t from) {
  assert(begin <= from && from <= input.size());
  if (from == input.size()) return std::nullopt;
  const void* const lf = std::memchr(input.data() + from, '\n', input.size() - from);
  if (lf == nullptr) return std::nullopt;
  const std::size_t end = static_cast<std::size_t>(static_cast<const char*>(lf) - input.data());
  std::string_view text = input.substr(begin, end - begin);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return Line{text, end + 1};
}

// Notes where the password of a log-in stands in the turn's input.
inline void note_password(net::Turn& turn, std::string_view line) {
  constexpr std::size_t user_begin = std::string_view("A\t2\t").size();
  const std::size_t user_end = line.find('\t', std::min(user_begin, line.size()));
  if (user_end == std::string_view::npos) return;
  const std::string_view rest = line.substr(user_end + 1);
  turn.secret_begin = static_cast<std::size_t>(rest.data() - turn.input.data());
  turn.secret_size = rest.size();
}

}  // namespace hs::session
