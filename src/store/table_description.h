// TableDescription: the columns and indexes of a table, as its caller may see them.
//
// Plain data, for any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hs::store {

struct DescribedColumn {
  std::string name;
  std::string type;           // as SQL writes it
  std::string character_set;  // empty: its values are bytes or no text
  std::uint32_t decimals = 0;
  bool is_unsigned = false;
  bool is_nullable = false;
  bool is_generated = false;  // computed from other columns
  bool is_auto_increment = false;
  bool is_invisible = false;  // SELECT * leaves it out
};

struct DescribedPart {
  std::string column;  // empty: an expression, whose column has no name
  bool descends = false;
  bool is_prefix = false;  // only the beginning of its values is in the index
};

struct DescribedIndex {
  std::string name;
  std::uint32_t number = 0;  // its position among all indexes of the table
  bool is_unique = false;
  bool is_ordered = true;  // if not, it finds whole keys only
  std::vector<DescribedPart> parts{};
};

struct TableDescription {
  std::vector<DescribedColumn> columns{};
  std::vector<DescribedIndex> indexes{};  // those by which rows can be searched
};

}  // namespace hs::store
