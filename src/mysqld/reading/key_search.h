// KeySearch: from key values to a place in an index.
//
// It makes the key image for the engine. It also decides which comparison to ask for if a column
// cannot hold a value, or if the index holds only its beginning. The rule is in docs/protocol.md,
// "Order and comparison". Called on the worker's thread with a table whose index is set up. It
// reads no row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "mysqld/reading/index_plan.h"
#include "store/operation.h"

struct TABLE;

namespace hs::mysqld {

// The server's own limit for a key's length, and a few bytes more: an integer is written as eight
// bytes, whatever its own size is.
inline constexpr std::size_t max_key_bytes = 3072 + 4 * 32 + 8;
// The server's own limit for the parts of an index.
inline constexpr std::size_t max_key_parts = 32;

// How the image of one key part relates to the value that was asked for.
enum class PartFit : std::uint8_t {
  exact,  // the image is the value
  // the image is the beginning of a value, or of all values that the index holds: whole rows have
  // to be compared
  prefix,
  below,     // the image is the nearest lower value; no row has the value itself
  above,     // the image is the nearest higher value; no row has the value itself
  no_image,  // NULL, but the column holds none: every row is above
};

struct KeySearch {
  bool nothing = false;   // no row can match
  bool compared = false;  // each row that the engine finds has to be compared with the values
  // the number of key values in the request; `fits` and `image` hold so many
  std::uint32_t given = 0;
  // Both are in the order of the index. `asked` is what the request asks for. `range` is what the
  // engine is asked for; it finds more rows if rows are compared afterwards.
  store::Range asked{};
  store::Range range{};
  // So many parts of the image are given to the engine. 0: the whole index, from its first or last
  // entry.
  std::uint32_t parts = 0;
  std::uint32_t length = 0;
  std::array<PartFit, max_key_parts> fits;
  std::array<unsigned char, max_key_bytes> image;
};

// `key` has at most as many values as the index has parts. If there is an `in_value`, key part
// `in_part` takes it instead. `range` is in the order of the index.
void make_key_search(const IndexPlan& plan, TABLE& table, std::span<const store::Value> key,
                     store::Range range, const store::Value* in_value, std::uint32_t in_part,
                     KeySearch& search);

}  // namespace hs::mysqld
