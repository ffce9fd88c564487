#include "mysqld/server/session_traces.h"

#include <cstring>

#include "mysqld/server/api.h"
#include "mysqld/server/worker_thd.h"

namespace hs::mysqld::server {

void SessionTraces::begin() {
  const auto& variables = thd_->variables;
  own_.resize(sizeof variables);
  std::memcpy(own_.data(), static_cast<const void*>(&variables), own_.size());
  of_plugins_.resize(variables.dynamic_variables_size);
  if (of_plugins_.empty()) return;
  std::memcpy(of_plugins_.data(), variables.dynamic_variables_ptr, of_plugins_.size());
}

void SessionTraces::end() {
  const auto& variables = thd_->variables;
  // If more plugins have variables by now, the first part of the plugins' variables is unchanged.
  const bool are_variables_as_before =
      std::memcmp(own_.data(), static_cast<const void*>(&variables), own_.size()) == 0 &&
      (of_plugins_.empty() ||
       std::memcmp(of_plugins_.data(), variables.dynamic_variables_ptr, of_plugins_.size()) == 0);
  any_ = any_ || !are_variables_as_before || has_session_objects(thd_);
}

}  // namespace hs::mysqld::server
