// Text and numbers as the server reads and compares them. All functions are inline.
//
// Pure functions, for any thread. Only api.h includes it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace hs::mysqld::server {

inline bool is_ascii(const CHARSET_INFO* charset);
// Whether the collation ignores blanks at the end.
inline bool pads(const CHARSET_INFO* charset);
// Whether a CHAR of this character set loses blanks that its collation counts.
inline bool counts_blanks(const CHARSET_INFO* charset) {
  return charset != &my_charset_bin && !pads(charset);
}
// The text's length in bytes, without the blanks at its end.
inline std::size_t length_without_blanks(const CHARSET_INFO* charset, std::string_view text);
inline std::size_t count_characters(const CHARSET_INFO* charset, std::string_view text);
// The size in bytes of the first character of a text that is not empty.
inline std::size_t character_size(const CHARSET_INFO* charset, std::string_view text) {
  if (charset->mbmaxlen == 1) return 1;  // the server must not be asked then
  const std::size_t size = my_ismbchar(charset, text.data(), text.data() + text.size());
  return size == 0 ? 1 : size;  // 0: a character of one byte
}
// The length in bytes of the beginning that is valid text of this character set.
inline std::size_t well_formed_length(const CHARSET_INFO* charset, std::string_view text);
// Less than, equal to or greater than 0, in the order of the collation, which also decides about
// blanks at the end.
inline int compare(const CHARSET_INFO* charset, std::string_view a, std::string_view b);
// The collation's weights: texts that are equal have equal weights. Returns how many bytes were
// written.
inline std::size_t make_weights(const CHARSET_INFO* charset, std::string_view text,
                                std::span<unsigned char> weights);
// How many bytes the weights of a text of so many bytes may take. Each byte may be a character.
inline std::size_t room_for_weights(const CHARSET_INFO* charset, std::size_t text_size);
inline void fill_blanks(const CHARSET_INFO* charset, unsigned char* to, std::size_t size);

// A number at the beginning of the text.
struct ParsedDecimal {
  int error;  // E_DEC_...
  std::string_view rest;
};
struct ParsedReal {
  double value;
  bool out_of_range;
  std::string_view rest;
};
inline ParsedDecimal parse_decimal(std::string_view text, my_decimal& number);
inline ParsedReal parse_real(std::string_view text);

}  // namespace hs::mysqld::server

#include "family_text.h"
