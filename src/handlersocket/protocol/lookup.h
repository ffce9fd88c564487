// The plainest find, `ID = N V1 ... VN`, recognised without the parser.
//
// For a look ahead at requests that are not executed yet. A pure function, for any thread. What it
// does not recognise may still be a find: the parser alone decides what a line means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "store/operation.h"

namespace hs::handlersocket {

struct PlainLookup {
  std::uint64_t id = 0;
  std::size_t parts = 0;  // of the key; 0: there is no such find at the front
  std::size_t end = 0;    // behind its LF
};

// The one at the front of the input. Its values are put into the first of `key`, and are bytes of
// the input. None if it is incomplete, has more values than `key`, or an escape or a NULL in it.
PlainLookup plain_lookup(std::string_view input, std::span<store::Value> key);

}  // namespace hs::handlersocket
