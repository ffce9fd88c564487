// MariaDB's private headers. They are included only here.
//
// Only api.h includes it.
#pragma once

// The server needs this order.
// clang-format off
#include <my_global.h>

// The server's own functions for clusters. For a plugin, the header would declare their names as
// macros, and other headers could not use them. What it includes itself must know the plugin.
#include <my_pthread.h>
#undef MYSQL_DYNAMIC_PLUGIN
#include <mysql/service_wsrep.h>
#define MYSQL_DYNAMIC_PLUGIN 1

#include <sql_class.h>

#include <handler.h>
#include <key.h>
#include <lock.h>
#include <log.h>
#include <my_dir.h>
#include <mysys_err.h>
#include <mysqld.h>
#include <semisync_master.h>
#include <set_var.h>
#include <sql_acl.h>
#include <sql_audit.h>
#include <sql_base.h>
#include <sql_cache.h>
#include <sql_connect.h>
#include <sql_i_s.h>
#include <sql_insert.h>
#include <sql_lex.h>
#include <sql_parse.h>
#include <sql_partition.h>
#include <sql_plugin.h>
#include <sql_priv.h>
#include <sql_table.h>
#include <sql_trigger.h>
#include <sql_update.h>
#include <sys_vars_shared.h>
#include <transaction.h>
#include <tztime.h>
#include <violite.h>
#include <wsrep_mysqld.h>
#include <wsrep_server_state.h>
#include <wsrep_trans_observer.h>
// clang-format on

// my_global.h and the headers that it includes define these as macros.
#undef min
#undef max
#undef test
