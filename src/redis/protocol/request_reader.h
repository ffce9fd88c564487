// RequestReader: cuts Redis's requests from a client's bytes.
//
// A request is an array of bulk strings, or an inline command: a line of words, quoted as Redis quotes
// them. It is used by the thread that has the connection's turn. It keeps no bytes of a request that has
// not come as a whole, only how far it has looked at it, so an array that comes in pieces is looked at
// once, and once more when it is there. It executes nothing.
//
// Most clients ask for the same fields of one key after the other. So a reader keeps the bytes of one
// request. Whoever calls it says which request has a key and nothing secret, and may be kept. The next
// requests are compared with the kept one. If one differs in nothing but its key, only the key is cut out of
// it. The kept bytes are at most 512, and stay as long as the reader lives.
#pragma once

#include <array>
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
  const std::vector<std::string_view>& words() const { return is_repeated_ ? kept_words_ : words_; }
  // The request that was read has a key as its second word, and nothing secret. If it is like the last one of which
  // this was said, its bytes are kept, and words() become views into them.
  void keep_if_repeated();
  // Not 0: the request was kept, or repeats one that was kept. All requests of this number have the same words but for
  // the key.
  std::uint64_t repeated() const { return is_repeated_ ? repeated_ : 0; }
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
  bool read_repeated(std::string_view input, const RequestLimits& limits);
  Found fail(std::string_view mistake);

  std::vector<std::string_view> words_;
  std::string unquoted_;  // the words of an inline command
  std::string mistake_;
  std::size_t size_ = 0;
  std::string_view array_;  // the bytes of the request, if it is an array

  // The request that is kept: its bytes, where the key's head begins, where the bytes behind the key begin, and its words,
  // which are views into these bytes, but for the key of the request that was read last.
  static constexpr std::size_t most_kept_bytes = 512;
  static constexpr std::size_t most_kept_words = 16;
  std::array<char, most_kept_bytes> kept_{};
  std::size_t kept_size_ = 0;  // 0: there is none
  std::size_t key_begin_ = 0;
  std::size_t key_end_ = 0;
  std::vector<std::string_view> kept_words_;
  bool is_repeated_ = false;  // the request that was read
  std::uint64_t repeated_ = 0;
  // What can be told of a request at a glance. One that is like the last that might have been kept is kept.
  struct Likeness {
    std::size_t words = 0;
    std::size_t end_bytes = 0;  // behind the key
    std::size_t command_size = 0;
    char command_end = '\0';
    bool operator==(const Likeness&) const = default;
  };
  Likeness last_;
};

// How many bytes at the front of the input are whole requests.
std::size_t whole_requests(std::string_view input);

}  // namespace hs::redis
