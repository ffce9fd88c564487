// KeySearch: from key values to a place in an index.
//
// Makes the key image that the engine is asked for, and settles what the
// comparison becomes when a column cannot hold a value. Called on the worker's
// thread with a table whose index is set up; reads no row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "mysqld/index_plan.h"
#include "protocol/request.h"

struct TABLE;

namespace hs::mysqld {

// The server's own bound on a key's length, and a few bytes more: an integer is
// written as eight bytes, whatever its own size.
inline constexpr std::size_t max_key_bytes = 3072 + 4 * 32 + 8;

struct KeySearch {
  bool nothing = false;  // no row can match
  protocol::Comparison comparison = protocol::Comparison::equal;
  std::uint32_t parts =
      0;  // that the image holds; 0: the whole index, from its first or last entry
  std::uint32_t length = 0;
  std::array<unsigned char, max_key_bytes> image;
};

// `key` has no more values than the index has parts. With `in_value` key part
// `in_part` takes that value instead.
void make_key_search(const IndexPlan& plan, TABLE& table, std::span<const protocol::Value> key,
                     protocol::Comparison comparison, const protocol::Value* in_value,
                     std::uint32_t in_part, KeySearch& search);

}  // namespace hs::mysqld
