// How results become JSON: in the order in which they were written, and always valid.
//
// Included only where results are written, because the library's header is large.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>

namespace hs::bench {

using Json = nlohmann::ordered_json;

// What a server has answered may be any bytes. Those that are no UTF-8 become U+FFFD.
inline void write(std::ostream& out, const Json& json) {
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace hs::bench
