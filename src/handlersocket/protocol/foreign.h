// Other protocols, by how their clients begin.
//
// A client of another protocol that has come to this port by mistake waits for an answer in its own
// protocol. Pure functions, for any thread. No request of HandlerSocket begins like one of those
// that are known here, and whoever writes lines by hand gets the usual errors.
#pragma once

#include <string_view>

namespace hs::handlersocket {

// The name of the protocol, or nothing. `begin` is all that the client has sent so far, or at least
// its first 8 KiB.
std::string_view foreign_protocol(std::string_view begin);

}  // namespace hs::handlersocket
