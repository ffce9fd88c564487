// TokenScanner: cuts a line at its TABs.
//
// It owns nothing and is made on the stack for each line. It looks at every byte once, at sixteen
// bytes together, for TABs and escapes at the same time. Tokens are so short that a separate search
// for each would cost more to begin than to run. It never reads behind the line's end.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "handlersocket/protocol/block.h"
#include "handlersocket/protocol/escape.h"

namespace hs::handlersocket {

class TokenScanner {
 public:
  explicit TokenScanner(std::string_view line) : line_(line) { scan_block(); }

  // Whether all tokens were handed out. A line has at least one token, which may be empty.
  bool done() const { return done_; }

  // The next token. It is returned by value, so that it is passed in registers.
  std::string_view next() {
    assert(!done_);
    const std::size_t begin = token_begin_;
    while (tabs_ == 0) {
      block_begin_ += Block::size;
      if (block_begin_ >= line_.size()) {
        done_ = true;
        return {line_.data() + begin, line_.size() - begin};
      }
      scan_block();
    }
    const std::size_t tab = block_begin_ + static_cast<std::size_t>(std::countr_zero(tabs_));
    tabs_ &= tabs_ - 1;
    token_begin_ = tab + 1;
    return {line_.data() + begin, tab - begin};
  }

  // Whether any token handed out so far may contain an escape. The scan is always ahead of the
  // tokens. Hardly any line contains an escape.
  bool saw_escape() const { return escapes_ != 0; }

  // At most so many tokens are left.
  std::size_t most_left() const { return done_ ? 0 : line_.size() - token_begin_ + 1; }

 private:
  void scan_block() {
    const std::size_t left = line_.size() - block_begin_;
    const char* from = line_.data() + block_begin_;
    const Block block = left >= Block::size ? Block::load(from) : Block::load_short(from, left);
    tabs_ = block.equal_to('\t');
    escapes_ |= block.equal_to(static_cast<char>(escape_prefix));
  }

  std::string_view line_;
  std::size_t token_begin_ = 0;
  std::size_t block_begin_ = 0;
  std::uint32_t tabs_ = 0;  // the TABs of the last scanned block that have not been passed yet
  std::uint32_t escapes_ = 0;
  bool done_ = false;
};

}  // namespace hs::handlersocket
