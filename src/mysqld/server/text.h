// Text and numbers as the server reads and compares them. All functions are inline.
//
// Pure functions, for any thread. Only api.h includes it.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace hs::mysqld::server {

// Of texts of at most the size of a key part.
struct LikeRange {
  std::array<char, 3072> least;
  std::array<char, 3072> greatest;
  std::size_t least_length = 0;
  std::size_t greatest_length = 0;
};

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
// Where a character takes more than one byte at least.
inline std::size_t encode_wide_ascii(const CHARSET_INFO* charset, char ascii, char (&to)[4]);
// An ASCII character in this character set. Returns its size.
inline std::size_t encode_ascii(const CHARSET_INFO* charset, char ascii, char (&to)[4]) {
  if (charset->mbminlen == 1) {
    to[0] = ascii;
    return 1;
  }
  return encode_wide_ascii(charset, ascii, to);
}
inline constexpr char like_escape = '\\';
inline constexpr char like_one = '_';
inline constexpr char like_many = '%';
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

// The pattern of SQL's LIKE for all texts that begin with `text`, both in this character set.
inline void make_prefix_pattern(const CHARSET_INFO* charset, std::string_view text,
                                std::string& pattern) {
  char escape[4];
  const auto escape_size = encode_ascii(charset, like_escape, escape);
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view character = rest.substr(0, character_size(charset, rest));
    rest.remove_prefix(character.size());
    char special[4];
    for (const char byte : {like_escape, like_one, like_many}) {
      if (character == std::string_view(special, encode_ascii(charset, byte, special)))
        pattern.append(escape, escape_size);
    }
    pattern.append(character);
  }
  char many[4];
  pattern.append(many, encode_ascii(charset, like_many, many));
}
// Whether the text matches the pattern.
inline bool is_like(const CHARSET_INFO* charset, std::string_view text, std::string_view pattern);
// The least and the greatest text of so many bytes, filled up, between which all texts are that match
// a pattern. False if the server knows no such texts.
inline bool find_like_range(const CHARSET_INFO* charset, std::string_view pattern, std::size_t size,
                            LikeRange& range);

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
