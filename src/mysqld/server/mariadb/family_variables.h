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

inline StatusVariable end_of_status_variables() { return {nullptr, nullptr, SHOW_UNDEF}; }

}  // namespace hs::mysqld::server
