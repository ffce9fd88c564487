// ValueList: turns tokens into Values.
//
// It owns the list and the memory for unescaped bytes, and uses both again for every line. It
// belongs to one Parser or ReplyReader, and so to one thread. A value without escapes is a view
// into the line, without a copy. give_back() frees the memory of an unusually large line.
#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/give_back.h"
#include "handlersocket/protocol/escape.h"
#include "handlersocket/protocol/request.h"

namespace hs::handlersocket {

class ValueList {
 public:
  // Forgets all values and their memory.
  void begin(std::string_view line) {
    give_back();
    values_.clear();
    unescaped_.clear();
    line_size_ = line.size();
  }

  // Called before and after a line: its values are not used any more.
  void give_back() {
    hs::give_back(values_, kept_values);
    if (unescaped_.capacity() > kept_bytes) [[unlikely]]
      unescaped_.free_memory();
  }

  // Reads one of the line's tokens without putting it into the list. `maybe_escaped` is false if
  // the caller knows that the token holds no 0x01. False: a wrong escape.
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
  // A part of the list. To be called only when the list is complete, because add() may move it.
  std::span<const Value> span(std::size_t begin, std::size_t count) const {
    assert(begin <= values_.size() && count <= values_.size() - begin);
    return {values_.data() + begin, count};
  }

 private:
  static constexpr std::size_t kept_values = 4096;
  static constexpr std::size_t kept_bytes = std::size_t{64} << 10;

  // Replaces `token` by its unescaped bytes. At the first escape it reserves room for the whole
  // line, so that later ones never move the bytes of earlier ones.
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

}  // namespace hs::handlersocket
