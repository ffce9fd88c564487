// Description: what an open index is made of, for a client that asks.
//
// Pure functions, on the thread that has the connection's turn.
#pragma once

#include "base/buffer.h"
#include "base/status.h"
#include "store/operation.h"
#include "store/table_description.h"

namespace hs::handlersocket {

// Appends the reply to a request that describes the index with these names, of the table. It has a row
// for each column and filter column in the order of the names, and for each part of the index. What the
// table does not have, or does not show to the caller, has a name only.
Status append_description(const store::IndexNames& names, const store::TableDescription& table,
                          Buffer& out);

// Appends the reply to a request that lists the indexes of the table: a row for each of their parts.
void append_indexes(const store::TableDescription& table, Buffer& out);

}  // namespace hs::handlersocket
