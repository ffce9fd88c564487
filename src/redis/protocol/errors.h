// Errors: Redis's words for what goes wrong.
//
// The text of an error begins with its code, by which clients tell errors apart. What the store answers
// is a Status, whose kind chooses the code; an error of SQL keeps its number and its SQLSTATE. Our own
// mistakes are numbers in a Status of the kind Error::protocol. Pure functions, for any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace hs::redis {

enum class Mistake : std::uint8_t {
  said,  // the dialogue has the text
  // values
  not_an_integer,
  not_a_float,
  hash_not_an_integer,
  hash_not_a_float,
  overflow,
  not_finite,    // the amount
  not_a_number,  // the sum
  syntax,
  // log-ins
  no_auth,
  hello_no_auth,
  wrong_pass,
  no_secret,
  no_accounts,
  needs_tls,
  // transactions
  multi_in_multi,
  watch_in_multi,
  too_many_watched,
  watched_has_changed,  // for EXEC itself
  exec_without_multi,
  discard_without_multi,
  exec_abort,
  transaction_size,
  // the connection
  read_only_port,
  request_size,
  no_room,
  tls_only,
  foreign,
  count_,
};

std::string_view text_of(Mistake mistake);
constexpr Status status_of(Mistake mistake) {
  return {Error::protocol, static_cast<std::uint32_t>(mistake) + 1};
}

// Appends the text of an error; `said` is that of Mistake::said.
void append_text(Status status, std::string_view said, std::string& text);

// The codes with which the texts begin. There are no others.
enum class ErrorCode : std::uint8_t {
  general,
  exec_abort,
  no_auth,
  no_permission,
  no_protocol,
  read_only,
  try_again,
  wrong_password,
  wrong_type,
  count_,
};

inline constexpr std::array<std::string_view, static_cast<std::size_t>(ErrorCode::count_)>
    error_codes{"ERR",      "EXECABORT", "NOAUTH",    "NOPERM",   "NOPROTO",
                "READONLY", "TRYAGAIN",  "WRONGPASS", "WRONGTYPE"};

// Of an error's text. What has none of them is a general one.
ErrorCode code_of(std::string_view text);

}  // namespace hs::redis
