#include "mysqld/reading/column_text.h"

#include <new>

#include "mysqld/server/api.h"

namespace hs::mysqld {

bool to_column_text(const Field& field, std::string_view text, TextEncoding encoding,
                    String& converted) {
  const CHARSET_INFO* const to = field.charset();
  const CHARSET_INFO* const from =
      encoding == TextEncoding::utf8mb4 ? &my_charset_utf8mb4_bin : field.charset();
  // MySQL's conversion silently drops a broken character at the end.
  const bool is_bytes = to == &my_charset_bin;
  if (!is_bytes && server::well_formed_length(from, text) != text.size()) return false;
  uint errors = 0;
  if (converted.copy(text.data(), text.size(), is_bytes ? to : from, to, &errors))
    throw std::bad_alloc();
  return errors == 0;
}

}  // namespace hs::mysqld
