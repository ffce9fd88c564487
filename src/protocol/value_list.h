// ValueList: tokens to Values.
//
// Owns the list and the memory that unescaped bytes live in, and uses both
// again for every line. Belongs to one Parser or ReplyReader, so to one thread.
// A value without escapes is a view into the line and costs no copy. Memory
// that an unusually large line took is given back when the next one begins.
#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "protocol/escape.h"
#include "protocol/request.h"

namespace hs::protocol {

class ValueList {
 public:
  // Forgets all values and whatever they pointed to.
  void begin(std::string_view line) {
    if (values_.capacity() > kept_values || unescaped_.capacity() > kept_bytes) [[unlikely]] {
      values_ = {};
      unescaped_.release();
    }
    values_.clear();
    unescaped_.clear();
    line_size_ = line.size();
  }

  // Reads one of the line's tokens without putting it into the list. The caller
  // may know that it holds no 0x01. False: a wrong escape.
  [[nodiscard]] bool read(std::string_view token, bool maybe_escaped, Value& value) {
    if (token.size() == 1 && token.front() == '\0') {
      value = {.bytes = {}, .null = true};
      return true;
    }
    value = {.bytes = token, .null = false};
    return !maybe_escaped || unescape(value.bytes);
  }
  // Reads a token into the list.
  [[nodiscard]] bool add(std::string_view token, bool maybe_escaped) {
    return read(token, maybe_escaped, values_.emplace_back());
  }

  std::size_t size() const { return values_.size(); }
  // Part of the list: only for a list that is complete, because add() may move it.
  std::span<const Value> span(std::size_t begin, std::size_t count) const {
    assert(begin <= values_.size() && count <= values_.size() - begin);
    return {values_.data() + begin, count};
  }

 private:
  static constexpr std::size_t kept_values = 4096;
  static constexpr std::size_t kept_bytes = std::size_t{64} << 10;

  // Replaces `token` by what it stands for. Reserves room for the whole line at
  // the first escape, so that later ones never move what earlier ones wrote.
  bool unescape(std::string_view& token) {
    if (token.find(static_cast<char>(escape_prefix)) == std::string_view::npos) return true;
    if (unescaped_.empty()) unescaped_.reserve(line_size_);
    const std::size_t begin = unescaped_.size();
    assert(token.size() <= unescaped_.capacity() - begin);
    if (!append_unescaped(unescaped_, token)) return false;
    token = unescaped_.view(begin, unescaped_.size());
    return true;
  }

  std::vector<Value> values_;
  Buffer unescaped_;
  std::size_t line_size_ = 0;
};

}  // namespace hs::protocol
