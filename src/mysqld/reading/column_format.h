// Column formats: how a column's value is written into a reply.
//
// Pure functions of a Field that holds a row, for any thread that owns the TABLE. The format of a
// column is chosen once, when the index is opened. Frequent types are written straight from the
// record, all others in the way that the server writes them for a SQL client.
#pragma once

#include "protocol/reply.h"

class Field;

namespace hs::mysqld {

// The encoding of text in requests and replies.
enum class TextEncoding : unsigned char {
  utf8mb4,  // converted, as for a SQL client
  column,   // as the column holds them, as the original did
};

// The field must not be NULL. False if there is no memory for the value: then nothing has been
// written.
using ColumnFormat = bool (*)(Field& field, protocol::ReplyWriter& reply);

ColumnFormat choose_column_format(const Field& field, TextEncoding encoding);

}  // namespace hs::mysqld
