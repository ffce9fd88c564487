// MySQL's error log, and the client of its INSTALL PLUGIN.
#include "mysqld/server/logging.h"

#include <mysql/service_my_plugin_log.h>

#include "mysqld/server/api.h"

namespace hs::mysqld::server {
namespace {

MYSQL_PLUGIN plugin_handle = nullptr;  // identifies this plugin in the server's log

void log(plugin_log_level level, std::string_view line) {
  my_plugin_log_message(&plugin_handle, level, "%.*s", static_cast<int>(line.size()), line.data());
}

}  // namespace

void begin_logging(void* plugin) { plugin_handle = plugin; }

void log_information(std::string_view line) { log(MY_INFORMATION_LEVEL, line); }
void log_warning(std::string_view line) { log(MY_WARNING_LEVEL, line); }
void log_error(std::string_view line) { log(MY_ERROR_LEVEL, line); }
// A plugin's log has no such level. The line has the form of the plugin's other lines.
void log_milestone(std::string_view line) {
  log_message(LOG_TYPE_ERROR, LOG_ITEM_LOG_PRIO, static_cast<longlong>(SYSTEM_LEVEL),
              LOG_ITEM_LOG_MESSAGE, "Plugin handlersocket reported: '%.*s'",
              static_cast<int>(line.size()), line.data());
}

bool is_install_by_client() { return current_thd != nullptr && mysqld_server_started; }

void tell_client_warning(std::string_view line) {
  push_warning_printf(current_thd, Sql_condition::SL_WARNING, ER_UNKNOWN_ERROR, "%.*s",
                      static_cast<int>(line.size()), line.data());
}
void tell_client_error(std::string_view line) {
  my_printf_error(ER_UNKNOWN_ERROR, "%.*s", MYF(0), static_cast<int>(line.size()), line.data());
}

}  // namespace hs::mysqld::server
