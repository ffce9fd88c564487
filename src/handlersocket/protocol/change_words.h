// The words of modifications: what the parser reads and the writer of requests writes.
//
// Pure functions and tables, for any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "store/operation.h"

namespace hs::protocol {

// A word that says what happens to the rows that are found, and which rows are answered.
struct Modop {
  store::ChangeKind kind;
  bool rows_before = false;  // behind it stands a `?`
  bool rows_after = false;   // behind it stands a `!`
};

inline constexpr std::string_view set_word = "set";

// Nothing if the token is no such word. A row that is deleted is not there afterwards.
constexpr std::optional<Modop> modop_of(std::string_view token) {
  using store::ChangeKind;
  const bool is_set = token.size() >= set_word.size() && token.starts_with(set_word);
  const std::string_view suffix =
      token.substr(std::min(token.size(), is_set ? set_word.size() : 1));
  if (token.empty() || suffix.size() > 1) return std::nullopt;
  Modop modop{.kind = ChangeKind::assign};
  if (!suffix.empty()) {
    modop.rows_before = suffix.front() == '?';
    modop.rows_after = suffix.front() == '!';
    if (!modop.rows_before && !modop.rows_after) return std::nullopt;
  }
  if (is_set) return modop;
  switch (token.front()) {
    case 'U': modop.kind = ChangeKind::update; return modop;
    case 'D': modop.kind = ChangeKind::erase; break;
    case '+': modop.kind = ChangeKind::increment; return modop;
    case '-': modop.kind = ChangeKind::decrement; return modop;
    default: return std::nullopt;
  }
  return modop.rows_after ? std::nullopt : std::optional(modop);
}

constexpr std::string_view word_of(store::ChangeKind kind) {
  switch (kind) {
    case store::ChangeKind::update: return "U";
    case store::ChangeKind::erase: return "D";
    case store::ChangeKind::increment: return "+";
    case store::ChangeKind::decrement: return "-";
    case store::ChangeKind::assign: return set_word;
    case store::ChangeKind::keep: break;  // this protocol has no word for it
  }
  return {};
}

inline constexpr std::string_view insert_word = "insert";
inline constexpr std::string_view else_word = "else";

// What an insert does about a row that is there.
inline constexpr std::array<std::string_view, 4> else_words{"fail", "ignore", "replace", "update"};

constexpr std::string_view word_of(store::OnDuplicate on_duplicate) {
  return else_words[static_cast<std::size_t>(on_duplicate)];
}

constexpr std::optional<store::OnDuplicate> on_duplicate_of(std::string_view word) {
  const auto* const found = std::ranges::find(else_words, word);
  if (found == else_words.end()) return std::nullopt;
  return static_cast<store::OnDuplicate>(found - else_words.begin());
}

// What became of a row, in the reply.
constexpr std::string_view word_of(store::RowFate fate) {
  switch (fate) {
    case store::RowFate::inserted: return "inserted";
    case store::RowFate::updated: return "updated";
    case store::RowFate::unchanged: return "unchanged";
    case store::RowFate::ignored: return "ignored";
    case store::RowFate::replaced: return "replaced";
    case store::RowFate::unmet: return "unmet";
  }
  return {};
}

// How a column is assigned.
struct How {
  std::string_view word;
  store::AssignKind kind;
  bool has_bounds = false;  // two more values follow the amount
};

inline constexpr std::array<How, 15> hows{{{"=", store::AssignKind::set},
                                           {"default", store::AssignKind::set_default},
                                           {"now", store::AssignKind::set_now},
                                           {"new", store::AssignKind::set_new},
                                           {"+", store::AssignKind::add},
                                           {"-", store::AssignKind::subtract},
                                           {"+[", store::AssignKind::add, true},
                                           {"-[", store::AssignKind::subtract, true},
                                           {"append", store::AssignKind::append},
                                           {"prepend", store::AssignKind::prepend},
                                           {"max", store::AssignKind::at_least},
                                           {"min", store::AssignKind::at_most},
                                           {"&", store::AssignKind::bit_and},
                                           {"|", store::AssignKind::bit_or},
                                           {"^", store::AssignKind::bit_xor}}};

constexpr const How* how_of(std::string_view word) {
  const auto* const found = std::ranges::find(hows, word, &How::word);
  return found == hows.end() ? nullptr : found;
}

constexpr std::string_view word_of(const store::Assignment& assignment) {
  const auto* const found = std::ranges::find_if(hows, [&](const How& how) {
    return how.kind == assignment.kind && how.has_bounds == !assignment.bounds.empty();
  });
  return found->word;
}

}  // namespace hs::protocol
