// Any stream, in any pieces, is cut into the same lines. Each line is a reply that keeps its
// promises, or it is refused.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "handlersocket/protocol/escape.h"
#include "handlersocket/protocol/reply_reader.h"
#include "handlersocket/protocol/test_describe.h"

namespace hs::handlersocket {
namespace {

constexpr std::size_t max_reply_size = 200;

void require(bool condition) {
  if (!condition) std::abort();
}

// Writes the reply again as it was read.
void check_reply(std::string_view line, const Reply& reply) {
  require(reply.rows() * reply.columns == reply.values.size());
  Buffer out;
  for (const Value& value : reply.values) {
    out.push_back('\t');
    if (value.null) {
      out.push_back('\0');
    } else {
      append_escaped(out, value.bytes);
    }
  }
  ReplyReader again;
  Reply second;
  const std::string rewritten =
      std::to_string(reply.code) + "\t" + std::to_string(reply.columns) + std::string(out.view());
  require(again.read(rewritten, second));
  require(second.code == reply.code && second.columns == reply.columns);
  require(describe(second.values) == describe(reply.values));
  require(reply.values.size() <= line.size());
}

void fuzz(std::string_view input) {
  if (input.empty()) return;
  const std::size_t piece = 1 + static_cast<unsigned char>(input.front());
  const std::string_view stream = input.substr(1);

  static ReplyReader reader;
  ReplySplitter splitter(max_reply_size);
  std::size_t at = 0;  // the place of the next line in the stream
  for (std::size_t begin = 0; begin < stream.size(); begin += piece) {
    splitter.append(stream.substr(begin, piece));
    for (;;) {
      std::string_view line;
      const ReplySplitter::Result result = splitter.next(line);
      const std::size_t received = std::min(begin + piece, stream.size());
      const std::size_t taken = result == ReplySplitter::Result::line ? line.size() + 1 : 0;
      require(at + taken + splitter.pending() == received);
      if (result == ReplySplitter::Result::oversized) {
        require(splitter.pending() > max_reply_size);
        return;
      }
      if (result == ReplySplitter::Result::incomplete) {
        require(stream.substr(at, received - at).find('\n') == std::string_view::npos);
        break;
      }
      require(line == stream.substr(at, stream.find('\n', at) - at));
      at += line.size() + 1;
      Reply reply;
      if (reader.read(line, reply)) check_reply(line, reply);
    }
  }
}

}  // namespace
}  // namespace hs::handlersocket

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hs::handlersocket::fuzz({reinterpret_cast<const char*>(data), size});
  return 0;
}
