// ReplyWriter: writes replies as bytes.
//
// It writes straight into the caller's Buffer. It owns nothing and has no state of its own, so it
// costs nothing to make one. The session uses it for short replies, a store for rows. A reply is
//
//   reply = code TAB columns *(TAB value) LF
#pragma once

#include <cstdint>
#include <string_view>

#include "base/buffer.h"
#include "base/status.h"
#include "protocol/escape.h"

namespace hs::protocol {

class ReplyWriter {
 public:
  explicit ReplyWriter(Buffer& out) : out_(out) {}

  // Complete replies.
  void ok() { out_.append("0\t1\n"); }
  void ok(std::uint64_t number);  // a count or an insert id
  void error(Status status);

  // For a reply of rows, call begin_rows, then one of the three next functions for each value of
  // each row, then end_rows.
  void begin_rows(std::uint32_t columns) {
    if (columns > 9) [[unlikely]]
      return begin_wide_rows(columns);
    char* to = out_.reserve(3);
    to[0] = '0';
    to[1] = '\t';
    to[2] = static_cast<char>('0' + columns);
    out_.advance(3);
  }
  void null() {
    char* to = out_.reserve(2);
    to[0] = '\t';
    to[1] = '\0';
    out_.advance(2);
  }
  // Bytes that contain none below 0x10.
  void plain(std::string_view bytes) {
    char* to = out_.reserve(bytes.size() + 1);
    *to = '\t';
    std::memcpy(to + 1, bytes.data(), bytes.size());
    out_.advance(bytes.size() + 1);
  }
  // Room for a plain value of at most `most` bytes. The caller writes it there and calls
  // end_plain() with the end of what it has written.
  char* begin_plain(std::size_t most) {
    char* to = out_.reserve(most + 1);
    *to = '\t';
    return to + 1;
  }
  void end_plain(const char* end) { out_.advance_to(end); }
  // Any bytes.
  void text(std::string_view bytes) {
    out_.push_back('\t');
    append_escaped(out_, bytes);
  }
  void end_rows() { out_.push_back('\n'); }

 private:
  void begin_wide_rows(std::uint32_t columns);

  Buffer& out_;
};

}  // namespace hs::protocol
