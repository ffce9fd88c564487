#include "mysqld/reading/column_format.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <type_traits>

#include "mysqld/server/api.h"

namespace hs::mysqld {
namespace {

using protocol::ReplyWriter;

std::string_view view_of(const String& string) { return {string.ptr(), string.length()}; }

// Integers, little-endian in the record.
template <class Integer, std::size_t bytes = sizeof(Integer)>
bool format_integer(Field& field, ReplyWriter& reply) {
  using Unsigned = std::make_unsigned_t<Integer>;
  Unsigned value = 0;
  std::memcpy(&value, server::record_of(field), bytes);
  if constexpr (std::is_signed_v<Integer> && bytes < sizeof(Integer)) {
    constexpr unsigned unused = 8 * (sizeof(Integer) - bytes);
    value = static_cast<Unsigned>(static_cast<Integer>(value << unused) >> unused);
  }
  constexpr std::size_t most = 20;  // -9223372036854775808
  char* const to = reply.begin_plain(most);
  reply.end_plain(std::to_chars(to, to + most, static_cast<Integer>(value)).ptr);
  return true;
}

// A VARCHAR whose bytes are sent as they are: its length in one or two bytes, and then the bytes.
template <std::size_t length_bytes>
bool format_varchar(Field& field, ReplyWriter& reply) {
  const unsigned char* const stored = server::record_of(field);
  std::size_t length = stored[0];
  if constexpr (length_bytes == 2) length |= static_cast<std::size_t>(stored[1]) << 8;
  reply.text({reinterpret_cast<const char*>(stored) + length_bytes, length});
  return true;
}

// The digits "00" to "99", one after the other.
constexpr auto two_digits = [] {
  std::array<char, 200> digits{};
  for (std::size_t i = 0; i < 100; ++i) {
    digits[2 * i] = static_cast<char>('0' + i / 10);
    digits[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return digits;
}();

// `value` must be less than 100.
char* write_two_digits(char* to, unsigned value) {
  std::memcpy(to, two_digits.data() + std::size_t{2} * value, 2);
  return to + 2;
}

// A damaged date may have a year of more than four digits. It must not be used as an index then.
char* write_date(char* to, unsigned year, unsigned month, unsigned day) {
  to = write_two_digits(to, year < 10'000 ? year / 100 : 0);
  to = write_two_digits(to, year % 100);
  *to++ = '-';
  to = write_two_digits(to, month);
  *to++ = '-';
  return write_two_digits(to, day);
}

// DATE: three bytes, little-endian: day in 5 bits, month in 4, year above.
bool format_date(Field& field, ReplyWriter& reply) {
  const unsigned packed = uint3korr(server::record_of(field));
  constexpr std::size_t size = 10;
  reply.end_plain(
      write_date(reply.begin_plain(size), packed >> 9, (packed >> 5) & 15, packed & 31));
  return true;
}

// DATETIME without a fraction: five bytes, big-endian, sign bit set. They hold year * 13 + month in
// 17 bits, day in 5, hour in 5, minute in 6, second in 6.
bool format_datetime(Field& field, ReplyWriter& reply) {
  const unsigned char* const stored = server::record_of(field);
  const std::uint64_t packed =
      (std::uint64_t{mi_uint4korr(stored)} << 8 | stored[4]) - 0x8000000000ULL;
  const auto year_month = static_cast<unsigned>(packed >> 22);
  const auto time = static_cast<unsigned>(packed & 0x1ffff);
  constexpr std::size_t size = 19;
  char* to = write_date(reply.begin_plain(size), year_month / 13, year_month % 13,
                        static_cast<unsigned>(packed >> 17) & 31);
  *to++ = ' ';
  to = write_two_digits(to, time >> 12);
  *to++ = ':';
  to = write_two_digits(to, (time >> 6) & 63);
  *to++ = ':';
  reply.end_plain(write_two_digits(to, time & 63));
  return true;
}

// Null if there was no memory to make the text.
template <bool takes_memory>
const String* text_of(Field& field, String& buffer) {
  const String* const value = field.val_str(&buffer, &buffer);
  if constexpr (takes_memory) {
    if (server::raised_error(field.table->in_use) != 0) return nullptr;
  }
  return value;
}

// The server's own text for the value, not converted.
template <bool takes_memory>
bool format_as_is(Field& field, ReplyWriter& reply) {
  StringBuffer<MAX_FIELD_WIDTH> buffer;
  const String* const value = text_of<takes_memory>(field, buffer);
  if (value == nullptr) return false;
  reply.text(view_of(*value));
  return true;
}

bool is_ascii(std::string_view bytes) {
  std::uint64_t seen = 0;
  for (; bytes.size() >= sizeof(seen); bytes.remove_prefix(sizeof(seen))) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof(word));
    seen |= word;
  }
  for (const char byte : bytes) seen |= static_cast<unsigned char>(byte);
  return (seen & 0x8080808080808080ULL) == 0;
}

// Text of another character set, converted to utf8mb4.
template <bool takes_memory>
bool format_converted(Field& field, ReplyWriter& reply) {
  StringBuffer<MAX_FIELD_WIDTH> buffer;
  StringBuffer<MAX_FIELD_WIDTH> converted;
  const String* const value = text_of<takes_memory>(field, buffer);
  if (value == nullptr) return false;
  const bool holds_ascii = (field.charset()->state & MY_CS_NONASCII) == 0;
  if (holds_ascii && is_ascii(view_of(*value))) {
    reply.text(view_of(*value));
    return true;
  }
  uint errors = 0;
  if (converted.copy(value->ptr(), value->length(), field.charset(), &my_charset_utf8mb4_bin,
                     &errors)) {
    return false;
  }
  reply.text(view_of(converted));
  return true;
}

bool is_sent_as_is(const CHARSET_INFO* charset) {
  return charset == &my_charset_bin || my_charset_same(charset, &my_charset_utf8mb4_bin) ||
         my_charset_same(charset, &my_charset_utf8mb3_bin) || server::is_ascii(charset);
}

template <class Signed, std::size_t bytes = sizeof(Signed)>
ColumnFormat integer_format(const Field& field) {
  return field.is_unsigned() ? &format_integer<std::make_unsigned_t<Signed>, bytes>
                             : &format_integer<Signed, bytes>;
}

}  // namespace

ColumnFormat choose_column_format(const Field& field, TextEncoding encoding) {
  const bool takes_memory = server::takes_memory_to_read(field);
  const ColumnFormat as_is = takes_memory ? &format_as_is<true> : &format_as_is<false>;
  const bool padded = server::is_zerofill(field);
  switch (field.real_type()) {
    case MYSQL_TYPE_TINY: return padded ? as_is : integer_format<std::int8_t>(field);
    case MYSQL_TYPE_SHORT: return padded ? as_is : integer_format<std::int16_t>(field);
    case MYSQL_TYPE_INT24: return padded ? as_is : integer_format<std::int32_t, 3>(field);
    case MYSQL_TYPE_LONG: return padded ? as_is : integer_format<std::int32_t>(field);
    case MYSQL_TYPE_LONGLONG:
      // The system columns of versioning by transaction are not plain numbers.
      if (server::is_version_column(field)) return as_is;
      return padded ? as_is : integer_format<std::int64_t>(field);
    case MYSQL_TYPE_NEWDATE: return format_date;
    case MYSQL_TYPE_DATETIME2: return field.decimals() == 0 ? format_datetime : as_is;
    default: break;
  }
  if (!server::is_text(field)) return as_is;
  if (encoding == TextEncoding::utf8mb4 && !is_sent_as_is(field.charset()))
    return takes_memory ? &format_converted<true> : &format_converted<false>;
  if (field.real_type() == MYSQL_TYPE_VARCHAR && !server::is_compressed(field)) {
    return server::length_bytes_of(field) == 1 ? &format_varchar<1> : &format_varchar<2>;
  }
  return as_is;
}

}  // namespace hs::mysqld
