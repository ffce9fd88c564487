// How the server reads a plugin's status variables, and what it knows about settings.
//
// Only api.h includes it. The families' halves also define flags_of_number: the type of a number
// among the system variables, which lets the server correct a negative one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string_view>

namespace hs::mysqld::server {

// A variable whose number comes from value() when somebody asks for it. It keeps `name` as a
// pointer.
template <auto value>
StatusVariable make_status_variable(const char* name);
// The last entry of a list of them.
inline StatusVariable end_of_status_variables();

// What the update function of a text variable does with the new value. The server owns `text`.
inline void replace_text(char*& text, const char* value);

// Whether a setting has given this variable its value, be it the default. During the plugin's init.
inline bool was_set(const char* name);

// What a variable of the server says that is ON or OFF; nothing if there is none of this name. When
// the server has started, by a thread that does not hold the lock on all settings.
inline std::optional<bool> global_switch(THD* thd, const char* name);

// SET GLOBAL holds a lock on all settings while it calls the update function of one, and every new
// session needs that lock. As long as this exists, that function has given it back.
class SettingsUnlocked {
 public:
  SettingsUnlocked() { mysql_mutex_unlock(&LOCK_global_system_variables); }
  ~SettingsUnlocked() { mysql_mutex_lock(&LOCK_global_system_variables); }
  SettingsUnlocked(const SettingsUnlocked&) = delete;
  SettingsUnlocked& operator=(const SettingsUnlocked&) = delete;
};

// Where the server itself listens: its port, 0 if there is none, and the path of its Unix socket.
inline unsigned own_port() {
  if (opt_disable_networking) return 0;
  // The server looks for its default port later than it starts plugins.
  return mysqld_port != 0 ? mysqld_port : MYSQL_PORT;
}
inline std::string_view own_socket() { return mysqld_unix_port; }
// Which release it is, and for how many seconds it has been there.
inline std::string_view own_version() { return ::server_version; }
inline std::uint64_t own_uptime() {
  return static_cast<std::uint64_t>(std::max<time_t>(::time(nullptr) - server_start_time, 0));
}

}  // namespace hs::mysqld::server

#include "family_variables.h"
