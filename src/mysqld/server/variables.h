// How the server reads a plugin's status variables, and what it knows about settings.
//
// Only api.h includes it.
#pragma once

#include <cstdint>
#include <string_view>

namespace hs::mysqld::server {

// A variable whose number comes from value() when somebody asks for it. It keeps `name` as a
// pointer.
template <auto value>
StatusVariable make_status_variable(const char* name);
// The last entry of a list of them.
inline StatusVariable end_of_status_variables();

// Whether a setting has given this variable its value, be it the default. During the plugin's init.
inline bool was_set(const char* name);

// Where the server itself listens: its port, 0 if there is none, and the path of its Unix socket.
inline unsigned own_port() {
  if (opt_disable_networking) return 0;
  // The server looks for its default port later than it starts plugins.
  return mysqld_port != 0 ? mysqld_port : MYSQL_PORT;
}
inline std::string_view own_socket() { return mysqld_unix_port; }

}  // namespace hs::mysqld::server

#include "family_variables.h"
