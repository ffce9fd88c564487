// Container: a table whose rows are items, which are strings with a key.
//
// A container is a row of the table of containers, which has the columns that the one of MySQL's former
// memcached plugin had, so its rows can be copied. Plain data, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hs::keys {

// The columns of the table of containers, in the order of ContainerRow.
inline constexpr std::string_view container_columns =
    "name,db_schema,db_table,key_columns,value_columns,flags,cas_column,expire_time_column,"
    "unique_idx_name_on_key";

// A row of it. NULL is the empty text.
struct ContainerRow {
  std::string name;
  std::string database;
  std::string table;
  std::string key_columns;
  std::string value_columns;
  std::string flags;
  std::string cas;
  std::string expiry;
  std::string index;
};

struct Container {
  // The container of all keys that name no other one and no row of a table.
  static constexpr std::string_view default_name = "default";

  std::string name;
  std::string database;
  std::string table;
  std::string index;                       // empty: the primary key
  std::vector<std::string> key_columns;    // all parts of the index, in its order
  std::vector<std::string> value_columns;  // none: it cannot be used, but its keys are no other's
  std::string flags;                       // the column that holds them; empty: there is none
  std::string cas;
  std::string expiry;
  std::string separator;  // between the values of several columns

  friend bool operator==(const Container&, const Container&) = default;
};

// What is wrong with a row of the table of containers.
enum class ContainerMistake : std::uint8_t {
  none,
  name,     // it is empty, too long, or has a byte by which keys of rows are known: . @ :
  table,    // no database or no table
  columns,  // no column for the key, or none for the value
  index,    // no name of an index
};
std::string_view text_of(ContainerMistake mistake);

// Several columns are separated by any of: blank ; , | and the end of a line. A column 0 is none. After
// a mistake that is not the name's, the container has its name, and no columns for the value.
[[nodiscard]] ContainerMistake read_container(const ContainerRow& row, std::string_view separator,
                                              Container& container);

}  // namespace hs::keys
