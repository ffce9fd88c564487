// MySQL's error log, and the client of its INSTALL PLUGIN.
#include "mysqld/server/logging.h"

#include <mysql/service_my_plugin_log.h>

#include "mysqld/server/api.h"

namespace hs::mysqld::server {
namespace {

MYSQL_PLUGIN plugin_handle = nullptr;  // identifies this plugin in the server's log

void log(plugin_log_level level, const std::string& line) {
  my_plugin_log_message(&plugin_handle, level, "%s", line.c_str());
}

}  // namespace

void begin_logging(void* plugin) { plugin_handle = plugin; }

void log_information(const std::string& line) { log(MY_INFORMATION_LEVEL, line); }
void log_warning(const std::string& line) { log(MY_WARNING_LEVEL, line); }
void log_error(const std::string& line) { log(MY_ERROR_LEVEL, line); }
// A plugin's log has no such level. The line has the form of the plugin's other lines.
void log_milestone(const std::string& line) {
  log_message(LOG_TYPE_ERROR, LOG_ITEM_LOG_PRIO, static_cast<longlong>(SYSTEM_LEVEL),
              LOG_ITEM_LOG_MESSAGE, "Plugin handlersocket reported: '%s'", line.c_str());
}

bool is_install_by_client() { return current_thd != nullptr && mysqld_server_started; }

void tell_client_warning(const std::string& line) {
  push_warning(current_thd, Sql_condition::SL_WARNING, ER_UNKNOWN_ERROR, line.c_str());
}
void tell_client_error(const std::string& line) {
  my_printf_error(ER_UNKNOWN_ERROR, "%s", MYF(0), line.c_str());
}

}  // namespace hs::mysqld::server
