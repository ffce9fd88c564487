// FindWords: what the words of HS.FIND, HS.COUNT, HS.UPDATE and HS.DELETE ask for. The grammar is written
// here.
//
//   HS.FIND name [FIELDS n column ...] <selection> [LIMIT n] [OFFSET n] [AFTER position] [NULL word]
//   HS.COUNT name <selection> [LIMIT n] [OFFSET n] [NULL word]
//   HS.UPDATE name SET n column value [...] <selection> [LIMIT n] [OFFSET n] [NULL word]
//   HS.DELETE name <selection> [LIMIT n] [OFFSET n] [NULL word]
//
//   name       db.table[@index]
//   selection  [KEY n value ...] [IN column n value ...] [ASC | DESC] [FILTER | WHILE column op value] ...
//              and of the part of the index behind the key's: [FROM > | >= value [THEN value] ...]
//              [TO < | <= value [THEN value] ...], or [BEGINS text]
//   op         = != > >= < <=
//
// The options come in any order, each once but FILTER and WHILE. A request has only one word for NULL: the
// one that it chooses by NULL, and none without it. Pure functions, for any thread: what is read consists
// of views into the words, and knows no table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redis/protocol/commands.h"
#include "store/operation.h"

namespace hs::redis {

struct FindWords {
  // Bounds of one request. A list of fields has at most as many as an index may be opened with.
  static constexpr std::size_t most_fields = 4096;
  static constexpr std::size_t most_filters = 1024;
  static constexpr std::size_t most_values = 262'144;
  // So many rows are answered at once, and without LIMIT.
  static constexpr std::uint64_t most_rows = 10'000;
  static constexpr std::uint64_t usual_rows = 100;

  struct Condition {
    store::FilterKind kind;
    store::Comparison comparison;
    std::string_view column;
    store::Value value;
  };

  std::string_view name;
  std::vector<std::string_view> fields;  // that are answered or set
  bool wants_every_column = false;       // in place of fields
  std::vector<store::Value> set;         // the values of these
  std::vector<store::Value> key;         // without the part that takes the values of IN
  std::string_view in_column;            // empty: there is no IN
  std::vector<store::Value> in_values;
  std::vector<store::Value> lower;
  std::vector<store::Value> upper;
  bool lower_open = false;
  bool upper_open = false;
  bool begins = false;      // `lower` is a text with which the part begins
  bool is_ordered = false;  // by ASC or DESC
  bool descends = false;
  std::vector<Condition> conditions;
  std::uint64_t limit = store::no_limit;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> after;

  bool has_ends() const { return !lower.empty() || !upper.empty(); }
};

// Reads the words of a command, which has two at least. Not empty: what is wrong, as it is answered.
[[nodiscard]] std::string read_find(const CommandInfo& info,
                                    std::span<const std::string_view> words, FindWords& read);

// A text that two requests have in common only if they select the same rows in the same order, whatever
// they make of them: a position leads on from the one to the other.
std::string selection_text(const FindWords& words);

}  // namespace hs::redis
