// The plainest form of a request, an array of a few bulk strings, recognised without a reader.
//
// For a look ahead at requests that are not executed yet. A pure function, for any thread. What it does
// not recognise may still be a request: RequestReader alone decides what bytes mean.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace hs::redis {

struct PlainCommand {
  std::size_t words = 0;  // 0: there is no such request at the front
  std::size_t size = 0;   // of the request, in bytes
};

// The one at the front of the input. Its words are put into the first of `words`, and are bytes of the
// input. None if it is incomplete, or has more words than `words`.
PlainCommand plain_command(std::string_view input, std::span<std::string_view> words);

}  // namespace hs::redis
