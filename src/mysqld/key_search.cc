#include "mysqld/key_search.h"

#include <bit>
#include <cassert>
#include <optional>

#include "mysqld/server_api.h"
#include "mysqld/value_store.h"

namespace hs::mysqld {
namespace {

using protocol::Comparison;
using protocol::Value;

static_assert(max_key_bytes >= MAX_KEY_LENGTH + MAX_REF_PARTS);

bool goes_up(Comparison comparison) {
  return comparison == Comparison::greater || comparison == Comparison::greater_equal;
}

// Digits with a sign at most, and no more than fit 64 bits with room to spare.
std::optional<std::int64_t> parse_small_integer(std::string_view text) {
  constexpr std::size_t max_digits = 18;
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.size() > max_digits) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : text) {
    const unsigned digit = static_cast<unsigned char>(c) - '0';
    if (digit > 9) return std::nullopt;
    value = value * 10 + digit;
  }
  return negative ? -value : value;
}

bool integer_fits(const PlannedKeyPart& part, std::int64_t value) {
  const unsigned bytes = part.integer_bytes;
  if (part.is_unsigned) return value >= 0 && (bytes == 8 || value >> (8 * bytes) == 0);
  if (bytes == 8) return true;
  const std::int64_t bound = std::int64_t{1} << (8 * bytes - 1);
  return value >= -bound && value < bound;
}

// The frequent case, written straight into the image: no field is touched.
bool put_integer(const PlannedKeyPart& part, const Value& value, unsigned char* to) {
  if (part.integer_bytes == 0 || value.null) return false;
  const std::optional<std::int64_t> number = parse_small_integer(value.bytes);
  if (!number || !integer_fits(part, *number)) return false;
  if (part.is_nullable) *to++ = 0;
  // All eight bytes: the image has room, and what follows is written after it.
  std::uint64_t image = static_cast<std::uint64_t>(*number);
  if constexpr (std::endian::native == std::endian::big) image = __builtin_bswap64(image);
  std::memcpy(to, &image, sizeof(image));
  return true;
}

void put_field(const KEY_PART_INFO& part, unsigned char* to) {
  if (part.null_bit != 0) {
    *to++ = part.field->is_null() ? 1 : 0;
    if (part.field->is_null()) {
      std::memset(to, 0, part.store_length - 1);
      return;
    }
  }
  const bool has_length = (part.key_part_flag & (HA_BLOB_PART | HA_VAR_LENGTH_PART)) != 0;
  const auto written = static_cast<uint>(part.field->get_key_image(to, part.length, Field::itRAW));
  const uint filled = has_length ? part.length + HA_KEY_BLOB_LENGTH : part.length;
  if (!has_length && written < filled) {
    server::fill_blanks(part.field->charset(), to + written, filled - written);
  }
}

// Puts one value into the image and says how well it fits the column.
Fit put_value(const IndexPlan& plan, const KEY_PART_INFO& part, const Value& value,
              unsigned char* to) {
  if (value.null) {
    // NULL is below everything, also where the column has none.
    if (part.null_bit == 0) return Fit::above;
    part.field->set_null();
    put_field(part, to);
    return Fit::exact;
  }
  const Fit fit = store_comparable(*part.field, value, plan.encoding());
  put_field(part, to);
  // A prefix is shorter than the value by nature; the rows found are compared whole.
  const bool is_prefix = (part.key_part_flag & (HA_PART_KEY_SEG | HA_BLOB_PART)) != 0;
  return is_prefix && fit == Fit::below ? Fit::exact : fit;
}

// The search ends with a part that is not exact: what the comparison with the
// asked values means for the stored ones.
void end_with_inexact_part(KeySearch& search, Fit fit, bool is_null) {
  if (search.comparison == Comparison::equal || fit == Fit::none) {
    search.nothing = true;
    return;
  }
  const bool up = goes_up(search.comparison);
  if (is_null) {
    // Everything with the same values in the parts before is above.
    if (search.parts == 0 && !up) search.nothing = true;
    search.comparison = up ? Comparison::greater_equal : Comparison::less;
    return;
  }
  if (fit == Fit::below) {
    search.comparison = up ? Comparison::greater : Comparison::less_equal;
  } else {
    search.comparison = up ? Comparison::greater_equal : Comparison::less;
  }
}

}  // namespace

void make_key_search(const IndexPlan& plan, TABLE& table, std::span<const Value> key,
                     Comparison comparison, const Value* in_value, std::uint32_t in_part,
                     KeySearch& search) {
  assert(key.size() <= plan.key_parts());
  search.nothing = false;
  search.comparison = comparison;
  search.parts = 0;
  search.length = 0;
  for (std::uint32_t i = 0; i < key.size(); ++i) {
    const Value& value = in_value != nullptr && i == in_part ? *in_value : key[i];
    if (put_integer(plan.key()[i], value, search.image.data() + search.length)) [[likely]] {
      search.length += plan.key()[i].store_length;
      ++search.parts;
      continue;
    }
    const KEY_PART_INFO& part = table.key_info[plan.index()].key_part[i];
    Fit fit = put_value(plan, part, value, search.image.data() + search.length);
    const bool null_in_not_null = value.null && fit != Fit::exact;
    if (fit == Fit::exact || !null_in_not_null) {
      search.length += part.store_length;
      ++search.parts;
    }
    if (fit == Fit::exact) continue;
    // "Up the index" is down in value on a descending part.
    if ((part.key_part_flag & HA_REVERSE_SORT) != 0 && fit != Fit::none) {
      fit = fit == Fit::below ? Fit::above : Fit::below;
    }
    end_with_inexact_part(search, fit, null_in_not_null);
    return;
  }
}

}  // namespace hs::mysqld
