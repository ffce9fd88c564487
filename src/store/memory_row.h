// Rows of the in-memory store, and what their columns may hold.
//
// Plain data and pure functions, for any thread. A value consists of bytes, or is an integer if the
// column says so. NULL is less than every other value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "store/operation.h"

namespace hs::store {

struct MemoryColumn {
  std::string name;
  bool integer = false;
  bool nullable = true;
  bool auto_increment = false;  // at most one column has this, an integer
};

struct MemoryKey {
  std::string name;
  std::vector<std::uint32_t> columns;
  bool unique = false;
};

struct MemoryTableSpec {
  std::string database;
  std::string name;
  std::vector<MemoryColumn> columns;
  std::vector<MemoryKey> keys;
};

inline constexpr std::size_t max_key_parts = 16;

inline constexpr Status duplicate_key = Error::duplicate_key;
inline constexpr Status null_not_allowed = Error::null_not_allowed;
inline constexpr Status out_of_range = Error::out_of_range;
inline constexpr Status wrong_value = Error::wrong_value;
// SQL has two numbers for a wrong value. This is the one for what is added or subtracted.
inline constexpr Status no_number{Error::wrong_value, 1292};

// A value to compare with, of a row or of a request. It does not own its bytes.
struct Cell {
  std::string_view bytes;
  std::int64_t number = 0;  // of an integer column
  bool null = false;
};

struct Field {
  std::string bytes;
  std::int64_t number = 0;
  bool null = true;

  Cell cell() const { return {bytes, number, null}; }
  void set_number(std::int64_t value);
};

struct Row {
  std::uint64_t id = 0;
  std::vector<Field> fields;
};

// Less than, equal to or greater than zero, as `left` is less than, equal to or greater than
// `right`.
int compare(const MemoryColumn& column, const Cell& left, const Cell& right);

// False if the column cannot hold the value. Then nothing equals it.
[[nodiscard]] bool to_cell(const MemoryColumn& column, const Value& value, Cell& cell);

// A value to be stored.
Status to_field(const MemoryColumn& column, const Value& value, Field& field);

}  // namespace hs::store
