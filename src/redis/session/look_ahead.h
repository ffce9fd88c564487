// Names the keys that commands read next, of what the connection has used lately: see passes/look_ahead.h.
//
// Called on the connection's worker. It opens and executes nothing.
#pragma once

#include "keys/containers.h"
#include "keys/open_rows.h"
#include "passes/look_ahead.h"

namespace hs::redis {

// There is room for it. False: nothing was opened yet for the values of its container.
bool name_item(keys::RememberedRows& rows, const keys::ItemKey& item, passes::LookAhead& ahead);

}  // namespace hs::redis
