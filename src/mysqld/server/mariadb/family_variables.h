// MariaDB's half of server/variables.h.
#pragma once

namespace hs::mysqld::server {

template <auto value>
StatusVariable make_status_variable(const char* name) {
  const mysql_show_var_func show = [](MYSQL_THD /*thd*/, st_mysql_show_var* variable, void* buffer,
                                      system_status_var* /*status*/, enum_var_type /*scope*/) {
    *static_cast<unsigned long long*>(buffer) = value();
    variable->type = SHOW_ULONGLONG;
    variable->value = static_cast<char*>(buffer);
    return 0;
  };
  return {name, reinterpret_cast<void*>(show), SHOW_FUNC};
}

// To a negative number for an unsigned variable MariaDB says that it is none, and starts without the
// plugin.
inline constexpr int flags_of_number = PLUGIN_VAR_LONGLONG;

// The function has to copy the value and to free the old one.
inline void replace_text(char*& text, const char* value) {
  char* const copy = my_strdup(PSI_NOT_INSTRUMENTED, value == nullptr ? "" : value, MYF(0));
  if (copy == nullptr) return my_error(ER_OUT_OF_RESOURCES, MYF(0));
  my_free(std::exchange(text, copy));
}

inline bool was_set(const char* name) {
  mysql_prlock_rdlock(&LOCK_system_variables_hash);
  const sys_var* const variable = intern_find_sys_var(name, std::strlen(name));
  const bool set = variable != nullptr && variable->value_origin != sys_var::COMPILE_TIME;
  mysql_prlock_unlock(&LOCK_system_variables_hash);
  return set;
}

inline std::optional<bool> global_switch(THD* thd, const char* name) {
  mysql_prlock_rdlock(&LOCK_system_variables_hash);
  sys_var* const variable = intern_find_sys_var(name, std::strlen(name));
  bool is_null = false;
  std::optional<bool> on;
  if (variable != nullptr) on = variable->val_int(&is_null, thd, OPT_GLOBAL, &null_clex_str) != 0;
  mysql_prlock_unlock(&LOCK_system_variables_hash);
  return on;
}

inline StatusVariable end_of_status_variables() { return {nullptr, nullptr, SHOW_UNDEF}; }

}  // namespace hs::mysqld::server
