// Requests in text: lines, and the values behind them.
#include <algorithm>
#include <cstring>

#include "base/short_bytes.h"
#include "memcached/protocol/number.h"
#include "memcached/protocol/request_reader.h"

namespace hs::memcached {
namespace {

using Line = TextCommand::Line;

constexpr std::string_view no_reply = "noreply";

// Lines of gets may be long: they have many keys.
bool may_be_long(std::string_view input) {
  for (const std::string_view word : {"get ", "gets ", "gat ", "gats "}) {
    if (input.starts_with(word)) return true;
  }
  return false;
}

std::string_view last_word(std::string_view line) {
  const std::size_t end = line.find_last_not_of(' ');
  if (end == std::string_view::npos) return {};
  line = line.substr(0, end + 1);
  return line.substr(line.find_last_of(' ') + 1);
}

}  // namespace

RequestReader::Found RequestReader::read(std::string_view input, bool is_binary,
                                         const RequestLimits& limits, std::size_t scanned) {
  request_ = {};
  size_ = thrown_away_ = value_bytes_ = 0;
  ends_ = has_value_ = false;
  if (input.empty()) return Found::incomplete;
  return is_binary ? read_binary(input, limits) : read_text(input, limits, scanned);
}

RequestReader::Found RequestReader::read_text(std::string_view input, const RequestLimits& limits,
                                              std::size_t scanned) {
  std::size_t lf = find_byte(input.substr(0, most_line_bytes), '\n');
  if (lf == std::string_view::npos) {
    if (input.size() <= most_line_bytes) return Found::incomplete;
    if (limits.must_log_in || !may_be_long(input) || input.size() > most_bytes_of_keys)
      return Found::ends;
    lf = input.find('\n', std::max(most_line_bytes, std::min(scanned, input.size())));
    if (lf == std::string_view::npos) return Found::incomplete;
  }
  size_ = lf + 1;
  std::string_view line = input.substr(0, lf);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.size() < 2) {
    fail(limits.must_log_in ? Mistake::unauthenticated : Mistake::bad_line);
    return Found::request;
  }
  // A command begins its line.
  const std::string_view word(line.data(), std::min(find_byte(line, ' '), line.size()));
  std::string_view rest = line.substr(word.size());
  if (const TextCommand* const command = find_text_command(word); command != nullptr) {
    request_.action = command->action;
    request_.shows_cas = command->shows_cas;
    request_.shows_value = true;
    read_line(*command, rest, limits.keys_are_known);
  } else if (const MetaCommand* const meta = find_meta_command(word); meta != nullptr) {
    request_.form = Form::meta;
    request_.action = meta->action;
    word_count_ = 0;
    has_more_words_ = false;
    for (Word next = take_word(rest); !next.empty(); next = take_word(rest)) {
      has_more_words_ = word_count_ == most_words;
      if (has_more_words_) break;
      words_[word_count_++] = next;
    }
    read_meta(*meta);
  } else {
    request_.is_quiet = last_word(rest) == no_reply;
    fail(Mistake::unknown);
  }
  if (limits.must_log_in) read_log_in(limits);
  return has_value_ ? take_value(input, limits) : Found::request;
}

// The size of a value. False: it is none, and what follows is the next command.
bool RequestReader::take_size(Word word) {
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 3;
  std::int64_t size = 0;
  if (!read_signed(word, size) || size < 0 || size > most) return false;
  has_value_ = true;
  value_bytes_ = static_cast<std::size_t>(size);
  return true;
}

// Whatever is wrong with the line, the value behind it is no command.
RequestReader::Found RequestReader::take_value(std::string_view input,
                                               const RequestLimits& limits) {
  const std::size_t whole = value_bytes_ + 2;
  if (request_.action != Action::mistake && value_bytes_ > limits.most_value_bytes)
    fail(Mistake::value_size);
  if (request_.action == Action::mistake) {
    thrown_away_ = whole;
    return Found::request;
  }
  if (input.size() - size_ < whole) return Found::incomplete;
  request_.value = input.substr(size_, value_bytes_);
  const bool is_ended = input.substr(size_ + value_bytes_, 2) == "\r\n";
  size_ += whole;
  if (!is_ended) {
    fail(Mistake::bad_chunk);
    if (request_.form == Form::meta) request_.is_quiet = false;
  }
  return Found::request;
}

