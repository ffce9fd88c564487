// Columns: what a Field is asked while a row is written into a reply or a value into a row. All
// functions are inline, because they are on the hot path.
//
// For any thread that owns the field's TABLE. Only api.h includes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hs::mysqld::server {

// Where the column's bytes stand in the record.
inline const unsigned char* record_of(const Field& field);
inline std::string_view name_of(const Field& field);
inline std::uint16_t number_of(const Field& field);

// Columns that the server keeps for itself. No SELECT can name them.
inline bool is_hidden(const Field& field);
// Columns that SELECT * leaves out, and that can be named.
inline bool is_invisible(const Field& field);
// Its type, as SQL writes it.
inline std::string sql_type_of(const Field& field);
// The character set of its text. Empty: its values are bytes, or no text.
inline std::string_view character_set_of(const Field& field);
// The digits behind the point: of a decimal, of a fixed float, and of the seconds of a time.
inline std::uint32_t decimals_of(const Field& field);
// Its column may be NULL.
inline bool is_nullable(const Field& field);
inline bool is_zerofill(const Field& field);
// A number without a sign, as SQL says it. Other columns without negative values are called unsigned by the
// server, too, such as BIT and TIMESTAMP.
inline bool is_unsigned_number(const Field& field);
inline bool is_blob(const Field& field);
// Of a BLOB, a TEXT or a similar column that is not NULL.
inline std::size_t bytes_of_blob(Field& field);
// Its values are in the stored row, and are not computed when the row is read.
inline bool is_stored(const Field& field);
// Its values are computed from other columns.
inline bool is_generated(const Field& field);
// A column of row versions, which no client may set.
inline bool is_version_column(const Field& field);
// Characters of some character set, which may have to be converted.
inline bool is_text(const Field& field);
// CHAR, VARCHAR, BINARY, TEXT, BLOB and similar types, which take any bytes up to a length. Not a
// type that is stored as a string but has a format of its own.
inline bool is_plain_string(const Field& field);
// Its bytes in the record are not the bytes of its value.
inline bool is_compressed(const Field& field);
// val_str() takes memory to make the value. If there is none, it raises an error but returns an
// empty text.
inline bool takes_memory_to_read(const Field& field);
// Called for a column in which a store has found no memory: makes the column usable again. What is
// in the record must not be read. A column of MariaDB would otherwise use memory that it has given
// back, and whoever uses the table next would crash.
inline void recover_from_no_memory(Field& field);
// For a VARCHAR: one or two bytes hold its length.
inline unsigned length_bytes_of(const Field& field);
// Computations use its values as whole numbers.
inline bool is_integral(const Field& field);

// SET column = DEFAULT
inline void assign_default(Field& field);
// SET column = NOW(), with as many digits of a second as the column has.
inline void assign_now(Field& field);

// The column's value as the binary log has it: to write it there, and to read it back. Its image may
// have to stay as long as the value.
inline std::size_t packed_room(const Field& field);
inline unsigned char* pack(const Field& field, unsigned char* to);
inline void unpack(Field& field, std::string_view image);

}  // namespace hs::mysqld::server

#include "family_fields.h"

namespace hs::mysqld::server {

inline std::string_view character_set_of(const Field& field) {
  // MariaDB's UUID and INET are stored as strings and have a character set, but are no texts.
  const bool is_list = field.real_type() == MYSQL_TYPE_ENUM || field.real_type() == MYSQL_TYPE_SET;
  const bool has_text = is_text(field) &&
                        (is_list || is_compressed(field) || is_plain_string(field)) &&
                        field.charset() != &my_charset_bin;
  return has_text ? name_of(*field.charset()) : std::string_view();
}

inline bool is_unsigned_number(const Field& field) {
  switch (field.real_type()) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
    case MYSQL_TYPE_NEWDECIMAL:
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE: return field.is_unsigned();
    default: return false;
  }
}

inline std::uint32_t decimals_of(const Field& field) {
  const std::uint32_t decimals = field.decimals();
  return decimals < DECIMAL_NOT_SPECIFIED ? decimals : 0;
}

inline std::string sql_type_of(const Field& field) {
  // The server writes into this room, and takes another one for a long list of ENUM or SET.
  char room[MAX_FIELD_WIDTH];
  String text(room, sizeof room, system_charset_info);
  field.sql_type(text);
  return {text.ptr(), text.length()};
}

}  // namespace hs::mysqld::server
