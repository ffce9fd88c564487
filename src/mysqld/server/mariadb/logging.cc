// MariaDB's error log, and the client of its INSTALL PLUGIN.
#include "mysqld/server/logging.h"

#include "mysqld/server/api.h"

namespace hs::mysqld::server {

// MariaDB's log does not say which plugin has written a line.
void begin_logging(void* /*plugin*/) {}

void log_information(std::string_view line) {
  sql_print_information("%.*s", static_cast<int>(line.size()), line.data());
}
void log_warning(std::string_view line) {
  sql_print_warning("%.*s", static_cast<int>(line.size()), line.data());
}
void log_error(std::string_view line) {
  sql_print_error("%.*s", static_cast<int>(line.size()), line.data());
}
void log_milestone(std::string_view line) { log_information(line); }

bool is_install_by_client() { return current_thd != nullptr && mysqld_server_started; }

void tell_client_warning(std::string_view line) {
  push_warning_printf(current_thd, Sql_condition::WARN_LEVEL_WARN, ER_UNKNOWN_ERROR, "%.*s",
                      static_cast<int>(line.size()), line.data());
}
void tell_client_error(std::string_view line) {
  my_printf_error(ER_UNKNOWN_ERROR, "%.*s", MYF(0), static_cast<int>(line.size()), line.data());
}

}  // namespace hs::mysqld::server
