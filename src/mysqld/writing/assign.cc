#include "mysqld/writing/assign.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "mysqld/reading/column_text.h"
#include "mysqld/reading/comparable_value.h"
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
  bool keeps_sign = true;                  // a subtraction that changes the sign is not made
  std::span<const store::Value> bounds{};  // of the sum, see store::Assignment

  // The bound of this number; null: there is none.
  const std::string_view* bound(std::size_t number) const {
    return number < bounds.size() && !bounds[number].null ? &bounds[number].bytes : nullptr;
  }
};

void raise_not_a_number(const Operand& operand) {
  if (!operand.stores) return;
  const std::string shown(operand.text.substr(0, 64));
  my_error(ER_TRUNCATED_WRONG_VALUE, MYF(0), "DOUBLE", shown.c_str());
}

// Whether a subtraction changes the sign.
bool crosses_zero(const Operand& operand, int sign_before, int sign_after) {
  return operand.keeps_sign && operand.subtract && sign_before * sign_after < 0;
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
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string_view* const bound = operand.bound(i);
    if (bound == nullptr) continue;
    my_decimal limit;
    const server::ParsedDecimal read = server::parse_decimal(*bound, limit);
    if (read.error != E_DEC_OK || !is_blank(read.rest)) {
      raise_not_a_number(operand);
      return false;
    }
    const int order = my_decimal_cmp(&after, &limit);
    if (i == 0 ? order < 0 : order > 0) after = limit;
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
  __int128 limits[2];
  bool are_whole = parse_whole(operand.text, number);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string_view* const bound = operand.bound(i);
    are_whole = are_whole && (bound == nullptr || parse_whole(*bound, limits[i]));
  }
  if (!are_whole) return add_decimal(field, operand);
  const std::int64_t bits = field.val_int();
  // SQL treats a BIT as unsigned, though its Field does not say so.
  const bool is_unsigned = field.is_unsigned() || field.type() == MYSQL_TYPE_BIT;
  const __int128 before = is_unsigned ? static_cast<__int128>(static_cast<std::uint64_t>(bits))
                                      : static_cast<__int128>(bits);
  __int128 after = operand.subtract ? before - number : before + number;
  if (operand.bound(0) != nullptr) after = std::max(after, limits[0]);
  if (operand.bound(1) != nullptr) after = std::min(after, limits[1]);
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
  double after = operand.subtract ? before - parsed.value : before + parsed.value;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string_view* const bound = operand.bound(i);
    if (bound == nullptr) continue;
    const server::ParsedReal limit = server::parse_real(*bound);
    if (limit.out_of_range || limit.rest.size() == bound->size() || !is_blank(limit.rest)) {
      raise_not_a_number(operand);
      return false;
    }
    after = i == 0 ? std::max(after, limit.value) : std::min(after, limit.value);
  }
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

bool add(Field& field, const Operand& operand) {
  if (has_exponent(operand.text)) return add_real(field, operand);
  if (field.result_type() == DECIMAL_RESULT || has_fraction_of_second(field))
    return add_decimal(field, operand);
  if (server::is_integral(field)) return add_integer(field, operand);
  return add_real(field, operand);
}

bool add(Field& field, const store::Value& value, bool subtract, bool stores) {
  if (field.is_null() || value.null || is_blank(value.bytes)) return false;
  return add(field, Operand{.text = value.bytes, .subtract = subtract, .stores = stores});
}

bool is_binary(const Field& field) { return field.charset() == &my_charset_bin; }

// The character set of a value in a request.
const CHARSET_INFO* charset_of_values(const Field& field, TextEncoding encoding) {
  if (is_binary(field)) return &my_charset_bin;
  return encoding == TextEncoding::utf8mb4 ? &my_charset_utf8mb4_bin : field.charset();
}

// As SQL's CONCAT, but a result that is too large for SQL is an error.
void concatenate(Field& field, const store::Assignment& assignment, TextEncoding encoding) {
  THD* const thd = field.table->in_use;
  StringBuffer<MAX_FIELD_WIDTH> buffer;
  const String* const mine = field.val_str(&buffer, &buffer);
  if (server::raised_error(thd) != 0) return;
  String converted;
  uint errors = 0;
  if (converted.copy(mine->ptr(), mine->length(), mine->charset(),
                     charset_of_values(field, encoding), &errors)) {
    return my_error(ER_OUTOFMEMORY, MYF(0), static_cast<int>(mine->length()));
  }
  std::string text(converted.ptr(), converted.length());
  if (text.size() + assignment.value.bytes.size() > thd->variables.max_allowed_packet)
    return my_error(ER_NET_PACKET_TOO_LARGE, MYF(0));
  text.insert(assignment.kind == store::AssignKind::append ? text.size() : 0,
              assignment.value.bytes);
  assign(field, store::Value{text}, encoding);
}

// Less than, equal to or greater than 0, as the value compares with the column. False: it does not
// compare, and to assign it says why.
bool compare_with_text(Field& field, const store::Value& value, TextEncoding encoding, int& order) {
  StringBuffer<MAX_FIELD_WIDTH> given;
  if (!to_column_text(field, value.bytes, encoding, given)) return false;
  StringBuffer<MAX_FIELD_WIDTH> buffer;
  const String* const mine = field.val_str(&buffer, &buffer);
  if (server::raised_error(field.table->in_use) != 0) return false;
  order = server::compare(field.charset(), {given.ptr(), given.length()},
                          {mine->ptr(), mine->length()});
  return true;
}

