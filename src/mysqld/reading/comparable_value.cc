#include "mysqld/reading/comparable_value.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <string_view>

#include "mysqld/reading/column_text.h"
#include "mysqld/server/api.h"

namespace hs::mysqld {
namespace {

Fit fit_of(int stored_compared_with_asked) {
  if (stored_compared_with_asked == 0) return Fit::exact;
  return stored_compared_with_asked < 0 ? Fit::below : Fit::above;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\n\r\v\f") == std::string_view::npos;
}

const CHARSET_INFO* charset_of(const Field& field, TextEncoding encoding) {
  return encoding == TextEncoding::utf8mb4 ? &my_charset_utf8mb4_bin : field.charset();
}

int store_text(Field& field, std::string_view text, TextEncoding encoding) {
  return field.store(text.data(), text.size(), charset_of(field, encoding));
}

bool is_negative(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n\r\v\f");
  return first != std::string_view::npos && text[first] == '-';
}

// As in SQL, an empty string counts as the number 0.
std::string_view number_text(std::string_view text) { return text.empty() ? "0" : text; }

Fit store_exact_number(Field& field, std::string_view text) {
  my_decimal asked;
  const server::ParsedDecimal parsed = server::parse_decimal(text, asked);
  const bool has_number = parsed.rest.size() != text.size();
  if ((parsed.error & E_DEC_BAD_NUM) != 0 || !has_number || !is_blank(parsed.rest))
    return Fit::none;
  const bool endless = (parsed.error & E_DEC_OVERFLOW) != 0;
  // If the number is too large for a decimal, only its sign is kept.
  if (endless) asked.sign(is_negative(text));
  // The decimal is stored, not the text: some servers store the greatest value for a text that is
  // far too small.
  field.store_decimal(&asked);
  my_decimal buffer;
  const my_decimal* stored = field.val_decimal(&buffer);
  if (endless) return is_negative(text) ? Fit::above : Fit::below;
  return fit_of(my_decimal_cmp(stored, &asked));
}

Fit store_real(Field& field, std::string_view text) {
  const server::ParsedReal parsed = server::parse_real(text);
  if (parsed.rest.size() == text.size() || !is_blank(parsed.rest)) return Fit::none;
  double asked = parsed.value;
  if (parsed.out_of_range && std::abs(asked) > 1) {
    asked = std::copysign(std::numeric_limits<double>::infinity(), asked);
  }
  if (asked == 0) asked = 0;  // -0 equals 0. Without this, IN would find the rows of 0 twice.
  field.store(asked);
  const double stored = field.val_real();
  // A FLOAT holds the nearest value to 0.1. That counts as equal, because a written 0.1 became the
  // same value. But 0 is not the nearest value to anything else.
  if (field.real_type() == MYSQL_TYPE_FLOAT &&
      std::abs(asked) < std::numeric_limits<double>::max()) {
    const auto nearest = static_cast<float>(asked);
    if (static_cast<float>(stored) == nearest && (nearest != 0 || asked == 0)) return Fit::exact;
  }
  if (stored == asked) return Fit::exact;
  return stored < asked ? Fit::below : Fit::above;
}

Fit fit_of_moment(std::int64_t stored, std::int64_t asked) {
  return fit_of(stored < asked ? -1 : static_cast<int>(stored > asked));
}

// The bytes of a TIMESTAMP: the seconds since 1970 in four bytes, big-endian, and then the
// fraction. If all are 0, it is the zero date. Bytes are compared.
constexpr std::size_t second_bytes = 4;

unsigned char* timestamp_bytes(Field& field) {
  return const_cast<unsigned char*>(server::record_of(field));
}

bool has_no_seconds(Field& field) {
  const unsigned char* const bytes = timestamp_bytes(field);
  return std::all_of(bytes, bytes + second_bytes, [](unsigned char byte) { return byte == 0; });
}

// If the month or day of `parts` is 0 or too great: the first valid day after it.
std::string next_day(const MYSQL_TIME& parts) {
  const bool overflows = parts.day > 28 && parts.month != 0;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04u-%02u-01", parts.year,
                std::max(1U, parts.month + static_cast<unsigned>(overflows)));
  return text.data();
}

// For a moment that the column cannot hold: before 1970, after its last moment, or an invalid day.
Fit store_outside_timestamp(Field& field, const server::Moment& asked) {
  constexpr unsigned first_year = 1970;
  std::memset(timestamp_bytes(field), 0, field.pack_length());
  // the bytes are the zero date, which is below the moment
  if (asked.parts.year < first_year) return Fit::below;
  store_text(field, next_day(asked.parts), TextEncoding::utf8mb4);
  if (!has_no_seconds(field) && server::date_order(field) > asked.order) return Fit::above;
  const bool is_first = asked.parts.year == first_year;
  std::memset(timestamp_bytes(field), is_first ? 0 : 0xff, field.pack_length());
  return Fit::below;
}

// A change to daylight saving time leaves out some moments. For such a moment the server stores the
// first valid one after it, but keeps the fraction.
void drop_fraction_of_gap(Field& field, std::int64_t asked) {
  unsigned char* const fraction = timestamp_bytes(field) + second_bytes;
  const std::size_t size = field.pack_length() - second_bytes;
  std::array<unsigned char, 4> kept{};
  std::memcpy(kept.data(), fraction, size);
  std::memset(fraction, 0, size);
  if (server::date_order(field) <= asked) std::memcpy(fraction, kept.data(), size);
}

// If rounding goes beyond the last day, the server stores the zero date. This stores the last
// moment that the column holds instead.
void store_last_moment(Field& field) {
  constexpr std::string_view last = "9999-12-31 23:59:59.999999";
  constexpr std::size_t size_without_fraction = 19;
  const std::size_t digits = field.decimals();
  store_text(field, last.substr(0, size_without_fraction + (digits == 0 ? 0 : 1 + digits)),
             TextEncoding::utf8mb4);
}

// Whether the text is the number 0. SQL takes that for the zero date.
bool is_number_zero(std::string_view text) {
  my_decimal number;
  const server::ParsedDecimal parsed = server::parse_decimal(text, number);
  return parsed.error == E_DEC_OK && parsed.rest.size() != text.size() && is_blank(parsed.rest) &&
         my_decimal_is_zero(&number);
}

Fit store_date(Field& field, std::string_view text) {
  constexpr std::string_view zero_date = "0000-00-00";
  if (text.empty()) text = zero_date;
  server::Moment asked = server::read_date(field.table->in_use, text);
  if (!asked.known) {
    if (!is_number_zero(text)) return Fit::none;
    text = zero_date;
    asked = server::read_date(field.table->in_use, text);
  }
  store_text(field, text, TextEncoding::utf8mb4);
  if (field.real_type() == MYSQL_TYPE_TIMESTAMP2) {
    if (asked.order != 0 && has_no_seconds(field)) return store_outside_timestamp(field, asked);
    if (server::date_order(field) > asked.order) drop_fraction_of_gap(field, asked.order);
  } else if (asked.order != 0 && server::date_order(field) == 0) {
    store_last_moment(field);
  }
  return fit_of_moment(server::date_order(field), asked.order);
}

Fit store_time(Field& field, std::string_view text) {
  if (text.empty()) text = "00:00:00";
  const server::Moment asked = server::read_time(field, text);
  if (!asked.known) return Fit::none;
  store_text(field, text, TextEncoding::utf8mb4);
  return fit_of_moment(server::time_order(field), asked.order);
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.substr(0, 1))) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.substr(text.size() - 1))) text.remove_suffix(1);
  return text;
}

