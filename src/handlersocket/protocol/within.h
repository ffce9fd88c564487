// The prefix of a request that bounds its time.
//
//   timed = "within" TAB ms TAB (find / range / insert / rows)        ; see parser.h
//         / "within" TAB ms TAB group                                 ; see group.h
//   ms    = number                                                    ; 1 to max_within_ms
//
// Pure functions and constants, for any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "handlersocket/protocol/group.h"
#include "handlersocket/protocol/number.h"

namespace hs::handlersocket {

inline constexpr std::string_view within_begin = "within\t";
inline constexpr std::uint64_t max_within_ms = std::uint64_t{1} << 31;

// Whether a line may have the prefix. No request begins with this letter, and each line is asked this.
constexpr bool may_begin_within(std::string_view line) {
  return !line.empty() && line[0] == within_begin[0];
}

struct Within {
  std::uint64_t ms = 0;        // 0: the line has no prefix, or a wrong one
  std::string_view request{};  // behind the prefix; the whole line if there is none
  // The prefix is wrong, and a group begins behind it: nobody can tell whether the lines that follow
  // belong to it.
  bool hides_group = false;
};

// Whether a group begins behind wrong prefixes, however many there are.
inline bool hides_group(std::string_view line) {
  const auto take = [&line](std::string_view word) {
    const bool is_there = line.starts_with(word);
    if (is_there) line.remove_prefix(word.size());
    return is_there;
  };
  while (!begins_group(line)) {
    if (take("some\t") || take("none\t")) continue;
    if (!take(within_begin)) return false;
    if (begins_group(line)) return true;
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) return false;
    line.remove_prefix(tab + 1);
  }
  return true;
}

// Takes the prefix from a line.
inline Within within_of(std::string_view line) {
  if (!may_begin_within(line) || !line.starts_with(within_begin)) return {.request = line};
  const std::string_view behind = line.substr(within_begin.size());
  const std::size_t tab = behind.find('\t');
  if (tab == std::string_view::npos) return {.request = line};
  const std::string_view request = behind.substr(tab + 1);
  std::uint64_t ms = 0;
  const bool has_time = read_number(behind.substr(0, tab), ms) && ms != 0 && ms <= max_within_ms;
  const bool may_stand = begins_group(request) || (!request.empty() && is_digit(request.front()));
  if (!has_time || !may_stand) return {.request = line, .hides_group = hides_group(line)};
  return {.ms = ms, .request = request};
}

}  // namespace hs::handlersocket
