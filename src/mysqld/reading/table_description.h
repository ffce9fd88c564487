// Describes an open table to clients: its columns, and the indexes by which they can search.
//
// On the thread that has the table open.
#pragma once

#include <functional>
#include <string>

#include "store/table_description.h"

struct TABLE;

namespace hs::mysqld {

// The names of all columns that a client can name, in the order of the table.
std::vector<std::string> column_names_of(TABLE& table);

// Only the columns that `is_seen` says are described, and indexes all of whose columns are.
store::TableDescription describe(TABLE& table,
                                 const std::function<bool(const std::string&)>& is_seen);

}  // namespace hs::mysqld
