// RequestReader: cuts Redis's requests from a client's bytes.
//
// A request is an array of bulk strings, or an inline command: a line of words, quoted as Redis quotes
// them. It is used by the thread that has the connection's turn. It keeps no bytes of a request that has
// not come as a whole, only how far it has looked at it, so an array that comes in pieces is looked at
// once, and once more when it is there. It executes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hs::redis {

// What one request may have.
struct RequestLimits {
  std::size_t most_words = std::size_t{1} << 20;
  std::size_t most_bulk_bytes = std::size_t{512} << 20;
  std::size_t most_inline_bytes = std::size_t{64} << 10;
  // Of a client that has to log in first, Redis says so in its answer.
  bool is_before_log_in = false;

  static constexpr RequestLimits before_log_in() {
    return {.most_words = 10, .most_bulk_bytes = 16384, .is_before_log_in = true};
  }
};

// How far an incomplete request was looked at. It is the request at the front of the input.
struct RequestProgress {
  std::size_t at = 0;     // so many bytes of it
  std::size_t words = 0;  // so many of its words, which are whole
};

class RequestReader {
 public:
  enum class Found : std::uint8_t {
    request,     // words() are its words, one at least
    nothing,     // an empty line or an empty array, which has no answer
    incomplete,  // more bytes are needed
    mistake,     // mistake() says which; nothing behind it can be understood
  };

  // Looks at the request at the front of `input`. If it is whole, size() is how many bytes it has.
  Found read(std::string_view input, const RequestLimits& limits, RequestProgress& progress);

  // Views into the input, or into memory that the next read() uses.
  const std::vector<std::string_view>& words() const { return words_; }
  std::size_t size() const { return size_; }
  // In Redis's words, without `ERR` before them.
  const std::string& mistake() const { return mistake_; }

  // Frees the memory that large requests took.
  void give_back();

 private:
  Found read_array(std::string_view input, const RequestLimits& limits, RequestProgress& progress);
  std::size_t take_short_words(std::string_view input, std::uint64_t most,
                               const RequestLimits& limits, std::size_t& at);
  Found read_inline(std::string_view input, const RequestLimits& limits);
  Found fail(std::string_view mistake);

  std::vector<std::string_view> words_;
  std::string unquoted_;  // the words of an inline command
  std::string mistake_;
  std::size_t size_ = 0;
};

// How many bytes at the front of the input are whole requests.
std::size_t whole_requests(std::string_view input);

}  // namespace hs::redis
