// What SQL's rules need of a table besides the columns that a write names.
//
// Called on the worker's thread with a table that is open for writing, once for each set-up. Each
// family defines the functions in <family>/row_rules.cc, and with them the rules for each row,
// which row_writer.h declares.
#pragma once

#include "mysqld/server/types.h"

// They are hidden, so that the linker refuses a family that leaves one of them undefined.
#pragma GCC visibility push(hidden)

namespace hs::mysqld {

// Before the call, the write set holds the columns that the request names.
void prepare_insert(THD* thd, TABLE& table);
// Before the call, the read and write sets hold them.
void prepare_update(THD* thd, TABLE& table);
void prepare_delete(THD* thd, TABLE& table);

}  // namespace hs::mysqld

#pragma GCC visibility pop
