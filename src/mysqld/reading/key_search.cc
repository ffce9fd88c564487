#include "mysqld/reading/key_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <optional>

#include "base/ascii.h"
#include "base/short_bytes.h"
#include "mysqld/reading/comparable_value.h"
#include "mysqld/server/api.h"

namespace hs::mysqld {
namespace {

using store::Bound;
using store::Range;
using store::Value;

static_assert(max_key_bytes >= MAX_KEY_LENGTH + MAX_REF_PARTS);
static_assert(max_key_parts >= MAX_REF_PARTS);

// Digits, perhaps with a minus sign. There are so few that the number surely fits in 64 bits.
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

// The frequent case: written straight into the image, without a field.
bool put_integer(const PlannedKeyPart& part, const Value& value, unsigned char* to) {
  if (part.integer_bytes == 0 || value.null) return false;
  const std::optional<std::int64_t> number = parse_small_integer(value.bytes);
  if (!number || !integer_fits(part, *number)) return false;
  if (part.is_nullable) *to++ = 0;
  // Writes all eight bytes. The image has room for them, and the next part overwrites what is too
  // much.
  std::uint64_t image = static_cast<std::uint64_t>(*number);
  if constexpr (std::endian::native == std::endian::big) image = __builtin_bswap64(image);
  std::memcpy(to, &image, sizeof(image));
  return true;
}

// The same for texts that need no conversion.
bool put_text(const PlannedKeyPart& part, const Value& value, unsigned char* to) {
  const std::string_view text = value.bytes;
  if (part.text_image == TextImage::by_field || value.null || text.size() > part.text_room)
    return false;
  if (part.text_image != TextImage::bytes && !is_ascii(text)) return false;
  const bool is_filled = part.text_image == TextImage::filled;
  if (is_filled && text.ends_with(' ')) return false;
  std::size_t room = part.store_length;
  if (part.is_nullable) {
    *to++ = 0;
    --room;
  }
  if (!is_filled) {
    int2store(to, static_cast<std::uint16_t>(text.size()));
    to += HA_KEY_BLOB_LENGTH;
    room -= HA_KEY_BLOB_LENGTH;
  }
  assert(text.size() <= room);
  copy_bytes(reinterpret_cast<char*>(to), text);
  std::memset(to + text.size(), is_filled ? ' ' : 0, room - text.size());
  return true;
}

// Writes the field's value, or NULL, into the image.
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

// The index orders values without the blanks at their end, and the image has lost those of the text,
// too. Some values below the text are therefore above the image. This makes the image one that is
// above all of them; rows are compared, so it does not matter that the engine finds more. The column
// is utf8mb4, since MySQL's other character sets count no blanks.
void put_above_blanks(const KEY_PART_INFO& part, std::string_view text, unsigned char* image) {
  constexpr char next = '!';  // the character that follows the blank
  const CHARSET_INFO* const charset = part.field->charset();
  std::string_view kept(reinterpret_cast<const char*>(image), part.length);
  kept = kept.substr(0, server::length_without_blanks(charset, kept));
  if (text.size() > kept.size() &&
      server::count_characters(charset, kept) < part.field->char_length()) {
    image[kept.size()] = next;
  }
}

// Puts one value into the image and says how the two relate. Returns nothing if the column has no
// similar value: then its field holds an old value, which must not be read.
std::optional<PartFit> put_value(const IndexPlan& plan, TABLE& table, std::uint32_t number,
                                 const Value& value, Range asked, unsigned char* to) {
  const PlannedKeyPart& planned = plan.key()[number];
  const KEY_PART_INFO& part = table.key_info[plan.index()].key_part[number];
  if (value.null) {
    if (part.null_bit == 0) return PartFit::no_image;
    part.field->set_null();
    put_field(part, to);
    return PartFit::exact;
  }
  const Fit fit = planned.is_string ? store_comparable_string(*part.field, value, plan.encoding())
                                    : store_comparable(*part.field, value, plan.encoding());
  if (fit == Fit::none) return std::nullopt;
  put_field(part, to);
  const bool to_lower = (asked.direction == store::Direction::down) != planned.descends;
  if (planned.blanks == BlankOrder::dropped && asked.bound != Bound::only && to_lower)
    put_above_blanks(part, value.bytes, to + (part.null_bit != 0 ? 1 : 0));
  if (planned.is_compared() || fit == Fit::cut) return PartFit::prefix;
  switch (fit) {
    case Fit::below: return PartFit::below;
    case Fit::above: return PartFit::above;
    case Fit::exact:
    case Fit::cut:
    case Fit::none: break;
  }
  return PartFit::exact;
}

// Whether put_value() makes the same of the value. For debug builds.
[[maybe_unused]] bool is_image_of_field(const IndexPlan& plan, TABLE& table, std::uint32_t number,
                                        const Value& value, Range asked,
                                        const unsigned char* image) {
  std::array<unsigned char, max_key_bytes> by_field;
  return put_value(plan, table, number, value, asked, by_field.data()) == PartFit::exact &&
         std::memcmp(image, by_field.data(), plan.key()[number].store_length) == 0;
}

bool is_inexact(PartFit fit) { return fit != PartFit::exact && fit != PartFit::prefix; }

// The engine searches for all values, and then the whole rows are compared.
void search_equal(KeySearch& search, std::uint32_t length) {
  if (std::any_of(search.fits.data(), search.fits.data() + search.given, is_inexact)) {
    search.nothing = true;
    return;
  }
  search.compared = true;
  search.parts = search.given;
  search.length = length;
}

// The image ends with part `last`, at `end`. The index holds only the beginning of that part. What
// follows in the index is ordered among equal beginnings, not among equal values. So the engine is
// also asked for rows with an equal beginning, and the comparison of whole rows sorts them out.
void end_with_prefix(KeySearch& search, std::uint32_t last, std::uint32_t end) {
  search.compared = true;
  search.parts = last + 1;
  search.length = end;
  search.range = {Bound::from, search.asked.direction};
}

// The image ends with part `last`, from `begin` to `end`. No row has the value that was asked for:
// it is between the image and its neighbour in the index. So it matters on which side of that value
// the image is. If there is no image, all rows that equal the key up to here are on one side, and
// the image ends before this part.
void end_with_inexact(KeySearch& search, const PlannedKeyPart& part, std::uint32_t last,
                      std::uint32_t begin, std::uint32_t end) {
  const PartFit fit = search.fits[last];
  const bool is_above = fit != PartFit::below;
  const bool image_comes_after = is_above != part.descends;
  const bool up = search.asked.direction == store::Direction::up;
  if (fit == PartFit::no_image) {
    search.parts = last;
    search.length = begin;
    search.nothing = last == 0 && up != image_comes_after;
  } else {
    search.parts = last + 1;
    search.length = end;
  }
  // The image itself is found if it is behind the value that was asked for.
  search.range = {up == image_comes_after ? Bound::from : Bound::past, search.asked.direction};
}

// Decides about the search if not every part of the image is the value that was asked for.
void settle(const IndexPlan& plan, KeySearch& search, std::uint32_t length) {
  if (search.asked.bound == Bound::only) return search_equal(search, length);
  std::uint32_t last = 0;
  std::uint32_t begin = 0;
  while (search.fits[last] == PartFit::exact) begin += plan.key()[last++].store_length;
  const PlannedKeyPart& part = plan.key()[last];
  const std::uint32_t end = begin + part.store_length;
  if (search.fits[last] == PartFit::prefix) return end_with_prefix(search, last, end);
  end_with_inexact(search, part, last, begin, end);
}

}  // namespace

void make_key_search(const IndexPlan& plan, TABLE& table, std::span<const Value> key, Range range,
                     const Value* in_value, std::uint32_t in_part, KeySearch& search) {
  assert(key.size() <= plan.key_parts() && key.size() <= max_key_parts);
  search.nothing = false;
  search.compared = false;
  search.parts = 0;
  search.given = static_cast<std::uint32_t>(key.size());
  search.asked = range;
  search.range = range;
  std::uint32_t length = 0;
  bool all_exact = true;
  for (std::uint32_t i = 0; i < search.given; ++i) {
    const Value& value = in_value != nullptr && i == in_part ? *in_value : key[i];
    unsigned char* const to = search.image.data() + length;
    length += plan.key()[i].store_length;
    search.fits[i] = PartFit::exact;
    if (put_integer(plan.key()[i], value, to)) [[likely]]
      continue;
    if (put_text(plan.key()[i], value, to)) {
      assert(is_image_of_field(plan, table, i, value, range, to));
      continue;
    }
    const std::optional<PartFit> fit = put_value(plan, table, i, value, range, to);
    if (!fit) {
      search.nothing = true;
      return;
    }
    search.fits[i] = *fit;
    all_exact &= *fit == PartFit::exact;
  }
  search.parts = search.given;
  search.length = length;
  if (!all_exact) settle(plan, search, length);
}

}  // namespace hs::mysqld
