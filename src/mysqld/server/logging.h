// Lines in the server's error log, and what the client of INSTALL PLUGIN or SET GLOBAL is told.
//
// The log is for any thread, from the beginning of the plugin's init to the end of its deinit. The
// client is for the thread of its statement, as long as that takes. Nothing here allocates, because a line may
// say that there is no memory.
#pragma once

#include <string_view>

// They are hidden, so that the linker refuses a family that leaves one of them undefined.
#pragma GCC visibility push(hidden)

namespace hs::mysqld::server {

// Called first, with what the server has given to the plugin's init.
void begin_logging(void* plugin);

void log_information(std::string_view line);
void log_warning(std::string_view line);
void log_error(std::string_view line);
// As information, but also where a server by default leaves information out. For what everybody
// wants to know about a start.
void log_milestone(std::string_view line);

// Whether the thread executes a client's statement. False while the server starts, which then loads
// the plugin by itself.
bool is_install_by_client();
// Only if there is such a client. After an error the statement has to fail.
void tell_client_warning(std::string_view line);
void tell_client_error(std::string_view line);

}  // namespace hs::mysqld::server

#pragma GCC visibility pop
