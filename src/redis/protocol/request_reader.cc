#include "redis/protocol/request_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/give_back.h"
#include "base/short_bytes.h"
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
constexpr std::size_t most_short_size = 99;  // that such a head gives

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
  is_repeated_ = kept_size_ != 0 && progress.words == 0 && read_repeated(input, limits);
  if (is_repeated_) [[likely]]
    return Found::request;
  words_.clear();
  if (input.empty()) return Found::incomplete;
  const bool is_array = input[0] == '*';
  const Found found = is_array ? read_array(input, limits, progress) : read_inline(input, limits);
  array_ = is_array && found == Found::request ? input.substr(0, size_) : std::string_view();
  if (found != Found::incomplete) progress = {};
  return found;
}

// Whether the request at the front of the input is the one that was kept, with any key. Then it has been read.
bool RequestReader::read_repeated(std::string_view input, const RequestLimits& limits) {
  if (limits.most_words < most_kept_words || limits.most_bulk_bytes < most_kept_bytes) return false;
  const std::size_t least = key_begin_ + most_short_head;
  if (input.size() < least || input[key_begin_] != '$') return false;
  std::size_t size = 0;
  const char* const key = short_head_end(input.data() + key_begin_, size);
  if (key == nullptr) return false;
  const std::size_t begin = static_cast<std::size_t>(key - input.data());
  const std::size_t end_bytes = kept_size_ - key_end_;
  if (input.size() - begin < size + 2 + end_bytes) return false;
  if (!are_equal(kept_.data(), input.data(), key_begin_) ||
      !are_equal(kept_.data() + key_end_, key + size + 2, end_bytes))
    return false;
  kept_words_[1] = {key, size};
  size_ = begin + size + 2 + end_bytes;
  return true;
}

void RequestReader::keep_if_repeated() {
  const std::size_t count = words_.size();
  if (is_repeated_ || array_.empty() || count < 2 || count > most_kept_words) return;
  if (words_[1].size() > most_short_size || array_.size() > most_kept_bytes) return;
  const auto place_of = [&](std::string_view word) {
    return static_cast<std::size_t>(word.data() - array_.data());
  };
  const std::size_t key_end = place_of(words_[1]) + words_[1].size() + 2;
  const Likeness likeness{.words = count,
                          .end_bytes = array_.size() - key_end,
                          .command_size = words_[0].size(),
                          .command_end = words_[0].empty() ? '\0' : words_[0].back()};
  if (std::exchange(last_, likeness) != likeness) return;
  key_begin_ = place_of(words_[0]) + words_[0].size() + 2;
  key_end_ = key_end;
  kept_size_ = array_.size();
  std::memcpy(kept_.data(), array_.data(), kept_size_);
  kept_words_.clear();
  for (const std::string_view word : words_)
    kept_words_.emplace_back(kept_.data() + place_of(word), word.size());
  is_repeated_ = true;
  ++repeated_;
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
  array_ = {};
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
