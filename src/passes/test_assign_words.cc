#include "passes/test_assign_words.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace hs::passes {
namespace {

using store::AssignKind;

struct Word {
  std::string_view text;
  AssignKind kind;
};
constexpr std::array<Word, 12> kinds{{{"set", AssignKind::set},
                                      {"default", AssignKind::set_default},
                                      {"now", AssignKind::set_now},
                                      {"add", AssignKind::add},
                                      {"subtract", AssignKind::subtract},
                                      {"append", AssignKind::append},
                                      {"prepend", AssignKind::prepend},
                                      {"at_least", AssignKind::at_least},
                                      {"at_most", AssignKind::at_most},
                                      {"and", AssignKind::bit_and},
                                      {"or", AssignKind::bit_or},
                                      {"xor", AssignKind::bit_xor}}};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

bool AssignWords::read(std::string_view words) {
  texts_.clear();
  bounds_.clear();
  assignments_.clear();
  const std::vector<std::string_view> parts = split(words, ' ');
  return std::ranges::all_of(parts, [this](std::string_view word) { return read_one(word); });
}

bool AssignWords::read_one(std::string_view word) {
  const std::vector<std::string_view> parts = split(word, ':');
  if (parts.size() < 2) return false;
  store::Assignment assignment;
  std::from_chars(parts[0].data(), parts[0].data() + parts[0].size(), assignment.column);
  const auto* const kind = std::ranges::find(kinds, parts[1], &Word::text);
  if (kind == kinds.end()) return false;
  assignment.kind = kind->kind;
  std::vector<store::Value> values;
  for (std::size_t i = 2; i < parts.size(); ++i) {
    std::string& text = texts_.emplace_back(parts[i]);
    std::ranges::replace(text, '_', ' ');
    values.push_back({text, text == "~"});
  }
  if (!values.empty()) assignment.value = values[0];
  if (values.size() == 3)
    assignment.bounds = bounds_.emplace_back(std::vector(values.begin() + 1, values.end()));
  assignments_.push_back(assignment);
  return assignment.is_valid();
}

}  // namespace hs::passes
