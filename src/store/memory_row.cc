#include "store/memory_row.h"

#include <charconv>
#include <system_error>

namespace hs::store {
namespace {

std::errc to_number(std::string_view bytes, std::int64_t& number) {
  const char* const end = bytes.data() + bytes.size();
  const auto [stop, error] = std::from_chars(bytes.data(), end, number);
  if (error != std::errc{}) return error;
  return stop == end ? std::errc{} : std::errc::invalid_argument;
}

}  // namespace

void Field::set_number(std::int64_t value) {
  null = false;
  number = value;
  bytes = std::to_string(value);
}

int compare(const MemoryColumn& column, const Cell& left, const Cell& right) {
  if (left.null || right.null) return static_cast<int>(right.null) - static_cast<int>(left.null);
  if (column.integer) {
    return static_cast<int>(left.number > right.number) -
           static_cast<int>(left.number < right.number);
  }
  return left.bytes.compare(right.bytes);
}

bool to_cell(const MemoryColumn& column, const Value& value, Cell& cell) {
  cell = {value.bytes, 0, value.null};
  return value.null || !column.integer || to_number(value.bytes, cell.number) == std::errc{};
}

Status to_field(const MemoryColumn& column, const Value& value, Field& field) {
  field = {};
  if (value.null) return column.nullable ? Status{} : null_not_allowed;
  if (column.integer) {
    std::int64_t number = 0;
    const std::errc error = to_number(value.bytes, number);
    if (error == std::errc::result_out_of_range) return out_of_range;
    if (error != std::errc{}) return wrong_value;
    field.set_number(number);
    return {};
  }
  field.null = false;
  field.bytes = value.bytes;
  return {};
}

}  // namespace hs::store
