// The words of groups: several lines that are one request.
//
//   group = "G" TAB n LF n(line LF)
//   line  = find / range / insert / rows                          ; as in parser.h
//         / ("some" / "none") TAB (find / range)                  ; with a `modify`
//
// Pure functions and constants, for any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "handlersocket/protocol/number.h"

namespace hs::handlersocket {

inline constexpr std::uint64_t max_group_lines = std::uint64_t{1} << 12;
inline constexpr std::string_view group_begin = "G\t";

// Without the call of memcmp into which starts_with() is compiled: most lines are asked this.
constexpr bool begins_group(std::string_view line) {
  return line.size() >= 2 && line[0] == group_begin[0] && line[1] == group_begin[1];
}

// How many lines belong to the group that `line` begins. Nothing if that is no number, or if there
// would be none or too many: then nobody can tell where the group ends.
inline std::optional<std::uint64_t> group_lines(std::string_view line) {
  std::uint64_t lines = 0;
  if (!begins_group(line) || !read_number(line.substr(group_begin.size()), lines) || lines == 0 ||
      lines > max_group_lines) {
    return std::nullopt;
  }
  return lines;
}

// What a modification of a group must meet, so that the group does not fail.
enum class Meets : std::uint8_t {
  anything,
  some,  // at least one row
  none,  // no row
};

inline constexpr std::string_view some_word = "some\t";
inline constexpr std::string_view none_word = "none\t";

static_assert(some_word.size() == none_word.size());

constexpr bool is_met(Meets meets, std::uint64_t rows) {
  return meets == Meets::anything || (meets == Meets::some) == (rows != 0);
}

}  // namespace hs::handlersocket
