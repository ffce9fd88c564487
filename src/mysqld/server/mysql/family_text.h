// MySQL's half of server/text.h.
#pragma once

namespace hs::mysqld::server {

inline bool is_ascii(const CHARSET_INFO* charset) {
  return std::string_view(charset->csname) == "ascii";
}

// The binary character set is declared as padding, but compares every byte.
inline bool pads(const CHARSET_INFO* charset) {
  return charset->pad_attribute == PAD_SPACE && charset != &my_charset_bin;
}

inline std::size_t length_without_blanks(const CHARSET_INFO* charset, std::string_view text) {
  return charset->cset->lengthsp(charset, text.data(), text.size());
}

inline std::size_t count_characters(const CHARSET_INFO* charset, std::string_view text) {
  return charset->cset->numchars(charset, text.data(), text.data() + text.size());
}

inline std::size_t well_formed_length(const CHARSET_INFO* charset, std::string_view text) {
  int error = 0;
  return charset->cset->well_formed_len(charset, text.data(), text.data() + text.size(),
                                        text.size(), &error);
}

inline int compare(const CHARSET_INFO* charset, std::string_view a, std::string_view b) {
  return charset->coll->strnncollsp(charset, reinterpret_cast<const uchar*>(a.data()), a.size(),
                                    reinterpret_cast<const uchar*>(b.data()), b.size());
}

inline std::size_t make_weights(const CHARSET_INFO* charset, std::string_view text,
                                std::span<unsigned char> weights) {
  // The number of characters up to which blanks would be added. With this number none are added.
  const auto characters = static_cast<uint>(count_characters(charset, text));
  return charset->coll->strnxfrm(charset, weights.data(), weights.size(), characters,
                                 reinterpret_cast<const uchar*>(text.data()), text.size(), 0);
}

inline std::size_t room_for_weights(const CHARSET_INFO* charset, std::size_t text_size) {
  return charset->coll->strnxfrmlen(charset, text_size * charset->mbmaxlen);
}

inline std::size_t encode_wide_ascii(const CHARSET_INFO* charset, char ascii, char (&to)[4]) {
  uchar* const begin = reinterpret_cast<uchar*>(to);
  return static_cast<std::size_t>(
      charset->cset->wc_mb(charset, static_cast<uchar>(ascii), begin, begin + sizeof(to)));
}

inline bool is_like(const CHARSET_INFO* charset, std::string_view text, std::string_view pattern) {
  return my_wildcmp(charset, text.data(), text.data() + text.size(), pattern.data(),
                    pattern.data() + pattern.size(), like_escape, like_one, like_many) == 0;
}

inline bool find_like_range(const CHARSET_INFO* charset, std::string_view pattern, std::size_t size,
                            LikeRange& range) {
  return !my_like_range(charset, pattern.data(), pattern.size(), like_escape, like_one, like_many,
                        size, range.least.data(), range.greatest.data(), &range.least_length,
                        &range.greatest_length);
}

inline void fill_blanks(const CHARSET_INFO* charset, unsigned char* to, std::size_t size) {
  charset->cset->fill(charset, reinterpret_cast<char*>(to), size, ' ');
}

inline ParsedDecimal parse_decimal(std::string_view text, my_decimal& number) {
  const char* end = text.data() + text.size();
  const int error = str2my_decimal(0, text.data(), &number, &end);
  return {error, text.substr(static_cast<std::size_t>(end - text.data()))};
}

inline ParsedReal parse_real(std::string_view text) {
  const char* end = nullptr;
  int error = 0;
  const double value = my_strntod(&my_charset_latin1, text.data(), text.size(), &end, &error);
  return {value, error != 0, text.substr(static_cast<std::size_t>(end - text.data()))};
}

}  // namespace hs::mysqld::server
