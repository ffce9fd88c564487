// Request: what a client asks for, whichever form it has written it in.
//
// Plain data, for the thread that has read it. The views are into the client's input, or into the memory
// of the reader that has made it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/short_bytes.h"
#include "base/status.h"
#include "memcached/protocol/commands.h"
#include "memcached/protocol/errors.h"

namespace hs::memcached {

enum class Form : std::uint8_t { text, meta, binary };

inline constexpr std::size_t most_key_bytes = 250;

// What has to be known of a request in order to answer it.
struct Asked {
  Form form = Form::text;
  Action action = Action::mistake;
  bool is_quiet = false;  // the usual answer is left out; in text, every answer
  bool shows_cas = false;
  bool shows_key = false;
  bool shows_value = false;
  std::uint8_t opcode = 0;
  std::uint32_t opaque = 0;
};

struct Request : Asked {
  Status mistake{};
  std::string_view key{};
  // Of a get in text: the keys behind the first one, as they stand in its line.
  std::string_view more_keys{};
  std::string_view value{};
  std::uint32_t flags = 0;
  std::int64_t exptime = 0;
  bool has_exptime = false;                 // what is there gets it, too
  std::optional<std::uint64_t> compared{};  // the cas that the item has to have
  std::uint64_t delta = 1;
  // Of a sum, and of an append: what is not there is created, and expires then.
  bool creates = false;
  std::uint64_t initial = 0;
  std::int64_t exptime_of_new = 0;
  bool clears_value = false;  // in place of deleting the item
  // Of a meta command: its flags, and its key as it was written.
  std::span<const std::string_view> meta_flags{};
  std::string_view written_key{};
  bool has_base64_key = false;
};

// Takes the next word from the front. Empty: there is none.
inline std::string_view take_word(std::string_view& line) {
  while (line.starts_with(' ')) line.remove_prefix(1);
  const std::string_view word(line.data(), std::min(find_byte(line, ' '), line.size()));
  line.remove_prefix(word.size());
  return word;
}

}  // namespace hs::memcached
