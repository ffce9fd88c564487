// Key: which row of which table a client's key names. The grammar is written here.
//
//   db.table:part1[:part2 ...]        a row by its primary key
//   db.table@index:part1[:part2 ...]  a row by a unique index of that name
//   table:...  table@index:...        the same in the default database, if there is one
//
// The name is everything before the first colon. In the names of database, table and index, and in
// every part but the last one, %XX stands for the byte with these two hexadecimal digits. So a colon is
// written %3A there, a percent sign %25, and in a name a full stop %2E and an at sign %40. A percent sign
// without two digits is a mistake. The last part is the rest of the key as it stands, with every byte
// that it has: kv:session:abc needs no %. How many parts there are is known to the index alone.
//
// A key has a value for each part of its index. NULL cannot be written. Names are compared as the server
// compares them. A number has one spelling: no + before it, no zeros that could be left out, no blanks,
// no -0; a DECIMAL has as many digits behind its point as its column, a DATE and a DATETIME all of
// theirs. Two texts that the collation of their column finds equal name one row.
//
// Pure functions, for any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/short_bytes.h"
#include "base/status.h"
#include "store/index_shape.h"
#include "store/operation.h"

namespace hs::keys {

// What is wrong with a key.
enum class KeyMistake : std::uint8_t {
  none,
  no_name,      // there is no colon, or nothing before it
  no_database,  // neither the key nor the server names one
  bad_escape,
  too_few_parts,
  not_one_spelling,  // of a number, date or time
  not_unique,        // the index
  // of an item
  no_container,        // there is none for such a key
  is_item,             // where a row is wanted
  is_row,              // where an item is wanted
  unusable_container,  // its columns or its index are not those of the table
  small_column,        // for flags, cas or expiry: it cannot hold what it is to hold
  no_flags,            // the container has no column for them
  no_expiry,
  zero_asks_for_id,  // the column is AUTO_INCREMENT, and would get another value
  count_,
};

// A mistake of a key as the outcome of what was to be done with it. A protocol has numbers of its own for
// its errors, below these.
inline constexpr std::uint32_t first_key_mistake = 0x1000;
constexpr Status status_of(KeyMistake mistake) {
  if (mistake == KeyMistake::none) return {};
  return {Error::protocol, first_key_mistake + static_cast<std::uint32_t>(mistake)};
}
constexpr KeyMistake key_mistake_of(Status status) {
  if (status.kind() != Error::protocol || status.number() < first_key_mistake)
    return KeyMistake::none;
  return static_cast<KeyMistake>(status.number() - first_key_mistake);
}

// Splits a key at its first colon. Without one, `parts` is empty and `has_parts` false.
struct SplitKey {
  std::string_view name;
  std::string_view parts{};
  bool has_parts = false;
};
inline SplitKey split_key(std::string_view key) {
  const std::size_t colon = find_byte(key, ':');
  if (colon == std::string_view::npos) return {.name = key};
  return {key.substr(0, colon), key.substr(colon + 1), true};
}

// Whether the name says more than a table's: where its database is, or by which index the key is.
inline bool has_database_or_index(std::string_view name) {
  return std::ranges::any_of(name, [](char byte) { return byte == '.' || byte == '@'; });
}

// The names in front of a key.
struct KeyNames {
  std::string database;
  std::string table;
  std::string index;  // empty: the primary key
};
[[nodiscard]] KeyMistake read_names(std::string_view name, std::string_view default_database,
                                    KeyNames& names);

// The values of all parts of the index, views into `parts` or into `room`, which is overwritten.
[[nodiscard]] KeyMistake read_parts(std::string_view parts, const store::IndexShape& shape,
                                    std::string& room, std::vector<store::Value>& values);

// Whether a protocol can have a byte in its keys. If not, it is written with % where the grammar lets it be.
using IsOfKey = bool (*)(char byte);
constexpr bool any_byte(char /*byte*/) { return true; }

// Appends a part of a key, from the value as the store shows it, in the spelling that read_parts() takes.
void append_part(std::string_view value, const store::ShapedColumn& column, bool is_last,
                 std::string& key, IsOfKey is_of_key = any_byte);

// Appends the bytes that a name or a part stands for. False: there is a % without two digits.
[[nodiscard]] bool unescape(std::string_view text, std::string& to);

// Whether the text is the one spelling of a value of this column.
bool is_one_spelling(std::string_view text, const store::ShapedColumn& column);

}  // namespace hs::keys
