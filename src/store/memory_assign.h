// Assignments to the columns of the in-memory store.
//
// A pure function, for any thread, except that `set_now` asks the clock.
#pragma once

#include "base/status.h"
#include "store/memory_row.h"
#include "store/operation.h"

namespace hs::store {

// If the status is not ok, the field may hold anything.
Status assign(const MemoryColumn& column, const Assignment& assignment, Field& field);

}  // namespace hs::store
