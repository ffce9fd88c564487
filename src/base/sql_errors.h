// SqlError: what SQL says of an error, for protocols whose clients read a text.
//
// Plain data, for any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace hs {

// What SQL says of a kind of errors.
struct SqlError {
  std::uint32_t number;
  std::string_view state;
  std::string_view text;
};
SqlError sql_error_of(Error kind);
// The number is the server's, if the status has one.
SqlError sql_error_of(Status status);

// Appends `<number> <SQLSTATE> <text>`.
void append_sql_error(Status status, std::string& text);

}  // namespace hs
