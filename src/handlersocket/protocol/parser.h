// Parser: turns one line of bytes into one Request.
//
// It owns scratch memory, which it uses again for every line, so after the first lines parsing
// allocates nothing. Each worker thread has one object. It does no I/O and knows no table. Any
// bytes give a Request or an ordinary Status.
//
//   line     = open / find / range / insert / rows / auth / hello / describe / list / warnings / echo
//                                                     ; LF (and a CR before it) already removed
//                                                     ; lines of a group: group.h
//                                                     ; the time of a request: within.h
//   open     = "P" TAB id TAB db TAB table TAB index TAB columns [TAB fcolumns [ignored]]
//                                                     ; missing tokens are empty
//   find     = id TAB op TAB n *(TAB value) clauses
//   range    = id TAB ("up" / "down") TAB n *(TAB value) ends clauses                 ; n may be 0
//   ends     = [lower] [upper] / TAB "^" TAB value
//   lower    = TAB (">" / ">=") TAB value
//   upper    = TAB ("<" / "<=") TAB value
//   clauses  = [TAB limit [TAB offset]] [in] *filter [modify / count]
//   limit    = number / "" / NUL                      ; the last two: as if it was left out
//   offset   = number / "" / NUL
//   in       = TAB "@" TAB icol TAB m *(TAB value)
//   filter   = TAB ("F" / "W") TAB fop TAB fcol TAB value
//   modify   = TAB ("U" / "+" / "-") ["?" / "!"] *(TAB value)
//            / TAB "set" ["?" / "!"] TAB k k(assign)
//            / TAB "D" ["?"] [ignored]
//            / TAB "lock" ["?"]
//            / TAB "" [ignored]                       ; none
//   count    = TAB ("C" / "E")
//   insert   = id TAB "+" TAB n *(TAB value) [ignored]
//   rows     = id TAB "insert" TAB m TAB n (m * n)(TAB value) [TAB "else" else]
//   else     = TAB ("fail" / "ignore" / "replace")
//            / TAB "update" TAB k k(assign) *(TAB "F" TAB fop TAB fcol TAB value)
//   auth     = "A" TAB "1" TAB secret [ignored]
//            / "A" TAB "2" TAB user [TAB password [ignored]]
//   hello    = "H" *(TAB option)                      ; option: "texts", "names" or "warnings"; others are
//                                                     ; ignored
//   describe = "D" TAB id
//   list     = "L" [TAB db [TAB table]]
//   warnings = "W"
//   echo     = "echo" TAB value
//   assign   = TAB column TAB how TAB value           ; how: change_words.h
//            / TAB column TAB ("+[" / "-[") TAB value TAB value TAB value
//   value    = NUL / *(byte / %x01 %x40-4F)
//   ignored  = *(TAB token)                           ; of any kind, not even unescaped
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "handlersocket/protocol/errors.h"
#include "handlersocket/protocol/group.h"
#include "handlersocket/protocol/request.h"
#include "handlersocket/protocol/token_scanner.h"
#include "handlersocket/protocol/value_list.h"

namespace hs::handlersocket {

// A line of a few megabytes could hold as many values, and to keep a value takes many times the
// memory of its byte in the line. A request with more than these is `request_size`.
inline constexpr std::size_t max_values = std::size_t{1} << 18;
inline constexpr std::size_t max_filters = std::size_t{1} << 10;
inline constexpr std::size_t max_assignments = std::size_t{1} << 12;

class Parser {
 public:
  // Parses `line`, which has to stay valid as long as `request` is used. On an error `request.kind`
  // and `request.index_id` are valid if has_index_id() is true, because an unknown index id is
  // answered before any mistake behind it.
  Status parse(std::string_view line, Request& request);

  // Parses a line of a group, and sets `meets`. In a group there are only requests about rows.
  Status parse_in_group(std::string_view line, Request& request, Meets& meets);

  // Whether the names in P and L are escaped. They are not, unless their client has said so.
  void escape_names(bool are_escaped) { escapes_names_ = are_escaped; }

  // The last request is not used any more: frees the memory that it took if it was large.
  void give_back() { values_.give_back(); }

  // Whether the last parse has read the complete index id of a find, an insert or a description.
  bool has_index_id() const { return has_index_id_; }
  // Whether the last parse has met a modification (an insert, U, D, +, -, set, lock, or an unknown modop). On the
  // read port, `readonly` is answered before its other mistakes.
  bool is_modification() const { return is_modification_; }
  // How many key values the last find or insert announced, even if they were missing; 0 if the
  // parse did not get so far. If the index has fewer parts, that error is answered before the
  // missing values.
  std::uint64_t key_count() const { return key_count_; }

 private:
  // Each reads the tokens behind the one by which parse() has chosen it.
  Mistake parse_open_index(TokenScanner& tokens, Request& request);
  Mistake parse_auth(TokenScanner& tokens, Request& request);
  static Mistake parse_hello(TokenScanner& tokens, Request& request);
  Mistake parse_describe(TokenScanner& tokens, Request& request);
  Mistake parse_list(TokenScanner& tokens, Request& request);
  Mistake parse_echo(TokenScanner& tokens, Request& request);
  Mistake read_name(TokenScanner& tokens, std::string_view& name);
  Mistake read_text(TokenScanner& tokens, std::string_view& text);
  Mistake parse_find_or_insert(std::string_view id, TokenScanner& tokens, Request& request);

  // The parts of a find. Each reads behind the token that announces it.
  Mistake parse_range(store::Direction direction, TokenScanner& tokens, Request& request);
  Mistake read_counted_values(std::uint64_t count, Mistake missing, TokenScanner& tokens);
  Mistake read_clauses(std::string_view first, std::size_t key_parts, TokenScanner& tokens,
                       Request& request);
  Mistake read_in(std::size_t key_parts, TokenScanner& tokens, store::In& in);
  Mistake read_filter(std::string_view type, TokenScanner& tokens);
  Mistake read_change(std::string_view modop, TokenScanner& tokens, store::Change& change);
  static Mistake read_count(std::string_view word, std::uint64_t limit, const TokenScanner& tokens,
                            Request& request);
  Mistake parse_insert_rows(TokenScanner& tokens, store::InsertRows& rows);
  Mistake read_else(TokenScanner& tokens, store::InsertRows& rows);
  Mistake read_assignments(TokenScanner& tokens, bool may_name_new);
  Mistake read_value(TokenScanner& tokens, Value& value);

  bool escapes_names_ = false;
  bool has_index_id_ = false;
  bool is_modification_ = false;
  std::uint64_t key_count_ = 0;
  ValueList values_;
  std::vector<store::Filter> filters_;
  std::vector<store::Assignment> assignments_;
  std::vector<std::array<Value, 2>> bounds_;  // of assignments
};

}  // namespace hs::handlersocket
