// RequestWriter: requests to bytes, for the client's side.
//
// Writes lines into the caller's Buffer; owns nothing and holds no state of its
// own. Used by the C++ client, the load generator and tests, never by the
// server. What it writes is what Parser reads, in the shortest form that the
// original server understands too.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/buffer.h"
#include "protocol/request.h"

namespace hs::protocol {

class RequestWriter {
 public:
  explicit RequestWriter(Buffer& out) : out_(out) {}

  // The names travel as they are: false, and nothing is written, if one holds a
  // byte that would end its token or the line (TAB, LF, CR).
  [[nodiscard]] bool open_index(std::uint64_t index_id, const OpenIndex& open_index);
  // A find, or with `find.modification` a find_modify.
  void find(std::uint64_t index_id, const Find& find);
  void insert(std::uint64_t index_id, const Insert& insert);
  void auth(const Auth& auth);

 private:
  void token(std::string_view bytes);
  void number(std::uint64_t number);
  void value(const Value& value);
  void end_line() { out_.push_back('\n'); }

  Buffer& out_;
};

}  // namespace hs::protocol
