// performance_schema.handlersocket_connections, and the plugin's other tables.
//
// MySQL's performance schema takes tables from plugins. It calls the functions of this file on the
// threads that read a table; SELECT on the table is the privilege that they need.
#pragma once

namespace hs::mysqld {

// False if the performance schema does not take the tables, for example because it is switched off.
bool add_tables_schema();
// False if somebody reads one of the tables. Then all of them stay.
bool remove_tables_schema();

}  // namespace hs::mysqld
