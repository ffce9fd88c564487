// MySQL's private headers. They are included only here.
//
// Only api.h includes it.
#pragma once

// The server needs this order.
// clang-format off
#include <mysql/components/my_service.h>
#include <mysql/components/services/pfs_plugin_table_service.h>
#include <mysql/plugin.h>
#include <mysql/psi/mysql_stage.h>
#include <mysql/psi/mysql_table.h>
#include <mysql/service_plugin_registry.h>
#include <mysqld_error.h>
#include <mysys_err.h>

#include <sql/sql_class.h>

#include <include/decimal.h>
#include <sql-common/my_decimal.h>
#include <sql/auth/auth_acls.h>
#include <sql/auth/auth_common.h>
#include <sql/auth/sql_security_ctx.h>
#include <sql/dd/cache/dictionary_client.h>
#include <sql/dd/dd.h>
#include <sql/dd/dd_schema.h>
#include <sql/dd/dictionary.h>
#include <sql/dd/types/abstract_table.h>
#include <sql/dd/types/schema.h>
#include <sql/error_handler.h>
#include <sql/conn_handler/connection_handler_manager.h>
#include <sql/conn_handler/init_net_server_extension.h>
#include <sql/field.h>
#include <sql/handler.h>
#include <sql/item.h>
#include <sql/key.h>
#include <sql/lock.h>
#include <sql/log.h>
#include <sql/mdl.h>
#include <sql/mysqld.h>
#include <sql/mysqld_thd_manager.h>
#include <sql/protocol_classic.h>
#include <sql/replication.h>
#include <sql/rpl_group_replication.h>
#include <sql/set_var.h>
#include <sql/sql_audit.h>
#include <sql/sql_base.h>
#include <sql/sql_connect.h>
#include <sql/sql_foreign_key_constraint.h>
#include <sql/sql_insert.h>
#include <sql/sql_lex.h>
#include <sql/sql_partition.h>
#include <sql/sql_select.h>
#include <sql/sql_thd_internal_api.h>
#include <sql/sql_update.h>
#include <sql/ssl_acceptor_context_operator.h>
#include <sql/ssl_init_callback.h>
#include <sql/sys_vars_shared.h>
#include <sql/table.h>
#include <sql/table_trigger_dispatcher.h>
#include <sql/transaction.h>
#include <sql/transaction_info.h>
#include <sql/trigger_chain.h>
#include <sql/tztime.h>
#include <violite.h>
// clang-format on
