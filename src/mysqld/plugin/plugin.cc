#include "mysqld/plugin/plugin.h"

#include <array>
#include <cstdio>
#include <exception>
#include <string>

#include "mysqld/plugin/connection_limit.h"
#include "mysqld/plugin/ports.h"
#include "mysqld/plugin/settings_check.h"
#include "mysqld/plugin/start_report.h"
#include "mysqld/plugin/status_variables.h"
#include "mysqld/plugin/system_variables.h"
#include "mysqld/plugin/worker_count.h"
#include "mysqld/server/logging.h"
#include "mysqld/thread/host_thread.h"
#include "net/server.h"

namespace hs::mysqld {
namespace {

// One request may take half of the memory for waiting bytes, because it exists twice while its
// buffer grows.
void fit_requests_to_memory() {
  const std::uint64_t limit = number_option(Option::max_waiting_bytes);
  const std::uint64_t wanted = number_option(Option::max_request_size);
  waiting_bytes().set_limit(limit);
  if (wanted <= limit / 2) return;
  set_number_option(Option::max_request_size, limit / 2);
  server::log_warning("handlersocket: handlersocket_max_request_size is " +
                      std::to_string(limit / 2) + " instead of " + std::to_string(wanted) +
                      ": a request may take half of handlersocket_max_waiting_bytes (" +
                      std::to_string(limit) + ")");
}

void say_that_it_listens_nowhere() {
  log(net::LogLevel::warning,
      "handlersocket: listens nowhere, because no port is set. Set handlersocket_port (reading) "
      "and "
      "handlersocket_port_wr (reading and writing) in the server's option file, then restart the "
      "server");
}

void say_why_it_cannot_start(const std::exception& error) {
  std::array<char, 512> line;  // not a std::string, for which there may be no memory
  std::snprintf(line.data(), line.size(), "handlersocket: %s", error.what());
  log(net::LogLevel::error, line.data());
}

void fit_settings_to_machine() {
  fit_threads_to_cores();
  fit_connections_to_descriptors();
  fit_requests_to_memory();
}

}  // namespace

bool start_plugin() {
  const StartReport report;
  HostThread::allow_attach();
  try {
    if (!settings_can_be_meant()) return false;
    if (!listens_anywhere()) {
      say_that_it_listens_nowhere();
      return true;
    }
    name_settings_without_effect();
    fit_settings_to_machine();
    open_ports();
    if (!report.fails_install()) return true;
  } catch (const std::exception& error) {
    say_why_it_cannot_start(error);
  }
  // After a failed init the server unloads the library without a call to deinit.
  stop_plugin();
  return false;
}

void stop_plugin() {
  HostThread::interrupt_all();
  close_ports();
}

}  // namespace hs::mysqld
