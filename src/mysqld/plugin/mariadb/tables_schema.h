// information_schema.handlersocket_connections, and the plugin's other tables. Each is a plugin of
// its own in the library.
//
// Whoever lacks the privilege PROCESS sees no rows. The server calls this on the thread that reads
// the table.
#pragma once

#include <cstddef>

namespace hs::mysqld {

// For the declaration of the plugin of each of shown_tables: sets up the server's schema table.
template <std::size_t number>
int init_table_schema(void* schema_table);

}  // namespace hs::mysqld
