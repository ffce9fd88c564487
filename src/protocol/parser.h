// Parser: one line of bytes to one Request.
//
// Owns scratch memory that it uses again for every line, so parsing allocates
// nothing once warm. One object a worker thread. Pure: no I/O, no table. Any
// bytes whatsoever end in a Request or in an ordinary Status.
//
//   line     = open / find / insert / auth            ; LF (and a CR before it) already removed
//   open     = "P" TAB id TAB db TAB table TAB index TAB columns [TAB fcolumns]
//                                                     ; missing tokens are empty
//   find     = id TAB op TAB n *(TAB value) [TAB limit [TAB offset]] [in] *filter
//              [TAB modop *(TAB value)]
//   in       = TAB "@" TAB icol TAB m *(TAB value)
//   filter   = TAB ("F" / "W") TAB fop TAB fcol TAB value
//   modop    = ("U" / "D" / "+" / "-") ["?"]          ; an empty modop is none
//   insert   = id TAB "+" TAB n *(TAB value)
//   auth     = "A" TAB "1" TAB secret
//   value    = NUL / *(byte / %x01 %x40-4F)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "protocol/request.h"
#include "protocol/token_scanner.h"
#include "protocol/value_list.h"

namespace hs::protocol {

// A line of a few megabytes could hold as many values, each of which takes many
// times its own byte to keep: beyond these a request is `request_size`.
inline constexpr std::size_t max_values = std::size_t{1} << 18;
inline constexpr std::size_t max_filters = std::size_t{1} << 10;

class Parser {
 public:
  // Parses `line`, which has to stay as long as `request` is used. On an error
  // `request.kind` and `request.index_id` are valid if has_index_id() says so:
  // an unknown index id is answered before any mistake that follows it.
  Status parse(std::string_view line, Request& request);

  // Whether the last parse got as far as a whole index id of a find or insert.
  bool has_index_id() const { return has_index_id_; }
  // Whether the last parse met a modification (insert, U, D, +, -, or an unknown
  // modop): on the read port `readonly` is answered before its other mistakes.
  bool is_modification() const { return is_modification_; }
  // The number of key values that the last find or insert announced, whether they
  // came or not; 0 if it did not get so far. More than the index has parts is
  // answered before that they are missing.
  std::uint64_t key_count() const { return key_count_; }

 private:
  // Each reads on behind the token that made parse() choose it.
  Error parse_open_index(TokenScanner& tokens, Request& request);
  Error parse_auth(TokenScanner& tokens, Request& request);
  Error parse_find_or_insert(std::string_view id, TokenScanner& tokens, Request& request);

  // The parts of a find, likewise.
  Error read_counted_values(std::uint64_t count, Error missing, TokenScanner& tokens);
  Error read_clauses(std::size_t key_parts, TokenScanner& tokens, Find& find);
  Error read_in(std::size_t key_parts, TokenScanner& tokens, In& in);
  Error read_filter(std::string_view type, TokenScanner& tokens);
  Error read_modification(std::string_view modop, TokenScanner& tokens, Find& find);

  bool has_index_id_ = false;
  bool is_modification_ = false;
  std::uint64_t key_count_ = 0;
  ValueList values_;
  std::vector<Filter> filters_;
};

}  // namespace hs::protocol
