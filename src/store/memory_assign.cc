#include "store/memory_assign.h"

#include <algorithm>
#include <cassert>
#include <ctime>
#include <limits>
#include <string>

namespace hs::store {
namespace {

// As SQL writes it: a text has signs between the parts, a number has not. In UTC.
std::string now_for(const MemoryColumn& column) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  const char* const form = column.integer ? "%Y%m%d%H%M%S" : "%Y-%m-%d %H:%M:%S";
  return {text, std::strftime(text, sizeof text, form, &parts)};
}

void take_default(const MemoryColumn& column, Field& field) {
  field = {};
  field.null = column.nullable;
  if (!field.null && column.integer) field.set_number(0);
}

// A number to compute with.
Status to_operand(const MemoryColumn& column, const Value& value, std::int64_t& number) {
  Cell cell;
  if (!column.integer || value.bytes.empty() || !to_cell(column, value, cell)) return no_number;
  number = cell.number;
  return {};
}

Status add(const MemoryColumn& column, const Assignment& assignment, Field& field) {
  std::int64_t by = 0;
  if (const Status status = to_operand(column, assignment.value, by); !status.ok()) return status;
  __int128 sum = field.number;
  sum +=
      assignment.kind == AssignKind::add ? static_cast<__int128>(by) : -static_cast<__int128>(by);
  for (std::size_t i = 0; i < assignment.bounds.size(); ++i) {
    if (assignment.bounds[i].null) continue;
    std::int64_t bound = 0;
    const Status status = to_operand(column, assignment.bounds[i], bound);
    if (!status.ok()) return status;
    sum = i == 0 ? std::max<__int128>(sum, bound) : std::min<__int128>(sum, bound);
  }
  if (sum < std::numeric_limits<std::int64_t>::min() ||
      sum > std::numeric_limits<std::int64_t>::max()) {
    return out_of_range;
  }
  field.set_number(static_cast<std::int64_t>(sum));
  return {};
}

Status compute_bits(const MemoryColumn& column, const Assignment& assignment, Field& field) {
  std::int64_t by = 0;
  if (const Status status = to_operand(column, assignment.value, by); !status.ok()) return status;
  std::int64_t bits = field.number;
  if (assignment.kind == AssignKind::bit_and) bits &= by;
  if (assignment.kind == AssignKind::bit_or) bits |= by;
  if (assignment.kind == AssignKind::bit_xor) bits ^= by;
  // As in SQL, the result has no sign, and has to fit.
  if (bits < 0) return out_of_range;
  field.set_number(bits);
  return {};
}

Status set_if_beyond(const MemoryColumn& column, const Assignment& assignment, Field& field) {
  Field given;
  if (const Status status = to_field(column, assignment.value, given); !status.ok()) return status;
  const int order = compare(column, given.cell(), field.cell());
  if (assignment.kind == AssignKind::at_least ? order > 0 : order < 0) field = given;
  return {};
}

}  // namespace

Status assign(const MemoryColumn& column, const Assignment& assignment, Field& field) {
  using enum AssignKind;
  const Value& value = assignment.value;
  if (assignment.reads_column() && (field.null || value.null)) return {};
  switch (assignment.kind) {
    case set: return to_field(column, value, field);
    case set_default: take_default(column, field); return {};
    case set_new: assert(false); return {};  // it needs a row of an insert
    case set_now: return to_field(column, {now_for(column), false}, field);
    case add:
    case subtract: return hs::store::add(column, assignment, field);
    case append: return to_field(column, {std::string(field.bytes).append(value.bytes)}, field);
    case prepend: return to_field(column, {std::string(value.bytes).append(field.bytes)}, field);
    case at_least:
    case at_most: return set_if_beyond(column, assignment, field);
    case bit_and:
    case bit_or:
    case bit_xor: return compute_bits(column, assignment, field);
  }
  return {};
}

}  // namespace hs::store
