// SCAN and KEYS: which keys there are, in a table that their pattern names.
//
// SCAN answers a page, and where it goes on is kept in the port's ScanPositions. KEYS answers all of them,
// up to a bound, and is for another thread than a worker: it goes aside when others wait.
#pragma once

#include <string_view>

#include "redis/session/work.h"

namespace hs::redis {

// With more keys, KEYS is an error.
inline constexpr std::size_t most_listed_keys = 100'000;
// SCAN looks at so many rows at most, whatever its COUNT is.
inline constexpr std::int64_t most_scanned_rows = 1000;

store::Outcome scan_keys(Work& work, Words words);
// On another thread, `work.sink` is the store's own: the list is parked between two pages.
store::Outcome list_keys(Work& work, Words words);

// The pattern among the words of one of them; empty: there is none.
std::string_view pattern_of(Command command, Words words);

}  // namespace hs::redis
