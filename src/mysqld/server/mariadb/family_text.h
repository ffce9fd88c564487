// MariaDB's half of server/text.h.
#pragma once

namespace hs::mysqld::server {

inline bool is_ascii(const CHARSET_INFO* charset) {
  return std::string_view(charset->cs_name.str, charset->cs_name.length) == "ascii";
}

inline bool pads(const CHARSET_INFO* charset) {
  return (charset->state & MY_CS_NOPAD) == 0 && charset != &my_charset_bin;
}

inline std::size_t length_without_blanks(const CHARSET_INFO* charset, std::string_view text) {
  return charset->lengthsp(text.data(), text.size());
}

inline std::size_t count_characters(const CHARSET_INFO* charset, std::string_view text) {
  return charset->numchars(text.data(), text.data() + text.size());
}

inline std::size_t well_formed_length(const CHARSET_INFO* charset, std::string_view text) {
  return static_cast<std::size_t>(Well_formed_prefix(charset, text.data(), text.size()).length());
}

inline int compare(const CHARSET_INFO* charset, std::string_view a, std::string_view b) {
  return charset->strnncollsp(a.data(), a.size(), b.data(), b.size());
}

inline std::size_t make_weights(const CHARSET_INFO* charset, std::string_view text,
                                std::span<unsigned char> weights) {
  // Allows as many weights as there is room for: one character may have eighteen.
  return charset->strnxfrm(weights.data(), weights.size(), static_cast<uint>(weights.size()),
                           reinterpret_cast<const uchar*>(text.data()), text.size(), 0);
}

inline std::size_t room_for_weights(const CHARSET_INFO* charset, std::size_t text_size) {
  return charset->strnxfrmlen(text_size * charset->mbmaxlen);
}

inline std::size_t encode_wide_ascii(const CHARSET_INFO* charset, char ascii, char (&to)[4]) {
  uchar* const begin = reinterpret_cast<uchar*>(to);
  return static_cast<std::size_t>(
      charset->wc_mb(static_cast<uchar>(ascii), begin, begin + sizeof(to)));
}

inline bool is_like(const CHARSET_INFO* charset, std::string_view text, std::string_view pattern) {
  return charset->wildcmp(text.data(), text.data() + text.size(), pattern.data(),
                          pattern.data() + pattern.size(), like_escape, like_one, like_many) == 0;
}

inline bool find_like_range(const CHARSET_INFO* charset, std::string_view pattern, std::size_t size,
                            LikeRange& range) {
  return !charset->like_range(pattern.data(), pattern.size(), like_escape, like_one, like_many,
                              size, range.least.data(), range.greatest.data(), &range.least_length,
                              &range.greatest_length);
}

inline void fill_blanks(const CHARSET_INFO* charset, unsigned char* to, std::size_t size) {
  charset->fill(reinterpret_cast<char*>(to), size, ' ');
}

inline ParsedDecimal parse_decimal(std::string_view text, my_decimal& number) {
  const char* end = nullptr;
  const int error = str2my_decimal(0, text.data(), text.size(), &my_charset_latin1, &number, &end);
  return {error, text.substr(static_cast<std::size_t>(end - text.data()))};
}

inline ParsedReal parse_real(std::string_view text) {
  char* end = nullptr;
  int error = 0;
  const double value =
      my_charset_latin1.strntod(const_cast<char*>(text.data()), text.size(), &end, &error);
  return {value, error != 0, text.substr(static_cast<std::size_t>(end - text.data()))};
}

}  // namespace hs::mysqld::server
