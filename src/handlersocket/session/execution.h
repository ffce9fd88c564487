// The execution of a request that was admitted: what it asks of the store, and the reply.
//
// A pure function of its arguments, on the thread that has the connection's turn.
#pragma once

#include "handlersocket/session/session.h"
#include "passes/dialogue.h"
#include "store/store.h"

namespace hs::handlersocket {

// The one way in which a find, a count or a write is executed, wherever that is. It is the request of the
// workspace, and uses the first index of the place. Appends the reply only if it succeeds.
store::Outcome execute_admitted(passes::Place& place, Workspace& workspace);

}  // namespace hs::handlersocket
