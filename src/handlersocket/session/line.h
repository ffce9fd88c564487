// The lines in a turn's input.
//
// Pure functions, on the thread that has the turn.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>

#include "net/application.h"

namespace hs::handlersocket {

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

}  // namespace hs::handlersocket
