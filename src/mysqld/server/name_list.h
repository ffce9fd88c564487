// Lists the databases of the server, and the tables of one, by the server's own functions.
//
// Each family has its own name_list.cc. Called on a streamer's thread, because the server reads
// directories or its data dictionary for it. It never waits for another session's lock.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "mysqld/server/types.h"

// They are hidden, so that the linker refuses a family that leaves one of them undefined.
#pragma GCC visibility push(hidden)

namespace hs::mysqld::server {

enum class NamesRead : std::uint8_t {
  all,
  stopped,  // whoever takes the names wants no more
  missing,  // there is no such database
  failed,   // an error is raised
};

// Takes a name. The rest is read only if it returns true.
using TakeName = std::function<bool(const std::string&)>;

// Of all databases that have a directory, in no order.
NamesRead read_databases(THD* thd, const TakeName& take);
// Of all tables that are no views, in no order.
NamesRead read_tables(THD* thd, const std::string& database, const TakeName& take);

}  // namespace hs::mysqld::server

#pragma GCC visibility pop
