// MySQL's half of server/variables.h.
#pragma once

namespace hs::mysqld::server {

template <auto value>
StatusVariable make_status_variable(const char* name) {
  const mysql_show_var_func show = [](MYSQL_THD /*thd*/, SHOW_VAR* variable, char* buffer) {
    const unsigned long long number = value();
    std::memcpy(buffer, &number, sizeof number);
    variable->type = SHOW_LONGLONG;
    variable->value = buffer;
    return 0;
  };
  return {name, reinterpret_cast<char*>(show), SHOW_FUNC, SHOW_SCOPE_GLOBAL};
}

// A number of 64 bits is corrected, too.
inline constexpr int flags_of_number = PLUGIN_VAR_LONGLONG | PLUGIN_VAR_UNSIGNED;

// The server has copied the value, and frees the old one behind the function.
inline void replace_text(char*& text, const char* value) { text = const_cast<char*>(value); }

inline bool was_set(const char* name) {
  mysql_rwlock_rdlock(&LOCK_system_variables_hash);
  sys_var* const variable = intern_find_sys_var(name, std::strlen(name));
  const bool set = variable != nullptr && variable->get_source() != enum_variable_source::COMPILED;
  mysql_rwlock_unlock(&LOCK_system_variables_hash);
  return set;
}

inline std::optional<bool> global_switch(THD* thd, const char* name) {
  mysql_rwlock_rdlock(&LOCK_system_variables_hash);
  sys_var* const variable = intern_find_sys_var(name, std::strlen(name));
  std::optional<bool> on;
  if (variable != nullptr && variable->show_type() == SHOW_MY_BOOL)
    on = *reinterpret_cast<const bool*>(variable->value_ptr(thd, OPT_GLOBAL, {}));
  mysql_rwlock_unlock(&LOCK_system_variables_hash);
  return on;
}

inline StatusVariable end_of_status_variables() {
  return {nullptr, nullptr, SHOW_UNDEF, SHOW_SCOPE_UNDEF};
}

}  // namespace hs::mysqld::server
