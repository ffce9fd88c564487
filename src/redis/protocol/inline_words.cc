#include "redis/protocol/inline_words.h"

#include <cstddef>
#include <cstdint>

#include "redis/protocol/number.h"

namespace hs::redis {
namespace {

bool is_blank(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

char unescaped(char byte) {
  switch (byte) {
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'b': return '\b';
    case 'a': return '\a';
    default: return byte;
  }
}

// Appends what stands between the quotes, the first of which is before `at`. False: the second one is
// missing, or something follows it.
bool take_quoted(std::string_view line, char quote, std::size_t& at, std::string& to) {
  for (; at < line.size(); ++at) {
    const char byte = line[at];
    if (byte == quote) {
      ++at;
      return at == line.size() || is_blank(line[at]);
    }
    const std::size_t left = line.size() - at;
    if (byte == '\\' && quote == '"' && left >= 4 && line[at + 1] == 'x' &&
        hex_digit(line[at + 2]) >= 0 && hex_digit(line[at + 3]) >= 0) {
      to.push_back(static_cast<char>(hex_digit(line[at + 2]) * 16 + hex_digit(line[at + 3])));
      at += 3;
    } else if (byte == '\\' && quote == '"' && left >= 2) {
      to.push_back(unescaped(line[++at]));
    } else if (byte == '\\' && quote == '\'' && left >= 2 && line[at + 1] == '\'') {
      to.push_back(line[++at]);
    } else {
      to.push_back(byte);
    }
  }
  return false;
}

}  // namespace

bool split_inline(std::string_view line, std::string& room, std::vector<std::string_view>& words) {
  words.clear();
  room.clear();
  room.reserve(line.size());  // no word is longer than it was, so the views stay valid
  std::size_t at = 0;
  while (true) {
    while (at < line.size() && is_blank(line[at])) ++at;
    if (at == line.size()) return true;
    const std::size_t begin = room.size();
    while (at < line.size() && !is_blank(line[at])) {
      const char byte = line[at++];
      if (byte != '"' && byte != '\'') {
        room.push_back(byte);
        continue;
      }
      if (!take_quoted(line, byte, at, room)) return false;
      break;
    }
    words.emplace_back(room.data() + begin, room.size() - begin);
  }
}

}  // namespace hs::redis
