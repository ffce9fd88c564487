// ValueTemplate: text with places for numbers, such as "user_{key:07}".
//
// `{key}` is the request's key, `{n}` a number that grows with each request; a width after a colon
// fills up with zeros. Immutable once made; any thread may append from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"

namespace hs::bench {

class ValueTemplate {
 public:
  // Nothing if a brace does not hold `key` or `n` with an optional width.
  static std::optional<ValueTemplate> parse(std::string_view text);

  void append(Buffer& out, std::uint64_t key, std::uint64_t n) const;

 private:
  enum class Kind : std::uint8_t { text, key, n };
  struct Piece {
    Kind kind = Kind::text;
    std::string text;
    std::size_t width = 0;
  };
  std::vector<Piece> pieces_;
};

// An e-mail address of the demo's table, as long as those that it holds: an engine writes a row
// that stays as long as it was in its place, and so all that write measure the same.
inline constexpr std::string_view same_size_update = "u{n:011}@example.com";

// Where `{n}` may begin so that no run writes what an earlier one has left: an update that changes
// nothing is hardly one. Less than 100,000,000,000.
std::uint64_t number_of_this_run();

}  // namespace hs::bench
