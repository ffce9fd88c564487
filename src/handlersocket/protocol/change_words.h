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

namespace hs::handlersocket {

// A word that says what happens to the rows that are found, and which rows are answered.
struct Modop {
  store::ChangeKind kind;
  bool rows_before = false;  // behind it stands a `?`
  bool rows_after = false;   // behind it stands a `!`
};

inline constexpr std::string_view set_word = "set";
inline constexpr std::string_view lock_word = "lock";

// Nothing if the token is no such word. A row that is deleted is not there afterwards, and one that is
// locked is as it was.
constexpr std::optional<Modop> modop_of(std::string_view token) {
  using store::ChangeKind;
  if (token.empty()) return std::nullopt;
  Modop modop{};
  std::size_t size = 1;
  switch (token.front()) {
    case 'U': modop.kind = ChangeKind::update; break;
    case 'D': modop.kind = ChangeKind::erase; break;
    case '+': modop.kind = ChangeKind::increment; break;
    case '-': modop.kind = ChangeKind::decrement; break;
    case 's':
      if (!token.starts_with(set_word)) return std::nullopt;
      modop.kind = ChangeKind::assign;
      size = set_word.size();
      break;
    case 'l':
      if (!token.starts_with(lock_word)) return std::nullopt;
      modop.kind = ChangeKind::lock;
      size = lock_word.size();
      break;
    default: return std::nullopt;
  }
  if (token.size() == size) return modop;
  if (token.size() > size + 1) return std::nullopt;
  modop.rows_before = token.back() == '?';
  modop.rows_after = token.back() == '!';
  const bool may_be_after = modop.kind != ChangeKind::erase && modop.kind != ChangeKind::lock;
  if (!modop.rows_before && !(modop.rows_after && may_be_after)) return std::nullopt;
  return modop;
}

constexpr std::string_view word_of(store::ChangeKind kind) {
  switch (kind) {
    case store::ChangeKind::update: return "U";
    case store::ChangeKind::erase: return "D";
    case store::ChangeKind::increment: return "+";
    case store::ChangeKind::decrement: return "-";
    case store::ChangeKind::assign: return set_word;
    case store::ChangeKind::lock: return lock_word;
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

}  // namespace hs::handlersocket
