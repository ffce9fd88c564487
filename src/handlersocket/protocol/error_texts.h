// What SQL says of the errors of this protocol, for clients that want texts (see Hello).
//
// Pure functions, for any thread.
#pragma once

#include <string_view>

#include "base/sql_errors.h"
#include "base/status.h"

namespace hs::handlersocket {

// The number is the server's own, if the status has one.
SqlError error_text_of(Status status);

}  // namespace hs::handlersocket
