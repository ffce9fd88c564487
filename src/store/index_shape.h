// IndexShape: what a protocol may know of an index and its table before it asks for rows.
//
// Plain data, for any thread. A store makes it when it opens an index with every column, and again
// when the table's definition has changed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hs::store {

// How the values of a column are written.
enum class Spelling : std::uint8_t {
  text,  // any bytes; the collation decides which are equal
  integer,
  whole,  // an integer without a sign
  decimal,
  date,
  date_and_time,
  other,  // as SQL understands a literal
};

// Whether a column's values are texts of digits. With ZEROFILL, zeros stand before them.
constexpr bool is_number(Spelling spelling) {
  return spelling == Spelling::integer || spelling == Spelling::whole ||
         spelling == Spelling::decimal;
}

struct ShapedColumn {
  std::string name;
  bool is_nullable = true;
  bool is_generated = false;  // its values are computed from other columns
  bool is_invisible = false;  // SELECT * leaves it out
  Spelling spelling = Spelling::text;
  std::uint8_t decimals = 0;  // of a decimal, and of the seconds of a time
  // Of an integer and a decimal: the greatest whole number that it holds, or that 64 bits hold.
  std::uint64_t most = 0;
};

struct IndexShape {
  // Whether values for all key parts, none of which is NULL, select one row at most.
  bool is_unique = false;
  // Of the table: what was changed can be undone, and its rows can be locked.
  bool has_transactions = true;
  std::vector<ShapedColumn> columns;  // all that a client may name, in the order of the table
  std::vector<std::uint32_t> key;     // the positions of the key parts among them
};

}  // namespace hs::store
