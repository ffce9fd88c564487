// Errors: memcached's words for what goes wrong, in text and in numbers of the binary protocol.
//
// What the store answers is a Status, whose kind chooses the words; an error of SQL keeps its number and
// its SQLSTATE. Our own mistakes are numbers in a Status of the kind Error::protocol. Pure functions, for
// any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace hs::memcached {

enum class Mistake : std::uint8_t {
  // of a request's form
  unknown,
  bad_line,
  bad_chunk,
  bad_delta,
  bad_exptime,
  bad_key,  // no base64
  bad_token,
  duplicate_flag,
  invalid_flag,
  invalid_or_duplicate_flag,
  long_opaque,
  too_many_flags,
  bad_set_mode,
  bad_sum_mode,
  bad_arguments,  // of the binary protocol
  bad_stats,
  // of what it asks for
  value_size,
  not_numeric,
  no_shutdown,
  flush_is_off,
  flush_has_delay,
  no_such_container,
  no_cas,
  read_only_port,
  // log-ins
  unauthenticated,
  bad_log_in,
  wrong_log_in,
  needs_tls,
  no_log_ins,
  // the connection
  request_size,
  no_room,
  tls_only,
  foreign,
  count_,
};

constexpr Status status_of(Mistake mistake) {
  return {Error::protocol, static_cast<std::uint32_t>(mistake) + 1};
}

// A status of the binary protocol.
enum class Code : std::uint16_t {
  ok = 0,
  not_found = 1,
  exists = 2,
  too_large = 3,
  bad_arguments = 4,
  not_stored = 5,
  not_numeric = 6,
  no_rights = 0x20,
  unknown_command = 0x81,
  no_memory = 0x82,
  not_supported = 0x83,
  internal = 0x84,
  try_again = 0x86,
};

// The line of an error in text, without its end.
void append_text(Status status, std::string& text);
// The same in the binary protocol; the text is what the line has behind its first word.
Code code_of(Status status);

}  // namespace hs::memcached