bool compare_with_stored(Field& field, const store::Value& value, TextEncoding encoding,
                         int& order) {
  // No type but text has so many bytes. Some integer fields read a byte behind their own.
  unsigned char before[256 + 8] = {};
  const std::size_t size = field.pack_length();
  if (size > 256) return false;
  auto* const record = const_cast<unsigned char*>(server::record_of(field));
  std::memcpy(before, record, size);
  const bool is_bit = field.real_type() == MYSQL_TYPE_BIT;
  const auto bits = static_cast<unsigned long long>(is_bit ? field.val_int() : 0);
  const Fit fit = store_comparable(field, value, encoding);
  if (fit != Fit::none && is_bit) {
    const auto given = static_cast<unsigned long long>(field.val_int());
    order = given < bits ? -1 : static_cast<int>(given > bits);
  } else if (fit != Fit::none) {
    order = field.cmp(record, before);
  }
  if (is_bit) {
    field.store(static_cast<longlong>(bits), true);
  } else {
    std::memcpy(record, before, size);
  }
  field.set_notnull();
  if (order == 0 && fit == Fit::below) order = 1;
  if (order == 0 && fit == Fit::above) order = -1;
  return fit != Fit::none;
}

void assign_if_beyond(Field& field, const store::Assignment& assignment, TextEncoding encoding) {
  const bool is_text = server::is_plain_string(field) || server::is_blob(field);
  int order = 0;
  const bool compares = is_text ? compare_with_text(field, assignment.value, encoding, order)
                                : compare_with_stored(field, assignment.value, encoding, order);
  const bool is_wanted = assignment.kind == store::AssignKind::at_least ? order > 0 : order < 0;
  if (!compares || is_wanted) assign(field, assignment.value, encoding);
}

// As in SQL, with 64 bits and without a sign.
void compute_bits(Field& field, const store::Assignment& assignment) {
  __int128 number = 0;
  if (!parse_whole(assignment.value.bytes, number))
    return raise_not_a_number({.text = assignment.value.bytes, .subtract = false, .stores = true});
  const auto by = static_cast<std::uint64_t>(number);
  auto bits = static_cast<std::uint64_t>(field.val_int());
  if (assignment.kind == store::AssignKind::bit_and) bits &= by;
  if (assignment.kind == store::AssignKind::bit_or) bits |= by;
  if (assignment.kind == store::AssignKind::bit_xor) bits ^= by;
  field.store(static_cast<longlong>(bits), true);
}

}  // namespace

void assign(Field& field, const store::Value& value, TextEncoding encoding) {
  if (value.is_whole) {
    const server::StrictAssignment strictly(field.table->in_use);
    return assign(field, store::Value{value.bytes, value.null}, encoding);
  }
  if (value.null) {
    set_field_to_null_with_conversions(&field, false);
    return;
  }
  field.set_notnull();
  const CHARSET_INFO* const charset = charset_of_values(field, encoding);
  const bool changed = field.store(value.bytes.data(), value.bytes.size(), charset) != 0;
  if (changed && server::is_lack_of_memory(server::raised_error(field.table->in_use))) [[unlikely]]
    server::recover_from_no_memory(field);
}

void assign(Field& field, const store::Assignment& assignment, TextEncoding encoding) {
  using enum store::AssignKind;
  const store::Value& value = assignment.value;
  if (assignment.reads_column() && (field.is_null() || value.null)) return;
  switch (assignment.kind) {
    case set: return assign(field, value, encoding);
    case set_default: return server::assign_default(field);
    case set_now: return server::assign_now(field);
    case set_new:
      if (value.null) return assign(field, value, encoding);
      field.set_notnull();
      return server::unpack(field, value.bytes);
    case store::AssignKind::add:
    case subtract: {
      const Operand operand{.text = value.bytes,
                            .subtract = assignment.kind == subtract,
                            .stores = true,
                            .keeps_sign = false,
                            .bounds = assignment.bounds};
      if (is_blank(value.bytes)) return raise_not_a_number(operand);
      static_cast<void>(::hs::mysqld::add(field, operand));
      return;
    }
    case append:
    case prepend: return concatenate(field, assignment, encoding);
    case at_least:
    case at_most: return assign_if_beyond(field, assignment, encoding);
    case bit_and:
    case bit_or:
    case bit_xor: return compute_bits(field, assignment);
  }
}

void append_image(const Field& field, Buffer& images) {
  char* const to = images.reserve(server::packed_room(field));
  auto* const begin = reinterpret_cast<unsigned char*>(to);
  images.advance(static_cast<std::size_t>(server::pack(field, begin) - begin));
}

bool add_unless_crossing_zero(Field& field, const store::Value& value, bool subtract) {
  return add(field, value, subtract, true);
}

bool subtraction_crosses_zero(Field& field, const store::Value& value) {
  const server::QuietChecks checks(field.table->in_use);
  return add(field, value, true, false);
}

}  // namespace hs::mysqld
