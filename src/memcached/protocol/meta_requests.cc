// Meta commands: a letter for each thing that a client wants, some with a token behind it.
#include <cstring>

#include "memcached/protocol/base64.h"
#include "memcached/protocol/number.h"
#include "memcached/protocol/request_reader.h"

namespace hs::memcached {
namespace {

// What memcached has, and is the same for every command; a command passes over what means nothing to it.
// What is not here needs more than a row has: whether and when it was read, a lease, a stale value.
constexpr std::string_view known_flags = "bcfkqstvxCDFJMNOT";

constexpr std::size_t most_opaque_bytes = 31;
constexpr std::size_t most_flags = 20;

constexpr bool is_letter_or_digit(char byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= 'a' && byte <= 'z');
}

}  // namespace

void RequestReader::read_meta(const MetaCommand& command) {
  if (command.action == Action::noop) return;
  const std::size_t needed = command.has_value ? 2 : 1;
  if (word_count_ < needed || (command.has_value && !take_size(words_[1])))
    return fail(Mistake::bad_line);
  request_.key = request_.written_key = words_[0];
  if (request_.key.size() > most_key_bytes) return fail(Mistake::bad_line);
  request_.meta_flags = std::span(words_).subspan(needed, word_count_ - needed);
  if (has_more_words_ || request_.meta_flags.size() > most_flags)
    return fail(Mistake::too_many_flags);
  bad_mode_ = Mistake::count_;
  has_bad_flags_ = false;
  const bool is_sum = command.action == Action::increment;
  // First all letters are looked at, then what stands behind them.
  std::uint64_t seen = 0;
  for (const Word flag : request_.meta_flags) {
    if (!is_letter_or_digit(flag[0])) return fail(Mistake::bad_line);
    const auto at = known_flags.find(flag[0]);
    const std::uint64_t bit = at == std::string_view::npos ? 0 : std::uint64_t{1} << at;
    if ((seen & bit) != 0)
      return fail(is_sum ? Mistake::invalid_or_duplicate_flag : Mistake::duplicate_flag);
    if (bit == 0) return fail(is_sum ? Mistake::invalid_or_duplicate_flag : Mistake::invalid_flag);
    seen |= bit;
  }
  for (const Word flag : request_.meta_flags) {
    const Mistake mistake = read_flag(flag);
    if (mistake != Mistake::count_) return fail(mistake);
  }
  if (has_bad_flags_) return fail(Mistake::bad_line);
  if (request_.has_base64_key && !read_meta_key())
    return fail(is_sum ? Mistake::invalid_or_duplicate_flag : Mistake::bad_key);
  if (bad_mode_ != Mistake::count_) return fail(bad_mode_);
  // An append creates nothing without its N; a get would need a lease for it.
  const bool may_create =
      is_sum || request_.action == Action::append || request_.action == Action::prepend;
  if (request_.action == Action::get) request_.compared.reset();  // a get compares nothing
  if (request_.creates && request_.action == Action::get) return fail(Mistake::invalid_flag);
  if (!may_create) request_.creates = false;
  if (command.has_value && request_.has_exptime) request_.has_exptime = false;
  if (request_.action == Action::get && request_.has_exptime)
    request_.action = Action::touch_and_get;
}

// Mistake::count_: there is none.
Mistake RequestReader::read_flag(Word flag) {
  const Word token = flag.substr(1);
  switch (flag[0]) {
    case 'b': request_.has_base64_key = true; break;
    case 'c': request_.shows_cas = true; break;
    case 'k': request_.shows_key = true; break;
    case 'q': request_.is_quiet = true; break;
    case 'v': request_.shows_value = true; break;
    case 'x': request_.clears_value = true; break;
    case 'O': return token.size() > most_opaque_bytes ? Mistake::long_opaque : Mistake::count_;
    case 'M': bad_mode_ = read_mode(token); break;
    case 'C':
    case 'D':
    case 'F':
    case 'J':
    case 'N':
    case 'T': return read_token(flag[0], token);
    default: break;
  }
  return Mistake::count_;
}

Mistake RequestReader::read_token(char flag, Word token) {
  const bool is_sum = request_.action == Action::increment || request_.action == Action::decrement;
  const Mistake bad = is_sum ? Mistake::invalid_or_duplicate_flag : Mistake::bad_token;
  std::uint64_t number = 0;
  switch (flag) {
    case 'T':
      request_.has_exptime = true;
      return read_signed(token, request_.exptime) ? Mistake::count_ : bad;
    case 'N':
      request_.creates = true;
      return read_signed(token, request_.exptime_of_new) ? Mistake::count_ : bad;
    case 'F':
      if (!read_number(token, number) || number > 0xffffffff) has_bad_flags_ = true;
      request_.flags = static_cast<std::uint32_t>(number);
      return Mistake::count_;
    case 'D': return read_number(token, request_.delta) ? Mistake::count_ : bad;
    case 'J': return read_number(token, request_.initial) ? Mistake::count_ : bad;
    default:
      if (!read_number(token, number)) return bad;
      request_.compared = number;
      return Mistake::count_;
  }
}

// Its first letter counts.
Mistake RequestReader::read_mode(Word token) {
  const bool is_sum = request_.action == Action::increment || request_.action == Action::decrement;
  if (!is_sum && !stores_value(request_.action)) return Mistake::count_;
  const char mode = token.empty() ? '\0' : token[0];
  if (is_sum) {
    const bool adds = mode == 'I' || mode == '+';
    if (!adds && mode != 'D' && mode != '-') return Mistake::bad_sum_mode;
    request_.action = adds ? Action::increment : Action::decrement;
    return Mistake::count_;
  }
  switch (mode) {
    case 'A': request_.action = Action::append; break;
    case 'E': request_.action = Action::add; break;
    case 'P': request_.action = Action::prepend; break;
    case 'R': request_.action = Action::replace; break;
    case 'S': request_.action = Action::set; break;
    default: return Mistake::bad_set_mode;
  }
  return Mistake::count_;
}

bool RequestReader::read_meta_key() {
  Word key;
  if (!from_base64(request_.written_key, key_room_, key)) return false;
  request_.key = key;
  return true;
}

}  // namespace hs::memcached