// A YEAR is 0 or from 1901 to 2155. As in SQL, 1 to 99 mean a year of the nearest century.
Fit store_year(Field& field, std::string_view text) {
  constexpr longlong last = 2155;
  text = without_blanks(text);
  my_decimal asked;
  const server::ParsedDecimal parsed = server::parse_decimal(text, asked);
  const bool has_number = parsed.rest.size() != text.size();
  if ((parsed.error & E_DEC_BAD_NUM) != 0 || !has_number || !parsed.rest.empty()) return Fit::none;
  if (store_text(field, text, TextEncoding::utf8mb4) == 0) return Fit::exact;
  my_decimal bound;
  int2my_decimal(E_DEC_FATAL_ERROR, last, false, &bound);
  if (!is_negative(text) && my_decimal_cmp(&bound, &asked) < 0) {
    field.store(last, false);
    return Fit::below;
  }
  field.store(0, false);
  return is_negative(text) ? Fit::above : Fit::below;
}

// The value of a BIT is a number in these bytes, big-endian.
Fit store_bits(Field& field, std::string_view bytes) {
  const std::size_t first = bytes.find_first_not_of('\0');
  bytes.remove_prefix(first == std::string_view::npos ? bytes.size() : first);
  const bool fits = field.store(bytes.data(), bytes.size(), &my_charset_bin) == 0;
  return fits ? Fit::exact : Fit::below;
}

