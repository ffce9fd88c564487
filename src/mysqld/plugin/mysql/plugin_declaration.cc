// What MySQL looks for in the library.
#include "mysqld/plugin/mysql/tables_schema.h"
#include "mysqld/plugin/plugin.h"
#include "mysqld/plugin/status_variables.h"
#include "mysqld/plugin/system_variables.h"
#include "mysqld/server/api.h"
#include "mysqld/server/logging.h"

namespace hs::mysqld {
namespace {

// A shutdown gives sessions two seconds if there are any, and workers are sessions. So they leave
// before the server looks.
int before_shutdown(Server_state_param* /*param*/) {
  stop_plugin();
  return 0;
}

int ignore_state(Server_state_param* /*param*/) { return 0; }

Server_state_observer shutdown_observer{
    sizeof(Server_state_observer),
    ignore_state,     // before the first connection
    ignore_state,     // before the engines recover
    ignore_state,     // after the engines have recovered
    ignore_state,     // after everything has recovered
    before_shutdown,  //
    ignore_state,     // after a shutdown
    ignore_state,     // after an upgrade
};

int init(MYSQL_PLUGIN plugin) {
  server::begin_logging(plugin);
  if (!start_plugin()) return 1;
  if (register_server_state_observer(&shutdown_observer, plugin) != 0) {
    stop_plugin();
    return 1;
  }
  if (!add_tables_schema()) {
    server::log_warning(
        "handlersocket: the performance schema does not take the table handlersocket_connections "
        "and the others");
  }
  return 0;
}

// Before an UNINSTALL PLUGIN, which this can refuse: somebody may be reading a table.
int check_uninstall(MYSQL_PLUGIN /*plugin*/) { return remove_tables_schema() ? 0 : 1; }

int deinit(MYSQL_PLUGIN plugin) {
  remove_tables_schema();
  unregister_server_state_observer(&shutdown_observer, plugin);
  stop_plugin();
  return 0;
}

st_mysql_daemon descriptor{MYSQL_DAEMON_INTERFACE_VERSION};

}  // namespace
}  // namespace hs::mysqld

#pragma GCC visibility push(default)
mysql_declare_plugin(handlersocket){
    MYSQL_DAEMON_PLUGIN,
    &hs::mysqld::descriptor,
    "handlersocket",
    "HandlerSocket 2",
    "Reads and writes tables over the HandlerSocket protocol",
    PLUGIN_LICENSE_GPL,
    hs::mysqld::init,
    hs::mysqld::check_uninstall,
    hs::mysqld::deinit,
    0x0200,
    hs::mysqld::status_variables(),
    hs::mysqld::system_variables(),
    nullptr,  // reserved by the server
    0,
} mysql_declare_plugin_end;
#pragma GCC visibility pop
