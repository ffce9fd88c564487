#include "passes/test_line_range.h"

#include <charconv>

namespace hs::passes {
namespace {

using store::Value;

std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view word = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return word;
}

template <class Number>
Number number_of(std::string_view text, int base) {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, base);
  return number;
}

}  // namespace

void LineRange::read_values(std::string_view text, std::vector<Value>& values) {
  if (text == "-") return;
  while (!text.empty()) {
    std::string_view word = take_until(text, ',');
    if (word == "~") {
      values.push_back({{}, true});
      continue;
    }
    std::string& bytes = bytes_.emplace_back();
    for (word.remove_prefix(1); !word.empty(); word.remove_prefix(2))
      bytes.push_back(static_cast<char>(number_of<unsigned>(word.substr(0, 2), 16)));
    values.push_back({bytes});
  }
}

store::End LineRange::read_end(std::string_view text, std::vector<Value>& values) {
  if (text == "-") return {};
  read_values(text.substr(1), values);
  return {values, text[0] == '(', text[0] == '^'};
}

LineRange::LineRange(std::string_view text) {
  const bool down = take_until(text, ' ') == "down";
  selection_.range = {store::Bound::within, down ? store::Direction::down : store::Direction::up};
  selection_.limit = number_of<std::uint64_t>(take_until(text, ' '), 10);
  read_values(take_until(text, ' '), values_[0]);
  selection_.key = values_[0];
  selection_.lower = read_end(take_until(text, ' '), values_[1]);
  selection_.upper = read_end(take_until(text, ' '), values_[2]);
  if (text.empty()) return;
  selection_.in.key_part = number_of<std::uint32_t>(take_until(text, ' '), 10);
  read_values(text, values_[3]);
  selection_.in.values = values_[3];
}

}  // namespace hs::passes
