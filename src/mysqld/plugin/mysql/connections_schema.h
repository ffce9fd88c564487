// performance_schema.handlersocket_connections.
//
// MySQL's performance schema takes tables from plugins. It calls the functions of this file on the
// threads that read the table; SELECT on the table is the privilege that they need.
#pragma once

namespace hs::mysqld {

// False if the performance schema does not take the table, for example because it is switched off.
bool add_connections_schema();
// False if somebody reads the table.
bool remove_connections_schema();

}  // namespace hs::mysqld
