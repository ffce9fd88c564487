// ReplySplitter and ReplyReader: turn bytes into replies, for clients.
//
// The splitter owns the bytes that came from the socket and cuts them into lines, however they were
// delivered. The reader splits one line into its parts. Both belong to one thread. They do no I/O
// and do not trust the server: any bytes give a reply or an ordinary refusal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/buffer.h"
#include "handlersocket/protocol/request.h"
#include "handlersocket/protocol/value_list.h"

namespace hs::handlersocket {

class ReplySplitter {
 public:
  // A reply that is longer than `max_reply_size`, without its LF, is refused.
  explicit ReplySplitter(std::size_t max_reply_size) : max_reply_size_(max_reply_size) {}

  // Room for bytes from the socket, and then the number of bytes that were written there.
  char* reserve(std::size_t count);
  void advance(std::size_t count) { bytes_.advance(count); }
  void append(std::string_view bytes);

  enum class Result : std::uint8_t {
    line,        // `line` is a reply without its LF, valid until the next reserve() or append()
    incomplete,  // more bytes are needed
    oversized,   // the connection cannot be used any more
  };
  Result next(std::string_view& line);

  // How many bytes have not been handed out yet.
  std::size_t pending() const { return bytes_.size() - begin_; }

 private:
  Buffer bytes_;
  std::size_t max_reply_size_;
  std::size_t begin_ = 0;    // of the first reply that has not been handed out
  std::size_t scanned_ = 0;  // there is no LF between begin_ and this place
};

// Views into the line and into the reader's memory.
struct Reply {
  std::uint32_t code = 0;  // 0 is success
  std::uint32_t columns = 0;
  std::span<const Value> values;  // the values of all rows, row after row

  bool ok() const { return code == 0; }
  std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
  std::span<const Value> row(std::size_t number) const {
    return values.subspan(number * columns, columns);
  }
  // What went wrong. Only for a reply that is not ok().
  std::string_view error() const {
    return values.empty() ? std::string_view{} : values.front().bytes;
  }
};

class ReplyReader {
 public:
  // False if the line is no valid reply: the code or the number of columns is no number, an escape
  // is wrong, or the values do not fill their rows. `reply` is valid as long as the line is, and
  // until the next read().
  [[nodiscard]] bool read(std::string_view line, Reply& reply);

 private:
  ValueList values_;
};

}  // namespace hs::handlersocket
