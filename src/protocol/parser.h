// Parser: one line of bytes to one Request.
//
// Owns scratch memory that it uses again for every line, so parsing allocates
// nothing once warm. One object a worker thread. Pure: no I/O, no table. Any
// bytes whatsoever end in a Request or in an ordinary Status.
//
//   line     = open / find / insert / auth            ; LF (and a CR before it) already removed
//   open     = "P" TAB id TAB db TAB table TAB index TAB columns [TAB fcolumns]   ; missing tokens are empty
//   find     = id TAB op TAB n *(TAB value) [TAB limit [TAB offset]] [in] *filter [TAB modop *(TAB value)]
//   in       = TAB "@" TAB icol TAB m *(TAB value)
//   filter   = TAB ("F" / "W") TAB fop TAB fcol TAB value
//   modop    = ("U" / "D" / "+" / "-") ["?"]          ; an empty modop is none
//   insert   = id TAB "+" TAB n *(TAB value)
//   auth     = "A" TAB "1" TAB secret
//   value    = NUL / *(byte / %x01 %x40-4F)
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "protocol/request.h"

namespace hs::protocol {

class Parser {
 public:
  // Parses `line`. On an error `request.kind` and `request.index_id` are valid
  // if has_index_id() says so: an unknown index id is answered before any
  // mistake that follows it.
  Status parse(std::string_view line, Request& request);

  // Whether the last parse got as far as a whole index id of a find or insert.
  bool has_index_id() const { return has_index_id_; }
  // Whether the last parse met a modification (insert, U, D, +, -, or an unknown
  // modop): on the read port `readonly` is answered before its other mistakes.
  bool is_modification() const { return is_modification_; }

 private:
  bool has_index_id_ = false;
  bool is_modification_ = false;
  std::vector<Value> values_;
  std::vector<Filter> filters_;
  Buffer unescaped_;
};

}  // namespace hs::protocol
