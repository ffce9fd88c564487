#include "redis/session/scan_options.h"

#include <charconv>

#include "redis/protocol/glob.h"
#include "redis/protocol/number.h"

namespace hs::redis {

bool read_cursor(std::string_view text, std::uint64_t& cursor) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, cursor);
  return error == std::errc{} && stop == end && !text.empty();
}

Status read_scan_options(Work& work, Words words, ScanOf what, ScanOptions& options) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool has_value = i + 1 < words.size();
    if (is_word(words[i], "count") && has_value) {
      if (!read_integer(words[++i], options.count)) return status_of(Mistake::not_an_integer);
      if (options.count < 1) return status_of(Mistake::syntax);
    } else if (is_word(words[i], "match") && has_value) {
      options.pattern = words[++i];
    } else if (is_word(words[i], "type") && has_value && what == ScanOf::keys) {
      options.type = words[++i];
    } else if (is_word(words[i], "novalues")) {
      if (what == ScanOf::keys) return say(work, "ERR NOVALUES option can only be used in HSCAN");
      options.with_values = false;
    } else {
      return status_of(Mistake::syntax);
    }
  }
  return options.pattern ? check_pattern(work, *options.pattern) : Status{};
}

Status check_pattern(Work& work, std::string_view pattern) {
  if (pattern.size() <= Glob::most_bytes) return {};
  return say(work, "ERR pattern has more than " + std::to_string(Glob::most_bytes) + " bytes");
}

}  // namespace hs::redis
