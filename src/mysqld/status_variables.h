// Status variables: the table of counters in SHOW GLOBAL STATUS LIKE 'handlersocket%'.
//
// Any session's thread reads; the sums are made when they are asked for.
#pragma once

#include "base/counters.h"
#include "mysqld/server/types.h"

namespace hs::mysqld {

// All that this plugin counts, over all of its lives in this server process.
CounterSet& counters();

// For the plugin's declaration; ends with an empty entry.
server::StatusVariable* status_variables();

}  // namespace hs::mysqld
