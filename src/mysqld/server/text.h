// Text and numbers as the server reads and compares them. All inline.
//
// Pure functions, any thread. Included by server_api.h alone.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace hs::mysqld::server {

inline bool is_ascii(const CHARSET_INFO* charset);
// Whether the collation ignores blanks at the end.
inline bool pads(const CHARSET_INFO* charset);
// The text's length in bytes without the blanks at its end.
inline std::size_t length_without_blanks(const CHARSET_INFO* charset, std::string_view text);
inline std::size_t count_characters(const CHARSET_INFO* charset, std::string_view text);
// The length in bytes of the part that is text of this character set.
inline std::size_t well_formed_length(const CHARSET_INFO* charset, std::string_view text);
// Below, at or above 0, as the collation orders them, blanks at the end as it treats them.
inline int compare(const CHARSET_INFO* charset, std::string_view a, std::string_view b);
// The collation's weights, so that equal text has equal bytes. Returns how many were written.
inline std::size_t make_weights(const CHARSET_INFO* charset, std::string_view text,
                                std::span<unsigned char> weights);
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
