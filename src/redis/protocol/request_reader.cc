#include "redis/protocol/request_reader.h"

#include <algorithm>
#include <cstring>

#include "base/give_back.h"
#include "redis/protocol/inline_words.h"
#include "redis/protocol/number.h"

namespace hs::redis {
namespace {

// A number in front of a line's end, and where the next line begins.
struct Head {
  enum class State : std::uint8_t { whole, incomplete, too_long, no_number };
  State state = State::incomplete;
  std::int64_t number = 0;
  std::size_t end = 0;
};

// No such line of a client that means well is longer.
constexpr std::size_t most_head_bytes = std::size_t{64} << 10;

Head long_head_at(std::string_view input, std::size_t begin) {
  const std::size_t left = input.size() - begin;
  const std::size_t cr = input.substr(0, begin + std::min(left, most_head_bytes)).find('\r', begin);
  if (cr == std::string_view::npos)
    return {.state = left > most_head_bytes ? Head::State::too_long : Head::State::incomplete};
  if (cr + 1 == input.size()) return {};
  Head head{.state = Head::State::whole, .end = cr + 2};
  if (!read_integer(input.substr(begin + 1, cr - begin - 1), head.number))
    head.state = Head::State::no_number;
  return head;
}

// A number of one digit or two, as the usual heads have it, and a CR behind it. `at` is the byte in front of it, and
// five bytes are there. Returns where the next line begins; null: it is another head.
inline const char* short_head_end(const char* at, std::size_t& number) {
  const auto digit = [&](std::size_t place) -> std::size_t {
    return static_cast<unsigned char>(at[place]) - std::size_t{'0'};
  };
  number = digit(1);
  if (number > 9) return nullptr;
  if (at[2] == '\r') return at + 4;
  if (number == 0 || digit(2) > 9 || at[3] != '\r') return nullptr;
  number = number * 10 + digit(2);
  return at + 5;
}
constexpr std::ptrdiff_t most_short_head = 5;

// Of the line whose first byte, the one that says what it is, stands at `begin`. Redis looks for the CR
// alone, and takes the byte behind it for the LF.
inline Head head_at(std::string_view input, std::size_t begin) {
  if (input.size() - begin >= most_short_head) [[likely]] {
    std::size_t number = 0;
    const char* const end = short_head_end(input.data() + begin, number);
    if (end != nullptr) [[likely]]
      return {Head::State::whole, static_cast<std::int64_t>(number),
              static_cast<std::size_t>(end - input.data())};
  }
  return long_head_at(input, begin);
}

}  // namespace

RequestReader::Found RequestReader::fail(std::string_view mistake) {
  mistake_ = "Protocol error: ";
  mistake_ += mistake;
  return Found::mistake;
}

RequestReader::Found RequestReader::read(std::string_view input, const RequestLimits& limits,
                                         RequestProgress& progress) {
  words_.clear();
  if (input.empty()) return Found::incomplete;
  const Found found =
      input[0] == '*' ? read_array(input, limits, progress) : read_inline(input, limits);
  if (found != Found::incomplete) progress = {};
  return found;
}

// The words of an array that are whole and have short heads, up to the first that is not so. `at` is where they
// begin, and becomes where they end. Returns how many there are. A client's usual request has no others.
std::size_t RequestReader::take_short_words(std::string_view input, std::uint64_t most,
                                            const RequestLimits& limits, std::size_t& at) {
  const char* const end = input.data() + input.size();
  const char* next = input.data() + at;
  std::size_t taken = 0;
  for (; taken < most && end - next >= most_short_head && *next == '$'; ++taken) {
    std::size_t size = 0;
    const char* const word = short_head_end(next, size);
    if (word == nullptr || size > limits.most_bulk_bytes) break;
    if (static_cast<std::size_t>(end - word) < size + 2) break;
    words_.emplace_back(word, size);
    next = word + size + 2;
  }
  at = static_cast<std::size_t>(next - input.data());
  return taken;
}

RequestReader::Found RequestReader::read_array(std::string_view input, const RequestLimits& limits,
                                               RequestProgress& progress) {
  const Head count = head_at(input, 0);
  if (count.state == Head::State::incomplete) return Found::incomplete;
  if (count.state == Head::State::too_long) return fail("too big mbulk count string");
  if (count.state == Head::State::no_number) return fail("invalid multibulk length");
  if (count.number <= 0) {
    size_ = count.end;
    return Found::nothing;
  }
  const auto words = static_cast<std::uint64_t>(count.number);
  if (words > limits.most_words) {
    return fail(limits.is_before_log_in ? "unauthenticated multibulk length"
                                        : "invalid multibulk length");
  }
  // What was looked at before is looked at again only when the rest is there, too.
  const bool is_continued = progress.words != 0;
  std::size_t at = is_continued ? progress.at : count.end;
  std::size_t known = is_continued ? progress.words : take_short_words(input, words, limits, at);
  for (; known < words; ++known) {
    if (at == input.size()) break;
    if (input[at] != '$') return fail(std::string("expected '$', got '") + input[at] + '\'');
    const Head bulk = head_at(input, at);
    if (bulk.state == Head::State::incomplete) break;
    if (bulk.state == Head::State::too_long) return fail("too big bulk count string");
    const auto size = static_cast<std::uint64_t>(bulk.number);
    if (bulk.state == Head::State::no_number || bulk.number < 0 || size > limits.most_bulk_bytes) {
      const bool is_long = limits.is_before_log_in && bulk.number > 0;
      return fail(is_long ? "unauthenticated bulk length" : "invalid bulk length");
    }
    // The two bytes behind it are not looked at, as in Redis.
    if (input.size() - bulk.end < size + 2) break;
    if (!is_continued) words_.push_back(input.substr(bulk.end, size));
    at = bulk.end + size + 2;
  }
  if (known < words) {
    progress = {.at = at, .words = known};
    words_.clear();
    return Found::incomplete;
  }
  if (is_continued) {
    progress = {};
    return read_array(input, limits, progress);
  }
  size_ = at;
  return Found::request;
}

RequestReader::Found RequestReader::read_inline(std::string_view input,
                                                const RequestLimits& limits) {
  const void* const lf = std::memchr(input.data(), '\n', input.size());
  if (lf == nullptr) {
    return input.size() > limits.most_inline_bytes ? fail("too big inline request")
                                                   : Found::incomplete;
  }
  std::string_view line(input.data(),
                        static_cast<std::size_t>(static_cast<const char*>(lf) - input.data()));
  size_ = line.size() + 1;
  if (line.size() > limits.most_inline_bytes) return fail("too big inline request");
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (!split_inline(line, unquoted_, words_)) return fail("unbalanced quotes in request");
  return words_.empty() ? Found::nothing : Found::request;
}

void RequestReader::give_back() {
  constexpr std::size_t kept_words = 4096;
  constexpr std::size_t kept_bytes = 4096;
  words_.clear();
  hs::give_back(words_, kept_words);
  if (unquoted_.capacity() > kept_bytes) unquoted_ = std::string();
}

std::size_t whole_requests(std::string_view input) {
  RequestReader reader;
  std::size_t whole = 0;
  while (true) {
    RequestProgress progress;
    const auto found = reader.read(input.substr(whole), {}, progress);
    if (found == RequestReader::Found::mistake) return input.size();
    if (found == RequestReader::Found::incomplete) return whole;
    whole += reader.size();
  }
}

}  // namespace hs::redis
