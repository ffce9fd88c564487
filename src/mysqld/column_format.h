// Column formats: how a column's value is written into a reply.
//
// Pure functions of a Field that holds a row; any thread that owns the TABLE.
// The format of a column is chosen once, when the index is opened: the frequent
// types are written straight from the record, the rest the way that the server
// writes them for a SQL client.
#pragma once

#include "protocol/reply.h"

class Field;

namespace hs::mysqld {

// Which bytes text travels in.
enum class TextEncoding : unsigned char {
  utf8mb4,  // converted, as for a SQL client
  column,   // as the column holds them, as the original did
};

// The field is not NULL.
using ColumnFormat = void (*)(Field& field, protocol::ReplyWriter& reply);

ColumnFormat choose_column_format(const Field& field, TextEncoding encoding);

}  // namespace hs::mysqld
