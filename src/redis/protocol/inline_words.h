// The words of an inline command, quoted as Redis's own clients quote them.
//
// A pure function, for any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hs::redis {

// Words are separated by white space. "..." may have \n \r \t \b \a \xHH and \ before any other byte;
// '...' may have \' only. Behind a closing quote there is white space or the end. False: a quote is not
// closed. The words are views into `room`, which is overwritten.
[[nodiscard]] bool split_inline(std::string_view line, std::string& room,
                                std::vector<std::string_view>& words);

}  // namespace hs::redis
