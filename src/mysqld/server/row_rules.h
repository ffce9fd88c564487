// What SQL's rules need of a table besides the columns that a write names.
//
// Called on the worker's thread on a table that is open for writing, once for each
// set-up. The rules themselves, row by row, are RowWriter::insert, update and erase, which
// the family defines beside these.
#pragma once

#include "mysqld/server/types.h"

namespace hs::mysqld::server {

// The write set holds the columns that the request names.
void prepare_insert(THD* thd, TABLE& table);
// The read and write sets do.
void prepare_update(THD* thd, TABLE& table);
void prepare_delete(THD* thd, TABLE& table);

}  // namespace hs::mysqld::server
