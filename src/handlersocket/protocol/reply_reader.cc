#include "handlersocket/protocol/reply_reader.h"

#include <cstring>

#include "handlersocket/protocol/number.h"
#include "handlersocket/protocol/token_scanner.h"

namespace hs::handlersocket {

char* ReplySplitter::reserve(std::size_t count) {
  // The bytes are moved only if at least as many have been handed out as are left. So moving never
  // costs more than receiving did.
  if (begin_ != 0 && begin_ >= pending()) {
    bytes_.drop_front(begin_);
    scanned_ -= begin_;
    begin_ = 0;
  }
  return bytes_.reserve(count);
}

void ReplySplitter::append(std::string_view bytes) {
  if (bytes.empty()) return;
  std::memcpy(reserve(bytes.size()), bytes.data(), bytes.size());
  advance(bytes.size());
}

ReplySplitter::Result ReplySplitter::next(std::string_view& line) {
  const std::string_view unscanned = bytes_.view(scanned_, bytes_.size());
  const std::size_t found = unscanned.find('\n');
  const std::size_t end = found == std::string_view::npos ? bytes_.size() : scanned_ + found;
  if (end - begin_ > max_reply_size_) return Result::oversized;
  scanned_ = end;
  if (found == std::string_view::npos) return Result::incomplete;
  line = bytes_.view(begin_, end);
  begin_ = scanned_ = end + 1;
  return Result::line;
}

bool ReplyReader::read(std::string_view line, Reply& reply) {
  reply = {};
  values_.begin(line);
  TokenScanner tokens(line);
  if (!read_number(tokens.next(), reply.code)) return false;
  if (tokens.done() || !read_number(tokens.next(), reply.columns)) return false;
  while (!tokens.done()) {
    const std::string_view token = tokens.next();
    if (!values_.add(token, tokens.saw_escape())) return false;
  }
  const bool fills_rows =
      reply.columns == 0 ? values_.size() == 0 : values_.size() % reply.columns == 0;
  if (!fills_rows) return false;
  reply.values = values_.span(0, values_.size());
  return true;
}

}  // namespace hs::handlersocket
