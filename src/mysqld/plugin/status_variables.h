// Status variables: the table of counters in SHOW GLOBAL STATUS LIKE 'handlersocket%'.
//
// Any session's thread may read them. The sums are made when somebody asks for them.
#pragma once

#include <cstddef>

#include "base/counters.h"
#include "mysqld/server/types.h"
#include "net/waiting_bytes.h"

namespace hs::mysqld {

// What a port counts. It keeps counting when the port is closed and opened again, and when the
// plugin is unloaded and loaded again in one server process.
CounterSet& counters(std::size_t port);

// The bytes that wait to be read or sent, on all ports.
net::WaitingBytes& waiting_bytes();

// For the plugin's declaration. The list ends with an empty entry.
server::StatusVariable* status_variables();

}  // namespace hs::mysqld
