// MariaDB's error log, and the client of its INSTALL PLUGIN.
#include "mysqld/server/logging.h"

#include "mysqld/server/api.h"

namespace hs::mysqld::server {

// MariaDB's log does not say which plugin has written a line.
void begin_logging(void* /*plugin*/) {}

void log_information(const std::string& line) { sql_print_information("%s", line.c_str()); }
void log_warning(const std::string& line) { sql_print_warning("%s", line.c_str()); }
void log_error(const std::string& line) { sql_print_error("%s", line.c_str()); }
void log_milestone(const std::string& line) { log_information(line); }

bool is_install_by_client() { return current_thd != nullptr && mysqld_server_started; }

void tell_client_warning(const std::string& line) {
  push_warning(current_thd, Sql_condition::WARN_LEVEL_WARN, ER_UNKNOWN_ERROR, line.c_str());
}
void tell_client_error(const std::string& line) {
  my_printf_error(ER_UNKNOWN_ERROR, "%s", MYF(0), line.c_str());
}

}  // namespace hs::mysqld::server
