// Strange servers: what a client says about a server that speaks another protocol than it does.
//
// Pure functions, for any thread.
#pragma once

#include <string>
#include <string_view>

#include "load/options.h"

namespace hs::bench {

// `begin` are the first bytes that the server has sent on a connection. Empty: nothing is strange
// about them.
std::string strange_server(std::string_view begin, Protocol protocol);

}  // namespace hs::bench
