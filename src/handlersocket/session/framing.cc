#include "handlersocket/session/framing.h"

#include <cassert>
#include <utility>

#include "handlersocket/protocol/group.h"
#include "handlersocket/protocol/within.h"

namespace hs::handlersocket {
namespace {

// Behind `lines` lines, of which `there` have ended before `from`. If they have not come as a whole,
// nothing, and `there` says how many have.
std::optional<std::size_t> end_of_lines(std::string_view input, std::size_t from,
                                        std::uint64_t lines, std::uint64_t& there) {
  for (; there < lines; ++there) {
    const std::optional<Line> line = line_at(input, from, from);
    if (!line) return std::nullopt;
    from = line->end_offset;
  }
  return from;
}

}  // namespace

std::optional<Group> group_at(net::Turn& turn, const Line& first, std::uint64_t lines) {
  const bool goes_on = turn.noted != 0 && turn.consumed == 0;
  std::uint64_t there = goes_on ? turn.noted - 1 : 0;
  const std::size_t from = goes_on ? turn.scanned : first.end_offset;
  const std::optional<std::size_t> end = end_of_lines(turn.input, from, lines, there);
  if (!end) {
    turn.note = there + 1;
    return std::nullopt;
  }
  return Group{.lines = lines,
               .body = turn.input.substr(first.end_offset, *end - first.end_offset),
               .end_offset = *end};
}

std::size_t whole_requests(std::string_view input) {
  std::size_t whole = 0;
  while (const std::optional<Line> line = line_at(input, whole, whole)) {
    std::uint64_t there = 0;
    const std::string_view request = within_of(line->text).request;
    const std::uint64_t lines = group_lines(request).value_or(0);
    const std::optional<std::size_t> end = end_of_lines(input, line->end_offset, lines, there);
    if (!end) break;
    whole = *end;
  }
  return whole;
}

std::string_view take_line(std::string_view& body) {
  const std::optional<Line> line = line_at(body, 0, 0);
  assert(line);
  body.remove_prefix(line->end_offset);
  return line->text;
}

}  // namespace hs::handlersocket
