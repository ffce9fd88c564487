// Columns: what a Field is asked on the way of a row into a reply or of a value
// into a row. All inline: these are on the hot path.
//
// Any thread that owns the field's TABLE. Included by server_api.h alone.
#pragma once

#include <cstdint>
#include <string_view>

namespace hs::mysqld::server {

// Where the column's bytes stand in the record.
inline const unsigned char* record_of(const Field& field);
inline std::string_view name_of(const Field& field);
inline std::uint16_t number_of(const Field& field);

// Columns that the server keeps for itself: no SELECT can name them.
inline bool is_hidden(const Field& field);
inline bool is_zerofill(const Field& field);
inline bool is_blob(const Field& field);
// A part of a versioned row that no client may set.
inline bool is_version_column(const Field& field);
// Letters of some character set, which may have to be converted.
inline bool is_text(const Field& field);
// CHAR, VARCHAR, BINARY, TEXT, BLOB and the like: takes any bytes up to a length. Not a
// type that is stored as a string but has a form of its own.
inline bool is_plain_string(const Field& field);
// Of a VARCHAR: one or two bytes hold its length.
inline unsigned length_bytes_of(const Field& field);
// Its values are computed with as whole numbers.
inline bool is_integral(const Field& field);

}  // namespace hs::mysqld::server

#include "family_fields.h"
