#include "mysqld/writing/assign.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "mysqld/server/api.h"

namespace hs::mysqld {
namespace {

void raise_out_of_range(const char* type, const Field& field) {
  my_error(ER_DATA_OUT_OF_RANGE, MYF(0), type, std::string(server::name_of(field)).c_str());
}

// SQL ignores blanks around a number.
bool is_blank(std::string_view text) {
  return text.find_first_not_of(' ') == std::string_view::npos;
}

// What is added to a column or subtracted from it.
struct Operand {
  std::string_view text;
  bool subtract;
  // Otherwise nothing is assigned and no error is raised: it is only asked whether the sum crosses
  // zero.
  bool stores;
};

void raise_not_a_number(const Operand& operand) {
  if (!operand.stores) return;
  const std::string shown(operand.text.substr(0, 64));
  my_error(ER_TRUNCATED_WRONG_VALUE, MYF(0), "DOUBLE", shown.c_str());
}

// Whether a subtraction changes the sign.
bool crosses_zero(const Operand& operand, int sign_before, int sign_after) {
  return operand.subtract && sign_before * sign_after < 0;
}

template <class Number>
int sign_of(Number number) {
  return static_cast<int>(number > 0) - static_cast<int>(number < 0);
}

// The functions below return true if the sum crosses zero; then nothing is assigned.

bool add_decimal(Field& field, const Operand& operand) {
  my_decimal number;
  const server::ParsedDecimal parsed = server::parse_decimal(operand.text, number);
  if (parsed.error != E_DEC_OK || !is_blank(parsed.rest)) {
    raise_not_a_number(operand);
    return false;
  }
  my_decimal buffer;
  const my_decimal* before = field.val_decimal(&buffer);
  my_decimal after;
  if (operand.subtract) {
    my_decimal_sub(E_DEC_FATAL_ERROR, &after, before, &number);
  } else {
    my_decimal_add(E_DEC_FATAL_ERROR, &after, before, &number);
  }
  const auto sign = [](const my_decimal& of) {
    if (my_decimal_is_zero(&of)) return 0;
    return of.sign() ? -1 : 1;
  };
  if (crosses_zero(operand, sign(*before), sign(after))) return true;
  if (operand.stores) field.store_decimal(&after);
  return false;
}

// A whole number of at most 64 bits, with or without a sign, and nothing else.
bool parse_whole(std::string_view text, __int128& number) {
  const bool negative = !text.empty() && text[0] == '-';
  if (negative || (!text.empty() && text[0] == '+')) text.remove_prefix(1);
  std::uint64_t digits = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, digits);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return false;
  number = negative ? -static_cast<__int128>(digits) : static_cast<__int128>(digits);
  return number >= std::numeric_limits<std::int64_t>::min();
}

bool add_integer(Field& field, const Operand& operand) {
  __int128 number = 0;
  // Fractions such as 0.5, and longer numbers: as in SQL, the sum is computed exactly and then
  // stored.
  if (!parse_whole(operand.text, number)) return add_decimal(field, operand);
  const std::int64_t bits = field.val_int();
  // SQL treats a BIT as unsigned, though its Field does not say so.
  const bool is_unsigned = field.is_unsigned() || field.type() == MYSQL_TYPE_BIT;
  const __int128 before = is_unsigned ? static_cast<__int128>(static_cast<std::uint64_t>(bits))
                                      : static_cast<__int128>(bits);
  const __int128 after = operand.subtract ? before - number : before + number;
  if (crosses_zero(operand, sign_of(before), sign_of(after))) return true;
  if (!operand.stores) return false;
  // As in SQL, a sum is unsigned if either operand is. It has to fit, whatever sql_mode says.
  constexpr __int128 most_signed = std::numeric_limits<std::int64_t>::max();
  const bool as_unsigned = is_unsigned || number > most_signed;
  const __int128 least = as_unsigned ? 0 : std::numeric_limits<std::int64_t>::min();
  const __int128 most = as_unsigned ? std::numeric_limits<std::uint64_t>::max() : most_signed;
  if (after < least || after > most) {
    raise_out_of_range(as_unsigned ? "BIGINT UNSIGNED" : "BIGINT", field);
    return false;
  }
  field.store(static_cast<longlong>(after), as_unsigned);
  return false;
}

bool add_real(Field& field, const Operand& operand) {
  const server::ParsedReal parsed = server::parse_real(operand.text);
  const bool has_number = parsed.rest.size() != operand.text.size();
  if (parsed.out_of_range || !has_number || !is_blank(parsed.rest)) {
    raise_not_a_number(operand);
    return false;
  }
  const double before = field.val_real();
  const double after = operand.subtract ? before - parsed.value : before + parsed.value;
  if (crosses_zero(operand, sign_of(before), sign_of(after))) return true;
  if (!operand.stores) return false;
  if (!std::isfinite(after)) {
    raise_out_of_range("DOUBLE", field);
    return false;
  }
  field.store(after);
  return false;
}

// A moment with a fraction of a second, read as a number, has too many digits for a double.
bool has_fraction_of_second(const Field& field) {
  switch (field.type()) {
    case MYSQL_TYPE_TIME:
    case MYSQL_TYPE_DATETIME:
    case MYSQL_TYPE_TIMESTAMP: return field.decimals() != 0;
    default: return false;
  }
}

// SQL reads 1e2 as a double, so every sum with it is a double.
bool has_exponent(std::string_view text) {
  return text.find_first_of("eE") != std::string_view::npos;
}

bool add(Field& field, const store::Value& value, bool subtract, bool stores) {
  if (field.is_null() || value.null || is_blank(value.bytes)) return false;
  const Operand operand{.text = value.bytes, .subtract = subtract, .stores = stores};
  if (has_exponent(value.bytes)) return add_real(field, operand);
  if (field.result_type() == DECIMAL_RESULT || has_fraction_of_second(field))
    return add_decimal(field, operand);
  if (server::is_integral(field)) return add_integer(field, operand);
  return add_real(field, operand);
}

bool is_binary(const Field& field) { return field.charset() == &my_charset_bin; }

}  // namespace

void assign(Field& field, const store::Value& value, TextEncoding encoding) {
  if (value.null) {
    set_field_to_null_with_conversions(&field, false);
    return;
  }
  field.set_notnull();
  const CHARSET_INFO* const charset = is_binary(field)                    ? &my_charset_bin
                                      : encoding == TextEncoding::utf8mb4 ? &my_charset_utf8mb4_bin
                                                                          : field.charset();
  const bool changed = field.store(value.bytes.data(), value.bytes.size(), charset) != 0;
  if (changed && server::is_lack_of_memory(server::raised_error(field.table->in_use))) [[unlikely]]
    server::recover_from_no_memory(field);
}

bool add_unless_crossing_zero(Field& field, const store::Value& value, bool subtract) {
  return add(field, value, subtract, true);
}

bool subtraction_crosses_zero(Field& field, const store::Value& value) {
  const server::QuietChecks checks(field.table->in_use);
  return add(field, value, true, false);
}

}  // namespace hs::mysqld
