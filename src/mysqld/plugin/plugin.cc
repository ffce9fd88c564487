#include "mysqld/plugin/plugin.h"

#include <array>
#include <cstdio>
#include <exception>
#include <mutex>
#include <string>

#include "mysqld/plugin/connection_limit.h"
#include "mysqld/plugin/memory_limit.h"
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

// Whether the ports are open. A setting that is changed before or after that is only noted.
std::mutex settings_mutex;
bool is_running = false;

void begin_to_run() {
  const std::lock_guard lock(settings_mutex);
  is_running = true;
  // Some may have been changed meanwhile.
  apply_settings();
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
    if (!report.fails_install()) {
      begin_to_run();
      return true;
    }
  } catch (const std::exception& error) {
    say_why_it_cannot_start(error);
  }
  // After a failed init the server unloads the library without a call to deinit.
  stop_plugin();
  return false;
}

void change_setting(unsigned long long& number, unsigned long long value) {
  const std::lock_guard lock(settings_mutex);
  number = value;
  if (!is_running) return;
  try {
    fit_connections_to_descriptors();
    fit_requests_to_memory();
  } catch (const std::exception&) {  // no memory for the line that says what was lowered
  }
  apply_settings();
}

void stop_plugin() {
  {
    const std::lock_guard lock(settings_mutex);
    is_running = false;
  }
  HostThread::interrupt_all();
  close_ports();
}

}  // namespace hs::mysqld
