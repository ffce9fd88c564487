// Lines in the server's error log.
//
// Any thread, once the plugin's init has begun and until its deinit has ended.
#pragma once

#include <string>

namespace hs::mysqld::server {

void log_information(const std::string& line);
void log_warning(const std::string& line);
void log_error(const std::string& line);

}  // namespace hs::mysqld::server
