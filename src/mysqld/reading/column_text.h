// Text from a request in a column's character set.
//
// Pure; any thread that owns the field's TABLE. Stores nothing.
#pragma once

#include <string_view>

#include "mysqld/reading/column_reader.h"

class Field;
class String;

namespace hs::mysqld {

// False if the bytes are no text, or text that the column's character set cannot hold: then the
// value compares with nothing, and `converted` has no meaning. In a binary column every byte is
// valid. Throws if the server has no memory for it, and may then leave an error raised.
[[nodiscard]] bool to_column_text(const Field& field, std::string_view text, TextEncoding encoding,
                                  String& converted);

}  // namespace hs::mysqld