Fit store_string(Field& field, std::string_view text, TextEncoding encoding) {
  const CHARSET_INFO* const to = field.charset();
  StringBuffer<MAX_FIELD_WIDTH> converted;
  if (!to_column_text(field, text, encoding, converted)) return Fit::none;
  const std::string_view asked(converted.ptr(), converted.length());
  const bool changed = field.store(converted.ptr(), converted.length(), to) != 0;
  // The field does not report a tab or a line end that it has cut off.
  const std::size_t room = field.char_length();
  const bool is_fixed = field.real_type() == MYSQL_TYPE_STRING;
  // CHAR removes blanks at the end. They count if the collation does not pad.
  const bool may_lose_blanks = is_fixed && server::counts_blanks(to);
  if (!changed && (asked.size() <= room || server::count_characters(to, asked) <= room)) {
    // Without its blanks the value is lower, but not the nearest one: a tab comes before a blank,
    // and an accent decides only between texts of equal letters.
    if (may_lose_blanks && server::length_without_blanks(to, asked) != asked.size())
      return Fit::cut;
    // BINARY(n) pads with zeros, which count, so the stored value is longer than the value in the
    // request.
    const bool padded =
        is_fixed && to == &my_charset_bin && converted.length() < field.field_length;
    return padded ? Fit::above : Fit::exact;
  }
  // The text was cut. Blanks at the end do not count if the collation pads.
  const std::string_view significant = asked.substr(0, server::length_without_blanks(to, asked));
  if (server::pads(to) && server::count_characters(to, significant) <= room) return Fit::exact;
  // The cut-off part alone does not say which is higher if a character may count as two (ß as ss)
  // or as none, or if the column's value is padded: a blank is above the control characters.
  const bool is_below = (to->state & MY_CS_BINSORT) != 0 && !server::pads(to) && !may_lose_blanks;
  return is_below ? Fit::below : Fit::cut;
}

// ENUM and SET also take a number as a position. SQL compares them as text.
Fit store_member(Field& field, std::string_view text, TextEncoding encoding) {
  StringBuffer<MAX_FIELD_WIDTH> asked;
  StringBuffer<MAX_FIELD_WIDTH> buffer;
  if (!to_column_text(field, text, encoding, asked)) return Fit::none;
  if (store_text(field, text, encoding) != 0) return Fit::none;
  return sortcmp(field.val_str(&buffer, &buffer), &asked, field.charset()) == 0 ? Fit::exact
                                                                                : Fit::none;
}

Fit store_as_type(Field& field, std::string_view text, TextEncoding encoding,
                  const server::QuietChecks& checks) {
  switch (field.real_type()) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
    case MYSQL_TYPE_NEWDECIMAL: return store_exact_number(field, number_text(text));
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE: return store_real(field, number_text(text));
    case MYSQL_TYPE_TIME:
    case MYSQL_TYPE_TIME2: return store_time(field, text);
    case MYSQL_TYPE_NEWDATE:
    case MYSQL_TYPE_DATETIME:
    case MYSQL_TYPE_DATETIME2:
    case MYSQL_TYPE_TIMESTAMP:
    case MYSQL_TYPE_TIMESTAMP2: return store_date(field, text);
    case MYSQL_TYPE_YEAR: return store_year(field, text.empty() ? "0000" : text);
    case MYSQL_TYPE_BIT: return store_bits(field, text);
    case MYSQL_TYPE_ENUM:
    case MYSQL_TYPE_SET: return store_member(field, text, encoding);
    default: break;
  }
  assert(!server::is_plain_string(field));
  const bool changed = store_text(field, text, encoding) != 0;
  return changed || checks.warned() ? Fit::none : Fit::exact;
}

template <class Store>
Fit store_quietly(Field& field, Store store) {
  server::QuietChecks checks(field.table->in_use);
  field.set_notnull();
  const Fit fit = store(checks);
  if (checks.lacked_memory()) [[unlikely]] {
    server::recover_from_no_memory(field);
    throw std::bad_alloc();
  }
  return fit;
}

}  // namespace

Fit store_comparable(Field& field, const store::Value& value, TextEncoding encoding) {
  return store_quietly(field, [&](const server::QuietChecks& checks) {
    return store_as_type(field, value.bytes, encoding, checks);
  });
}

Fit store_comparable_string(Field& field, const store::Value& value, TextEncoding encoding) {
  return store_quietly(field, [&](const server::QuietChecks& /*checks*/) {
    return store_string(field, value.bytes, encoding);
  });
}

}  // namespace hs::mysqld
