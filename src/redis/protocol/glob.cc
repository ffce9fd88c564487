#include "redis/protocol/glob.h"

#include <algorithm>

namespace hs::redis {

Glob::Glob(std::string_view pattern) {
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    switch (pattern[at]) {
      case '*':
        if (parts_.empty() || parts_.back().kind != Kind::any_bytes)
          parts_.push_back({.kind = Kind::any_bytes});
        break;
      case '?': parts_.push_back({.kind = Kind::any_byte}); break;
      case '[': add_set(pattern, at); break;
      case '\\':
        if (at + 1 < pattern.size()) ++at;
        [[fallthrough]];
      default: parts_.push_back({.kind = Kind::byte, .byte = pattern[at]}); break;
    }
  }
}

// From the bracket at `at` to the one that closes it, where `at` is left. Without one, the set ends with
// the pattern. Redis compares the ends of a range as signed bytes.
void Glob::add_set(std::string_view pattern, std::size_t& at) {
  Set set;
  const auto add = [&](int byte) { set.set(static_cast<unsigned char>(byte)); };
  ++at;
  const bool is_inverted = at < pattern.size() && pattern[at] == '^';
  if (is_inverted) ++at;
  for (; at < pattern.size(); ++at) {
    const std::size_t left = pattern.size() - at;
    if (left >= 2 && pattern[at] == '\\') {
      add(pattern[++at]);
    } else if (pattern[at] == ']') {
      break;
    } else if (left >= 3 && pattern[at + 1] == '-') {
      const auto as_signed = [](char byte) {
        const int number = static_cast<unsigned char>(byte);
        return number < 128 ? number : number - 256;
      };
      const auto [first, last] = std::minmax({as_signed(pattern[at]), as_signed(pattern[at + 2])});
      for (int byte = first; byte <= last; ++byte) add(byte);
      at += 2;
    } else {
      add(pattern[at]);
    }
  }
  if (is_inverted) set.flip();
  parts_.push_back({.kind = Kind::one_of, .set = static_cast<std::uint32_t>(sets_.size())});
  sets_.push_back(set);
}

bool Glob::takes(const Part& part, char byte) const {
  switch (part.kind) {
    case Kind::byte: return part.byte == byte;
    case Kind::one_of: return sets_[part.set].test(static_cast<unsigned char>(byte));
    case Kind::any_byte: return true;
    case Kind::any_bytes: break;
  }
  return false;
}

// If the parts behind a `*` do not fit, only the latest one has to take a byte more: those before it have
// found the first place that fits, and a later one leaves less for the rest.
bool Glob::matches(std::string_view text, std::uint64_t& effort) const {
  constexpr std::size_t none = ~std::size_t{0};
  std::size_t part = 0;
  std::size_t at = 0;
  std::size_t behind_star = none;  // the part behind the latest `*`
  std::size_t star_end = 0;        // up to where that `*` has taken the text
  // Redis looks at no pattern when there is no text.
  if (text.empty()) return parts_.empty();
  while (at < text.size()) {
    ++effort;
    if (part < parts_.size() && parts_[part].kind == Kind::any_bytes) {
      behind_star = ++part;
      star_end = at;
      if (part == parts_.size()) return true;
    } else if (part < parts_.size() && takes(parts_[part], text[at])) {
      ++part;
      ++at;
    } else if (behind_star != none) {
      part = behind_star;
      at = ++star_end;
    } else {
      return false;
    }
  }
  while (part < parts_.size() && parts_[part].kind == Kind::any_bytes) ++part;
  return part == parts_.size();
}

std::string Glob::literal_front() const {
  std::string front;
  for (const Part& part : parts_) {
    if (part.kind != Kind::byte) break;
    front.push_back(part.byte);
  }
  return front;
}

bool Glob::is_literal() const {
  return std::ranges::all_of(parts_, [](const Part& part) { return part.kind == Kind::byte; });
}

bool Glob::take_literal_until(char byte, std::string& front) {
  const std::string literal = literal_front();
  const std::size_t end = literal.find(byte);
  if (end == std::string::npos) return false;
  front = literal.substr(0, end);
  parts_.erase(parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(end) + 1);
  return true;
}

}  // namespace hs::redis
