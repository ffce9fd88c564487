#include "load/value_template.h"

#include <array>
#include <charconv>
#include <chrono>

namespace hs::bench {
namespace {

constexpr std::size_t max_width = 20;

void append_number(Buffer& out, std::uint64_t number, std::size_t width) {
  std::array<char, 20> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  const auto count = static_cast<std::size_t>(end - digits.data());
  for (std::size_t i = count; i < width; ++i) out.push_back('0');
  out.append({digits.data(), count});
}

}  // namespace

std::uint64_t number_of_this_run() {
  // Eleven digits. The numbers start again after three years.
  constexpr std::uint64_t bound = 100'000'000'000;
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
             std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count()) %
         bound;
}

std::optional<ValueTemplate> ValueTemplate::parse(std::string_view text) {
  ValueTemplate result;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    if (open != 0) {
      result.pieces_.push_back({.kind = Kind::text, .text = std::string(text.substr(0, open))});
      if (open == std::string_view::npos) break;
      text.remove_prefix(open);
    }
    const std::size_t close = text.find('}');
    if (close == std::string_view::npos) return std::nullopt;
    std::string_view name = text.substr(1, close - 1);
    text.remove_prefix(close + 1);
    Piece piece;
    if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
      const std::string_view width = name.substr(colon + 1);
      const char* end = width.data() + width.size();
      const auto [rest, error] = std::from_chars(width.data(), end, piece.width);
      if (error != std::errc{} || rest != end || piece.width > max_width) return std::nullopt;
      name = name.substr(0, colon);
    }
    if (name != "key" && name != "n") return std::nullopt;
    piece.kind = name == "key" ? Kind::key : Kind::n;
    result.pieces_.push_back(std::move(piece));
  }
  return result;
}

void ValueTemplate::append(Buffer& out, std::uint64_t key, std::uint64_t n) const {
  for (const Piece& piece : pieces_) {
    switch (piece.kind) {
      case Kind::text: out.append(piece.text); break;
      case Kind::key: append_number(out, key, piece.width); break;
      case Kind::n: append_number(out, n, piece.width); break;
    }
  }
}

}  // namespace hs::bench
