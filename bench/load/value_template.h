// ValueTemplate: text with places for numbers, such as "user_{key:07}".
//
// `{key}` is the request's key. `{n}` is a number that grows with each request. A width after a
// colon adds zeros in front. It does not change after it is made, so any thread may append from it.
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
  // Nothing if a brace contains anything except `key` or `n` with an optional width.
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

// An e-mail address as long as those in the demo's table. An engine writes a row in its old place
// if its size stays the same. So all that write measure the same work.
inline constexpr std::string_view same_size_update = "u{n:011}@example.com";

// A first value of `{n}` with which no run writes what an earlier run has left: an update that
// changes nothing is hardly an update. Less than 100,000,000,000.
std::uint64_t number_of_this_run();

}  // namespace hs::bench
