#include "mysqld/reading/column_reader.h"

#include <array>
#include <cstdint>
#include <type_traits>

#include "base/ascii.h"
#include "base/short_number.h"
#include "mysqld/server/api.h"

namespace hs::mysqld {

// A String that begins as an empty one in its own memory, each time that it is used.
class ReusedText {
 public:
  String& begin() {
    text_.set(memory_.data(), memory_.size(), &my_charset_bin);
    text_.length(0);
    return text_;
  }

 private:
  std::array<char, MAX_FIELD_WIDTH> memory_;
  String text_;
};

struct ColumnScratch::Texts {
  ReusedText text;
  ReusedText converted;
};

namespace {

using store::Column;
using store::ColumnValue;
using store::CurrentRow;

std::string_view view_of(const String& string) { return {string.ptr(), string.length()}; }

ColumnValue bytes(std::string_view value) {
  return {value.data(), static_cast<std::uint32_t>(value.size()), ColumnValue::Kind::bytes};
}

ColumnValue in_room(const char* room, const char* end) {
  return {room, static_cast<std::uint32_t>(end - room), ColumnValue::Kind::in_room};
}

constexpr ColumnValue no_memory{nullptr, 0, ColumnValue::Kind::no_memory};

// How the value of a field that is not NULL is read.
using ReadValue = ColumnValue (*)(Field& field, const TableRow& row, char* room);

template <ReadValue read_value>
ColumnValue read(const Column& column, const CurrentRow& row, char* room) {
  const auto& of_table = static_cast<const TableRow&>(row);
  Field& field = *of_table.table.field[column.number];
  return field.is_null() ? ColumnValue{} : read_value(field, of_table, room);
}

// Integers, little-endian in the record.
template <class Integer, std::size_t bytes = sizeof(Integer)>
ColumnValue read_integer(Field& field, const TableRow& /*row*/, char* room) {
  using Unsigned = std::make_unsigned_t<Integer>;
  Unsigned value = 0;
  std::memcpy(&value, server::record_of(field), bytes);
  if constexpr (std::is_signed_v<Integer> && bytes < sizeof(Integer)) {
    constexpr unsigned unused = 8 * (sizeof(Integer) - bytes);
    value = static_cast<Unsigned>(static_cast<Integer>(value << unused) >> unused);
  }
  static_assert(Column::room >= most_number_digits);
  return in_room(room, write_number(room, static_cast<Integer>(value)));
}

// A VARCHAR whose bytes are sent as they are: its length in one or two bytes, and then the bytes.
template <std::size_t length_bytes>
ColumnValue read_varchar(Field& field, const TableRow& /*row*/, char* /*room*/) {
  const unsigned char* const stored = server::record_of(field);
  std::size_t length = stored[0];
  if constexpr (length_bytes == 2) length |= static_cast<std::size_t>(stored[1]) << 8;
  return bytes({reinterpret_cast<const char*>(stored) + length_bytes, length});
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
ColumnValue read_date(Field& field, const TableRow& /*row*/, char* room) {
  const unsigned packed = uint3korr(server::record_of(field));
  return in_room(room, write_date(room, packed >> 9, (packed >> 5) & 15, packed & 31));
}

// DATETIME without a fraction: five bytes, big-endian, sign bit set. They hold year * 13 + month in
// 17 bits, day in 5, hour in 5, minute in 6, second in 6.
ColumnValue read_datetime(Field& field, const TableRow& /*row*/, char* room) {
  const unsigned char* const stored = server::record_of(field);
  const std::uint64_t packed =
      (std::uint64_t{mi_uint4korr(stored)} << 8 | stored[4]) - 0x8000000000ULL;
  const auto year_month = static_cast<unsigned>(packed >> 22);
  const auto time = static_cast<unsigned>(packed & 0x1ffff);
  char* to =
      write_date(room, year_month / 13, year_month % 13, static_cast<unsigned>(packed >> 17) & 31);
  *to++ = ' ';
  to = write_two_digits(to, time >> 12);
  *to++ = ':';
  to = write_two_digits(to, (time >> 6) & 63);
  *to++ = ':';
  return in_room(room, write_two_digits(to, time & 63));
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
ColumnValue read_as_is(Field& field, const TableRow& row, char* /*room*/) {
  const String* const value = text_of<takes_memory>(field, row.scratch.texts().text.begin());
  return value == nullptr ? no_memory : bytes(view_of(*value));
}

// Text of another character set, converted to utf8mb4.
template <bool takes_memory>
ColumnValue read_converted(Field& field, const TableRow& row, char* /*room*/) {
  ColumnScratch::Texts& texts = row.scratch.texts();
  const String* const value = text_of<takes_memory>(field, texts.text.begin());
  if (value == nullptr) return no_memory;
  const bool holds_ascii = (field.charset()->state & MY_CS_NONASCII) == 0;
  if (holds_ascii && is_ascii(view_of(*value))) return bytes(view_of(*value));
  String& converted = texts.converted.begin();
  uint errors = 0;
  const bool failed = converted.copy(value->ptr(), value->length(), field.charset(),
                                     &my_charset_utf8mb4_bin, &errors);
  return failed ? no_memory : bytes(view_of(converted));
}

bool is_sent_as_is(const CHARSET_INFO* charset) {
  return charset == &my_charset_bin || my_charset_same(charset, &my_charset_utf8mb4_bin) ||
         my_charset_same(charset, &my_charset_utf8mb3_bin) || server::is_ascii(charset);
}

template <class Signed, std::size_t bytes = sizeof(Signed)>
Column::Read integer_reader(const Field& field) {
  return field.is_unsigned() ? &read<read_integer<std::make_unsigned_t<Signed>, bytes>>
                             : &read<read_integer<Signed, bytes>>;
}

}  // namespace

ColumnScratch::ColumnScratch() : texts_(std::make_unique<Texts>()) {}
ColumnScratch::~ColumnScratch() = default;

void ColumnScratch::give_back() {
  texts_->text.begin();
  texts_->converted.begin();
}

Column::Read choose_column_reader(const Field& field, TextEncoding encoding) {
  const bool takes_memory = server::takes_memory_to_read(field);
  const Column::Read as_is = takes_memory ? &read<read_as_is<true>> : &read<read_as_is<false>>;
  const bool padded = server::is_zerofill(field);
  switch (field.real_type()) {
    case MYSQL_TYPE_TINY: return padded ? as_is : integer_reader<std::int8_t>(field);
    case MYSQL_TYPE_SHORT: return padded ? as_is : integer_reader<std::int16_t>(field);
    case MYSQL_TYPE_INT24: return padded ? as_is : integer_reader<std::int32_t, 3>(field);
    case MYSQL_TYPE_LONG: return padded ? as_is : integer_reader<std::int32_t>(field);
    case MYSQL_TYPE_LONGLONG:
      // The system columns of versioning by transaction are not plain numbers.
      if (server::is_version_column(field)) return as_is;
      return padded ? as_is : integer_reader<std::int64_t>(field);
    case MYSQL_TYPE_NEWDATE: return &read<read_date>;
    case MYSQL_TYPE_DATETIME2: return field.decimals() == 0 ? &read<read_datetime> : as_is;
    default: break;
  }
  if (!server::is_text(field)) return as_is;
  if (encoding == TextEncoding::utf8mb4 && !is_sent_as_is(field.charset()))
    return takes_memory ? &read<read_converted<true>> : &read<read_converted<false>>;
  if (field.real_type() == MYSQL_TYPE_VARCHAR && !server::is_compressed(field)) {
    return server::length_bytes_of(field) == 1 ? &read<read_varchar<1>> : &read<read_varchar<2>>;
  }
  return as_is;
}

}  // namespace hs::mysqld
