#include "keys/key.h"

#include <algorithm>

#include "keys/spelling.h"

namespace hs::keys {
namespace {

// Whether the text looks like the pattern, in which 0 stands for any digit.
bool looks_like(std::string_view text, std::string_view pattern) {
  if (text.size() != pattern.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (pattern[i] == '0' ? !is_digit(text[i]) : text[i] != pattern[i]) return false;
  }
  return true;
}

bool is_decimal(std::string_view text, std::size_t decimals) {
  const std::size_t point = text.find('.');
  std::string_view whole = text.substr(0, point);
  const bool is_negative = whole.starts_with('-');
  if (is_negative) whole.remove_prefix(1);
  if (!is_whole_number(whole, false)) return false;
  if (is_negative && text.find_first_not_of("-0.") == std::string_view::npos) return false;
  if (decimals == 0) return point == std::string_view::npos;
  if (point == std::string_view::npos || text.size() - point - 1 != decimals) return false;
  return text.find_first_not_of("0123456789", point + 1) == std::string_view::npos;
}

bool is_date_and_time(std::string_view text, std::size_t decimals) {
  constexpr std::string_view seconds = "0000-00-00 00:00:00";
  if (!looks_like(text.substr(0, seconds.size()), seconds)) return false;
  text.remove_prefix(seconds.size());
  if (decimals == 0) return text.empty();
  return text.size() == decimals + 1 && text[0] == '.' &&
         text.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

}  // namespace

bool unescape(std::string_view text, std::string& to) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      to.push_back(text[i]);
      continue;
    }
    if (text.size() - i < 3 || hex_digit(text[i + 1]) < 0 || hex_digit(text[i + 2]) < 0)
      return false;
    to.push_back(static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])));
    i += 2;
  }
  return true;
}

KeyMistake read_names(std::string_view name, std::string_view default_database, KeyNames& names) {
  if (name.empty()) return KeyMistake::no_name;
  names = {};
  const std::size_t at = name.find('@');
  if (at != std::string_view::npos && !unescape(name.substr(at + 1), names.index))
    return KeyMistake::bad_escape;
  // A number would mean the index in that place, and PRIMARY is what is meant without a name.
  if (at != std::string_view::npos && names.index.empty()) return KeyMistake::no_name;
  const std::string_view table = name.substr(0, at);
  const std::size_t dot = table.find('.');
  const bool has_database = dot != std::string_view::npos;
  if (!has_database) {
    if (default_database.empty()) return KeyMistake::no_database;
    names.database = default_database;
  } else if (!unescape(table.substr(0, dot), names.database)) {
    return KeyMistake::bad_escape;
  }
  if (!unescape(has_database ? table.substr(dot + 1) : table, names.table))
    return KeyMistake::bad_escape;
  return names.database.empty() || names.table.empty() ? KeyMistake::no_name : KeyMistake::none;
}

bool is_one_spelling(std::string_view text, const store::ShapedColumn& column) {
  switch (column.spelling) {
    case store::Spelling::integer: return is_whole_number(text);
    case store::Spelling::whole: return is_whole_number(text, false);
    case store::Spelling::decimal: return is_decimal(text, column.decimals);
    case store::Spelling::date: return looks_like(text, "0000-00-00");
    case store::Spelling::date_and_time: return is_date_and_time(text, column.decimals);
    case store::Spelling::text:
    case store::Spelling::other: break;
  }
  return true;
}

void append_part(std::string_view value, const store::ShapedColumn& column, bool is_last,
                 std::string& key, IsOfKey is_of_key) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  if (store::is_number(column.spelling)) value = without_zeros(value);
  if (is_last) {
    key += value;
    return;
  }
  for (const char byte : value) {
    if (byte == ':' || byte == '%' || !is_of_key(byte)) {
      const auto number = static_cast<unsigned char>(byte);
      key += {'%', digits[number >> 4], digits[number & 15]};
    } else {
      key.push_back(byte);
    }
  }
  key.push_back(':');
}

KeyMistake read_parts(std::string_view parts, const store::IndexShape& shape, std::string& room,
                      std::vector<store::Value>& values) {
  const std::size_t count = shape.key.size();
  if (count == 1) [[likely]] {
    const store::ShapedColumn& column = shape.columns[shape.key.front()];
    if (column.spelling != store::Spelling::text && !is_one_spelling(parts, column))
      return KeyMistake::not_one_spelling;
    values.resize(1);
    values.front() = {parts};
    return KeyMistake::none;
  }
  values.clear();
  room.clear();
  room.reserve(parts.size());  // so that the views stay valid
  for (std::size_t i = 0; i < count; ++i) {
    std::string_view value = parts;
    if (i + 1 < count) {
      const std::size_t colon = parts.find(':');
      if (colon == std::string_view::npos) return KeyMistake::too_few_parts;
      const std::size_t begin = room.size();
      if (!unescape(parts.substr(0, colon), room)) return KeyMistake::bad_escape;
      value = {room.data() + begin, room.size() - begin};
      parts.remove_prefix(colon + 1);
    }
    if (!is_one_spelling(value, shape.columns[shape.key[i]])) return KeyMistake::not_one_spelling;
    values.push_back({value});
  }
  return KeyMistake::none;
}

}  // namespace hs::keys
