#include "handlersocket/protocol/escape.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "handlersocket/protocol/block.h"

namespace hs::handlersocket {

namespace {

constexpr unsigned char escaped_end = escape_shift + first_plain_byte;

// How many bytes of a block come before the first one that is set in the mask.
std::size_t bytes_before(std::uint32_t mask) {
  return mask == 0 ? Block::size : static_cast<std::size_t>(std::countr_zero(mask));
}

bool is_special(char byte) { return static_cast<unsigned char>(byte) < first_plain_byte; }

char* put_escaped(char* to, char byte) {
  *to++ = static_cast<char>(escape_prefix);
  *to++ = static_cast<char>(byte + escape_shift);
  return to;
}

}  // namespace

void append_escaped(Buffer& out, std::string_view bytes) {
  // Each byte may become two, and a whole block is stored at the end, too. A large value is escaped
  // in pieces, because hardly ever all of it has to be escaped. So it does not reserve twice its
  // size.
  constexpr std::size_t piece_size = 4096;
  const char* from = bytes.data();
  const char* const end = from + bytes.size();
  while (from != end) {
    const char* const piece_end = from + std::min<std::size_t>(piece_size, end - from);
    char* to = out.reserve(2 * static_cast<std::size_t>(piece_end - from) + Block::size);
    while (static_cast<std::size_t>(piece_end - from) >= Block::size) {
      const Block block = Block::load(from);
      block.store(to);
      const std::uint32_t special = block.below(first_plain_byte);
      const std::size_t plain = bytes_before(special);
      from += plain;
      to += plain;
      if (special == 0) continue;
      // Such bytes often follow one another. To load a block for each of them would be slow.
      do {
        to = put_escaped(to, *from++);
      } while (from != piece_end && is_special(*from));
    }
    const auto left = static_cast<std::size_t>(piece_end - from);
    const Block block = Block::load_short(from, left);
    const std::uint32_t wanted = (std::uint32_t{1} << left) - 1;
    if ((block.below(first_plain_byte) & wanted) == 0) [[likely]] {
      block.store(to);
      to += left;
    } else {
      for (; from != piece_end; ++from) {
        if (is_special(*from)) {
          to = put_escaped(to, *from);
        } else {
          *to++ = *from;
        }
      }
    }
    from = piece_end;
    out.advance_to(to);
  }
}

bool append_unescaped(Buffer& out, std::string_view token) {
  // The result is never longer than the token. So if a whole block is left in the token, there is
  // room for a whole block in `out`.
  char* to = out.reserve(token.size());
  const char* from = token.data();
  const char* const end = from + token.size();
  while (from != end) {
    if (static_cast<unsigned char>(*from) == escape_prefix) {
      if (end - from < 2) return false;
      const auto code = static_cast<unsigned char>(from[1]);
      if (code < escape_shift || code >= escaped_end) return false;
      *to++ = static_cast<char>(code - escape_shift);
      from += 2;
    } else if (static_cast<std::size_t>(end - from) >= Block::size) {
      const Block block = Block::load(from);
      block.store(to);
      const std::uint32_t escapes = block.equal_to(static_cast<char>(escape_prefix));
      const std::size_t plain = bytes_before(escapes);
      from += plain;
      to += plain;
    } else {
      *to++ = *from++;
    }
  }
  if (!token.empty()) out.advance_to(to);
  return true;
}

}  // namespace hs::handlersocket
