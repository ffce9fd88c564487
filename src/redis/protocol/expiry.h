// Expiry: the times that commands give, and the options of SET and GETEX.
//
// Pure functions, for any thread. They take words apart, and know no key.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace hs::redis {

// How a command gives a time.
enum class TimeUnit : std::uint8_t { seconds, milliseconds };
struct TimeForm {
  TimeUnit unit = TimeUnit::seconds;
  bool is_absolute = false;  // since 1970; if not, from now on

  friend constexpr bool operator==(const TimeForm&, const TimeForm&) = default;
};

// What is wrong with a time. The command's name belongs into the second one's text.
enum class TimeMistake : std::uint8_t { none, not_an_integer, invalid };
// `expires_ms` is since 1970. It may be in the past, and is never 0. Of a time that is given to a value,
// only one above 0 is valid.
[[nodiscard]] TimeMistake read_time(std::string_view word, TimeForm form, bool has_to_be_positive,
                                    std::int64_t now_ms, std::int64_t& expires_ms);

// The options behind the value of SET, and those of GETEX.
struct ValueOptions {
  enum class Condition : std::uint8_t { none, is_there, is_not_there, equals };
  Condition condition = Condition::none;
  std::string_view other{};  // of `equals`
  bool gets = false;         // the reply is what was there before
  bool keeps_expiry = false;
  bool persists = false;  // of GETEX: no expiry from now on
  struct Time {
    TimeForm form;
    std::string_view word;
  };
  std::optional<Time> time{};
};
// False: a mistake of syntax.
[[nodiscard]] bool read_set_options(std::span<const std::string_view> words, ValueOptions& options);
[[nodiscard]] bool read_getex_options(std::span<const std::string_view> words,
                                      ValueOptions& options);

// The options of EXPIRE and its kind.
struct ExpireOptions {
  bool if_none = false;    // NX
  bool if_some = false;    // XX
  bool if_later = false;   // GT
  bool if_sooner = false;  // LT
};
// Null: they are right. Otherwise the text of the error; `unknown` is the word it ends with, if there is
// one.
std::string_view read_expire_options(std::span<const std::string_view> words,
                                     ExpireOptions& options, std::string_view& unknown);

}  // namespace hs::redis
