#include "mysqld/plugin/memory_limit.h"

#include <cstdint>
#include <string>

#include "mysqld/plugin/start_report.h"
#include "mysqld/plugin/status_variables.h"
#include "mysqld/plugin/system_variables.h"
#include "net/waiting_bytes.h"

namespace hs::mysqld {

// One request may take half of the memory for waiting bytes, because it exists twice while its
// buffer grows.
void fit_requests_to_memory() {
  const std::uint64_t limit = number_option(Option::max_waiting_bytes);
  const std::uint64_t wanted = number_option(Option::max_request_size);
  waiting_bytes().set_limit(limit);
  if (wanted <= limit / 2) return;
  set_number_option(Option::max_request_size, limit / 2);
  log(net::LogLevel::warning, "handlersocket: handlersocket_max_request_size is " +
                                  std::to_string(limit / 2) + " instead of " +
                                  std::to_string(wanted) +
                                  ": a request may take half of handlersocket_max_waiting_bytes (" +
                                  std::to_string(limit) + ")");
}

}  // namespace hs::mysqld
