// information_schema.handlersocket_connections, which is a plugin of its own in the library.
//
// Whoever lacks the privilege PROCESS sees no rows. The server calls it on the thread that reads
// the table.
#pragma once

namespace hs::mysqld {

// For the declaration of the plugin: sets up the server's schema table.
int init_connections_schema(void* schema_table);

}  // namespace hs::mysqld
