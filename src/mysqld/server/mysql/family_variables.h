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

inline StatusVariable end_of_status_variables() {
  return {nullptr, nullptr, SHOW_UNDEF, SHOW_SCOPE_UNDEF};
}

}  // namespace hs::mysqld::server