void RequestReader::read_line(const TextCommand& command, std::string_view rest,
                              bool keys_are_known) {
  const std::string_view keys = rest;
  if (command.line == Line::keys) return read_keys(rest, keys_are_known);
  constexpr std::size_t most = 6;
  for (word_count_ = 1; word_count_ < most; ++word_count_) {
    words_[word_count_] = take_word(rest);
    if (words_[word_count_].empty()) break;
  }
  if (command.line == Line::exptime_and_keys) {
    if (word_count_ < command.least_words) return fail(Mistake::bad_line);
    if (!read_signed(words_[1], request_.exptime)) return fail(Mistake::bad_exptime);
    request_.has_exptime = true;
    const auto behind = static_cast<std::size_t>(words_[1].data() + words_[1].size() - keys.data());
    return read_keys(keys.substr(behind), keys_are_known);
  }
  request_.is_quiet = last_word(keys) == no_reply;
  if (word_count_ < command.least_words) {
    request_.is_quiet = request_.is_quiet && command.line == Line::other;
    return fail(Mistake::bad_line);
  }
  request_.key = words_[1];
  const bool has_key = command.line != Line::other;
  if (command.line == Line::store || command.line == Line::cas) {
    if (!take_size(words_[4])) {
      request_.is_quiet = false;
      return fail(Mistake::bad_line);
    }
  }
  if (has_key && request_.key.size() > most_key_bytes) return fail(Mistake::bad_line);
  switch (command.line) {
    case Line::cas:
    case Line::store: {
      std::uint64_t flags = 0;
      if (!read_number(words_[2], flags) || !read_signed(words_[3], request_.exptime))
        return fail(Mistake::bad_line);
      request_.flags = static_cast<std::uint32_t>(flags);
      if (command.line == Line::store) return;
      std::uint64_t cas = 0;
      if (!read_number(words_[5], cas)) return fail(Mistake::bad_line);
      request_.compared = cas;
      return;
    }
    case Line::delta:
      if (!read_number(words_[2], request_.delta)) fail(Mistake::bad_delta);
      return;
    case Line::exptime:
      request_.has_exptime = true;
      if (!read_signed(words_[2], request_.exptime)) fail(Mistake::bad_exptime);
      return;
    case Line::other: return read_other(command);
    default: return;
  }
}

// All keys are looked at before the first one is read.
void RequestReader::read_keys(std::string_view rest, bool are_known) {
  request_.key = take_word(rest);
  request_.more_keys = rest;
  if (are_known) return;
  if (request_.key.empty() || request_.key.size() > most_key_bytes) return fail(Mistake::bad_line);
  for (Word key = take_word(rest); !key.empty(); key = take_word(rest)) {
    if (key.size() > most_key_bytes) return fail(Mistake::bad_line);
  }
}

void RequestReader::read_other(const TextCommand& command) {
  std::uint64_t level = 0;
  if (command.action == Action::verbosity) {
    if (!read_number(words_[1], level)) fail(Mistake::bad_line);
  } else if (command.action == Action::flush) {
    const std::size_t numbers = word_count_ - 1 - (request_.is_quiet ? 1 : 0);
    request_.key = {};
    if (numbers != 0 && !read_signed(words_[1], request_.exptime)) fail(Mistake::bad_exptime);
  } else {
    request_.is_quiet = false;
  }
}

// Before its log-in a client may say one thing only: set ANY FLAGS EXPTIME SIZE, and behind it the user
// and the password with a blank between them.
void RequestReader::read_log_in(const RequestLimits& limits) {
  const bool is_set = request_.form == Form::text && request_.action == Action::set && has_value_ &&
                      !request_.compared;
  if (is_set && value_bytes_ <= limits.most_value_bytes) {
    request_.action = Action::log_in;
    request_.is_quiet = false;
    return;
  }
  if (request_.form == Form::text && request_.action == Action::quit) return;
  ends_ = has_value_;
  has_value_ = false;
  request_ = {};
  fail(Mistake::unauthenticated);
}

bool read_credentials(const Request& request, Credentials& credentials) {
  const std::string_view value = request.value;
  if (request.form == Form::binary) {
    if (request.key != "PLAIN") return false;
    // As whom to act, user, password.
    const std::size_t first = value.find('\0');
    if (first == std::string_view::npos) return false;
    const std::size_t second = value.find('\0', first + 1);
    if (second == std::string_view::npos) return false;
    credentials.user = value.substr(first + 1, second - first - 1);
    credentials.password = value.substr(second + 1);
  } else {
    const std::size_t blank = value.find(' ');
    const bool has_user = blank != std::string_view::npos;
    credentials.user = has_user ? value.substr(0, blank) : user_of_secret;
    credentials.password = has_user ? value.substr(blank + 1) : value;
  }
  credentials.is_secret = credentials.user == user_of_secret;
  return true;
}

}  // namespace hs::memcached
