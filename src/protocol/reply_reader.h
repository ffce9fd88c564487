// ReplySplitter and ReplyReader: bytes to replies, for the client's side.
//
// The splitter owns the bytes that came from the socket and cuts them into
// lines, however they were delivered; the reader takes one line apart. Both
// belong to one thread. Neither does I/O, and neither trusts the server: any
// bytes whatsoever end in a reply or in an ordinary refusal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/buffer.h"
#include "protocol/request.h"
#include "protocol/value_list.h"

namespace hs::protocol {

class ReplySplitter {
 public:
  // A reply longer than `max_reply_size`, its LF not counted, is refused.
  explicit ReplySplitter(std::size_t max_reply_size) : max_reply_size_(max_reply_size) {}

  // Room for the socket to write to, then how much it wrote.
  char* reserve(std::size_t count);
  void advance(std::size_t count) { bytes_.advance(count); }
  void append(std::string_view bytes);

  enum class Result : std::uint8_t {
    line,        // `line` is a reply without its LF, valid until the next reserve() or append()
    incomplete,  // more bytes are needed
    oversized,   // the connection is of no more use
  };
  Result next(std::string_view& line);

  // How many bytes have not yet been handed out.
  std::size_t pending() const { return bytes_.size() - begin_; }

 private:
  Buffer bytes_;
  std::size_t max_reply_size_;
  std::size_t begin_ = 0;    // of the first reply not yet handed out
  std::size_t scanned_ = 0;  // no LF between begin_ and this
};

// Views into the line and into the reader's memory.
struct Reply {
  std::uint32_t code = 0;  // 0 is success
  std::uint32_t columns = 0;
  std::span<const Value> values;  // row after row

  bool ok() const { return code == 0; }
  std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
  std::span<const Value> row(std::size_t number) const {
    return values.subspan(number * columns, columns);
  }
  // What went wrong, of a reply that is not ok().
  std::string_view error() const {
    return values.empty() ? std::string_view{} : values.front().bytes;
  }
};

class ReplyReader {
 public:
  // False if the line is no reply: a code or a number of columns that is none, a
  // wrong escape, or values that do not fill their rows. `reply` is valid as
  // long as the line is, until the next read().
  [[nodiscard]] bool read(std::string_view line, Reply& reply);

 private:
  ValueList values_;
};

}  // namespace hs::protocol
