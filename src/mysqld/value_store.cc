#include "mysqld/value_store.h"

#include <cmath>
#include <cstdlib>
#include <string_view>

#include "mysqld/server_api.h"

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

Fit store_exact_number(Field& field, std::string_view text) {
  my_decimal asked;
  const server::ParsedDecimal parsed = server::parse_decimal(text, asked);
  const bool has_number = parsed.rest.size() != text.size();
  if ((parsed.error & E_DEC_BAD_NUM) != 0 || !has_number || !is_blank(parsed.rest))
    return Fit::none;
  store_text(field, text, TextEncoding::utf8mb4);
  my_decimal buffer;
  const my_decimal* stored = field.val_decimal(&buffer);
  return fit_of(my_decimal_cmp(stored, &asked));
}

Fit store_real(Field& field, std::string_view text) {
  const server::ParsedReal asked = server::parse_real(text);
  if (asked.rest.size() == text.size() || !is_blank(asked.rest)) return Fit::none;
  const bool changed = store_text(field, text, TextEncoding::utf8mb4) != 0;
  // A FLOAT holds 0.1 as nearly as it can: that is a match, as it was when it was
  // written. Only a value outside of the column's range is not.
  if (!changed) return Fit::exact;
  return fit_of(field.val_real() < asked.value ? -1 : 1);
}

// Whether digits of the fraction were lost that are not zero.
bool loses_fraction(const Field& field, std::string_view text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view fraction = text.substr(dot + 1);
  if (fraction.size() <= field.decimals()) return false;
  const std::size_t digit = fraction.find_first_not_of('0', field.decimals());
  return digit != std::string_view::npos && fraction[digit] >= '1' && fraction[digit] <= '9';
}

Fit store_temporal(Field& field, std::string_view text, const server::QuietChecks& checks) {
  const int error = store_text(field, text, TextEncoding::utf8mb4);
  if (error == 0 && !checks.warned()) {
    if (!loses_fraction(field, text)) return Fit::exact;
    const bool negative = text.find_first_not_of(' ') != std::string_view::npos &&
                          text[text.find_first_not_of(' ')] == '-';
    return negative ? Fit::above : Fit::below;
  }
  // A DATE was asked for with a time of the day that it cannot hold.
  if (field.type() == MYSQL_TYPE_DATE && error == 0) return Fit::below;
  return Fit::none;
}

Fit store_string(Field& field, std::string_view text, TextEncoding encoding) {
  const CHARSET_INFO* const to = field.charset();
  const CHARSET_INFO* const from = charset_of(field, encoding);
  StringBuffer<MAX_FIELD_WIDTH> converted;
  uint errors = 0;
  if (converted.copy(text.data(), text.size(), from, to, &errors) || errors != 0) return Fit::none;
  const std::string_view asked(converted.ptr(), converted.length());
  if (server::well_formed_length(to, asked) != asked.size()) return Fit::none;
  const int changed = field.store(converted.ptr(), converted.length(), to);
  if (changed == 0) {
    const bool is_fixed = field.real_type() == MYSQL_TYPE_STRING;
    // CHAR keeps no blanks at the end, which count where the collation does not pad.
    const bool loses_blanks = is_fixed && to != &my_charset_bin && !server::pads(to) &&
                              server::length_without_blanks(to, asked) != asked.size();
    if (loses_blanks) return Fit::below;
    // BINARY(n) pads with zeros, which count: what is stored is longer than what was asked for.
    const bool padded =
        is_fixed && to == &my_charset_bin && converted.length() < field.field_length;
    return padded ? Fit::above : Fit::exact;
  }
  // Cut. Blanks at the end do not count where the collation pads.
  const std::string_view significant = asked.substr(0, server::length_without_blanks(to, asked));
  if (server::pads(to) && server::count_characters(to, significant) <= field.char_length())
    return Fit::exact;
  return Fit::below;
}

// ENUM and SET take a number for a position, too; SQL compares them as text.
Fit store_member(Field& field, std::string_view text, TextEncoding encoding) {
  if (store_text(field, text, encoding) != 0) return Fit::none;
  StringBuffer<MAX_FIELD_WIDTH> asked;
  StringBuffer<MAX_FIELD_WIDTH> buffer;
  uint errors = 0;
  if (asked.copy(text.data(), text.size(), charset_of(field, encoding), field.charset(), &errors) ||
      errors != 0) {
    return Fit::none;
  }
  return sortcmp(field.val_str(&buffer, &buffer), &asked, field.charset()) == 0 ? Fit::exact
                                                                                : Fit::none;
}

}  // namespace

Fit store_comparable(Field& field, const protocol::Value& value, TextEncoding encoding) {
  const server::QuietChecks checks(field.table->in_use);
  field.set_notnull();
  const std::string_view text = value.bytes;
  switch (field.real_type()) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
    case MYSQL_TYPE_NEWDECIMAL: return store_exact_number(field, text);
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE: return store_real(field, text);
    case MYSQL_TYPE_NEWDATE:
    case MYSQL_TYPE_TIME:
    case MYSQL_TYPE_TIME2:
    case MYSQL_TYPE_DATETIME:
    case MYSQL_TYPE_DATETIME2:
    case MYSQL_TYPE_TIMESTAMP:
    case MYSQL_TYPE_TIMESTAMP2: return store_temporal(field, text, checks);
    case MYSQL_TYPE_ENUM:
    case MYSQL_TYPE_SET: return store_member(field, text, encoding);
    default: break;
  }
  if (server::is_plain_string(field)) return store_string(field, text, encoding);
  const bool changed = store_text(field, text, encoding) != 0;
  return changed || checks.warned() ? Fit::none : Fit::exact;
}

}  // namespace hs::mysqld
