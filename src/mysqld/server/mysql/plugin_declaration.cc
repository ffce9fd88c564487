// What MySQL looks for in the library, and its error log.
#include <mysql/service_my_plugin_log.h>

#include "mysqld/plugin.h"
#include "mysqld/server/logging.h"
#include "mysqld/server_api.h"
#include "mysqld/status_variables.h"
#include "mysqld/system_variables.h"

namespace hs::mysqld {
namespace {

MYSQL_PLUGIN plugin_handle = nullptr;  // the server's name for us, in its log

void log(plugin_log_level level, const std::string& line) {
  my_plugin_log_message(&plugin_handle, level, "%s", line.c_str());
}

// A shutdown gives sessions two seconds where there are any, workers too: they go before it looks.
int before_shutdown(Server_state_param* /*param*/) {
  stop_plugin();
  return 0;
}

int ignore_state(Server_state_param* /*param*/) { return 0; }

Server_state_observer shutdown_observer{
    sizeof(Server_state_observer),
    ignore_state,     // before the first connection
    ignore_state,     // before the engines recover
    ignore_state,     // after they have
    ignore_state,     // after everything has
    before_shutdown,  //
    ignore_state,     // after a shutdown
    ignore_state,     // after an upgrade
};

int init(MYSQL_PLUGIN plugin) {
  plugin_handle = plugin;
  if (!start_plugin()) return 1;
  if (register_server_state_observer(&shutdown_observer, plugin) == 0) return 0;
  stop_plugin();
  return 1;
}

int deinit(MYSQL_PLUGIN plugin) {
  unregister_server_state_observer(&shutdown_observer, plugin);
  stop_plugin();
  return 0;
}

st_mysql_daemon descriptor{MYSQL_DAEMON_INTERFACE_VERSION};

}  // namespace

namespace server {

void log_information(const std::string& line) { log(MY_INFORMATION_LEVEL, line); }
void log_warning(const std::string& line) { log(MY_WARNING_LEVEL, line); }
void log_error(const std::string& line) { log(MY_ERROR_LEVEL, line); }

}  // namespace server
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
    nullptr,  // nothing to do before an uninstall
    hs::mysqld::deinit,
    0x0200,
    hs::mysqld::status_variables(),
    hs::mysqld::system_variables(),
    nullptr,  // reserved by the server
    0,
} mysql_declare_plugin_end;
#pragma GCC visibility pop
