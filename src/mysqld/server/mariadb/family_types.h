// MariaDB's names for the types of server/types.h.
#pragma once

struct TABLE_LIST;
struct st_key_part_info;
struct st_mysql_show_var;
struct st_mysql_sys_var;

namespace hs::mysqld::server {

using TableRequest = TABLE_LIST;
using KeyPart = st_key_part_info;
using StatusVariable = st_mysql_show_var;
using SystemVariable = st_mysql_sys_var;

}  // namespace hs::mysqld::server
