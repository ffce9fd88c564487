#include "redis/protocol/expiry.h"

#include <algorithm>
#include <array>

#include "redis/protocol/commands.h"
#include "redis/protocol/number.h"

namespace hs::redis {
namespace {

using Words = std::span<const std::string_view>;

struct TimeWord {
  std::string_view word;
  TimeForm form;
};
constexpr std::array time_words{
    TimeWord{"ex", {TimeUnit::seconds, false}},
    TimeWord{"px", {TimeUnit::milliseconds, false}},
    TimeWord{"exat", {TimeUnit::seconds, true}},
    TimeWord{"pxat", {TimeUnit::milliseconds, true}},
};

// Takes EX and the like with the word behind it. Of the same one twice, the last counts. False: the word
// is none of them, or another than before.
bool take_time(Words words, std::size_t& at, ValueOptions& options) {
  const auto* const found = std::ranges::find_if(
      time_words, [&](const TimeWord& one) { return is_word(words[at], one.word); });
  if (found == time_words.end() || at + 1 == words.size()) return false;
  if (options.keeps_expiry || options.persists) return false;
  if (options.time && options.time->form != found->form) return false;
  options.time = ValueOptions::Time{found->form, words[++at]};
  return true;
}

bool take_condition(Words words, std::size_t& at, ValueOptions& options) {
  using enum ValueOptions::Condition;
  ValueOptions::Condition condition = none;
  if (is_word(words[at], "nx")) {
    condition = is_not_there;
  } else if (is_word(words[at], "xx")) {
    condition = is_there;
  } else if (is_word(words[at], "ifeq") && at + 1 < words.size()) {
    condition = equals;
  }
  const bool is_second = options.condition != none;
  if (condition == none || (is_second && (options.condition != condition || condition == equals)))
    return false;
  options.condition = condition;
  if (condition == equals) options.other = words[++at];
  return true;
}

}  // namespace

TimeMistake read_time(std::string_view word, TimeForm form, bool has_to_be_positive,
                      std::int64_t now_ms, std::int64_t& expires_ms) {
  std::int64_t time = 0;
  if (!read_integer(word, time)) return TimeMistake::not_an_integer;
  if (has_to_be_positive && time <= 0) return TimeMistake::invalid;
  constexpr std::int64_t ms_per_second = 1000;
  if (form.unit == TimeUnit::seconds && __builtin_mul_overflow(time, ms_per_second, &time))
    return TimeMistake::invalid;
  if (!form.is_absolute && __builtin_add_overflow(time, now_ms, &time)) return TimeMistake::invalid;
  // What is long ago need not be told apart.
  expires_ms = std::max<std::int64_t>(time, 1);
  return TimeMistake::none;
}

bool read_set_options(Words words, ValueOptions& options) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (is_word(words[at], "get")) {
      options.gets = true;
    } else if (is_word(words[at], "keepttl")) {
      if (options.time) return false;
      options.keeps_expiry = true;
    } else if (!take_condition(words, at, options) && !take_time(words, at, options)) {
      return false;
    }
  }
  return true;
}

bool read_getex_options(Words words, ValueOptions& options) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (is_word(words[at], "persist")) {
      if (options.time) return false;
      options.persists = true;
    } else if (!take_time(words, at, options)) {
      return false;
    }
  }
  return true;
}

std::string_view read_expire_options(Words words, ExpireOptions& options,
                                     std::string_view& unknown) {
  for (const std::string_view word : words) {
    if (is_word(word, "nx")) {
      options.if_none = true;
    } else if (is_word(word, "xx")) {
      options.if_some = true;
    } else if (is_word(word, "gt")) {
      options.if_later = true;
    } else if (is_word(word, "lt")) {
      options.if_sooner = true;
    } else {
      unknown = word;
      return "ERR Unsupported option ";
    }
  }
  if (options.if_none && (options.if_some || options.if_later || options.if_sooner))
    return "ERR NX and XX, GT or LT options at the same time are not compatible";
  if (options.if_later && options.if_sooner)
    return "ERR GT and LT options at the same time are not compatible";
  return {};
}

}  // namespace hs::redis
