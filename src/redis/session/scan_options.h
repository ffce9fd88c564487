// ScanOptions: what SCAN, HSCAN and KEYS are told beside their key and cursor.
//
// Pure functions, on the thread that executes the request.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "redis/session/work.h"

namespace hs::redis {

struct ScanOptions {
  std::optional<std::string_view> pattern{};
  std::int64_t count = 10;
  std::optional<std::string_view> type{};
  bool with_values = true;
};

// False: it is no whole number of 64 bits.
[[nodiscard]] bool read_cursor(std::string_view text, std::uint64_t& cursor);

// Reads the words behind the cursor.
enum class ScanOf : std::uint8_t { keys, fields };
Status read_scan_options(Work& work, Words words, ScanOf what, ScanOptions& options);

// Whether a pattern may be compared with texts.
Status check_pattern(Work& work, std::string_view pattern);

}  // namespace hs::redis
