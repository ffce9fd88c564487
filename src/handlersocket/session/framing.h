// Framing: where requests of several lines begin and end in a turn's input.
//
// A request is a line, or a group: a line that announces more lines (protocol/group.h). Pure functions,
// on the thread that has the turn.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "handlersocket/session/line.h"
#include "net/application.h"

namespace hs::handlersocket {

struct Group {
  std::uint64_t lines = 0;   // behind its first line; 0: it is no group
  std::string_view body{};   // these lines
  std::size_t end_offset{};  // behind them, in the turn's input
};

// From where the LF of the line at `turn.consumed` has to be searched. That of a group's first line
// was found before.
inline std::size_t search_from(const net::Turn& turn) {
  const bool is_in_group = turn.noted != 0 && turn.consumed == 0;
  return is_in_group ? 0 : std::max(turn.consumed, turn.scanned);
}

// The group of `lines` lines that begins with the line `first`, at `turn.consumed`. If it has not come as
// a whole, notes in the turn how many of its lines are there, so that the next turn need not look at
// them again.
std::optional<Group> group_at(net::Turn& turn, const Line& first, std::uint64_t lines);

// How many bytes at the front of `input` are whole requests.
std::size_t whole_requests(std::string_view input);

// Takes the next line from the front of a group's body.
std::string_view take_line(std::string_view& body);

}  // namespace hs::handlersocket
