#include "mysqld/plugin/plugin.h"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include "mysqld/plugin/connection_limit.h"
#include "mysqld/plugin/memory_limit.h"
#include "mysqld/plugin/ports.h"
#include "mysqld/plugin/server_check.h"
#include "mysqld/plugin/settings_check.h"
#include "mysqld/plugin/start_report.h"
#include "mysqld/plugin/status_variables.h"
#include "mysqld/plugin/system_variables.h"
#include "mysqld/plugin/worker_count.h"
#include "mysqld/server/api.h"
#include "mysqld/server/logging.h"
#include "mysqld/thread/host_thread.h"
#include "net/server.h"

namespace hs::mysqld {
namespace {

void say_that_it_listens_nowhere() {
  std::string ports;
  for (std::size_t port = 0; port < port_count; ++port) {
    if (port > 0) ports += port + 1 == port_count ? " and " : ", ";
    ports += std::string("handlersocket_") + option_info(port, PortOption::port).name + " (";
    ports.append(purpose_of(port)) += ')';
  }
  log(net::LogLevel::warning, "handlersocket: listens nowhere, because no port is set. Set " +
                                  ports + " in the server's option file, then restart the server");
}

void say_why_it_cannot_start(const std::exception& error) {
  std::array<char, 512> line;  // not a std::string, for which there may be no memory
  std::snprintf(line.data(), line.size(), "handlersocket: %s", error.what());
  log(net::LogLevel::error, line.data());
}

void say_that_it_is_off() {
  if (number_option(Option::verbose) == 0) return;
  server::log_milestone("handlersocket: listens nowhere, because handlersocket_enabled is OFF");
}

// Held by who starts or stops the plugin, or opens or closes its ports.
std::mutex life_mutex;
bool has_started = false;
std::atomic<bool> is_on = true;  // as handlersocket_enabled wants it

// Whether the ports are open. A setting that is changed before or after that is only noted.
std::mutex settings_mutex;
bool is_running = false;

void fit_settings_to_machine() {
  fit_threads_to_cores();
  fit_connections_to_descriptors(false);
  fit_requests_to_memory();
}

void begin_to_run() {
  const std::lock_guard lock(settings_mutex);
  is_running = true;
  // Some may have been changed meanwhile.
  fit_settings_to_machine();
  apply_settings();
  apply_accounts();
}

void end_running() {
  const std::lock_guard lock(settings_mutex);
  is_running = false;
}

// Ends what the threads of the ports do if that takes longer than it may, as KILL does.
class Patience {
 public:
  explicit Patience(std::chrono::milliseconds limit)
      : thread_([this, limit] {
          std::unique_lock lock(mutex_);
          if (!over_.wait_for(lock, limit, [this] { return is_over_; }))
            HostThread::interrupt_all();
        }) {}
  ~Patience() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    over_.notify_one();
    thread_.join();
  }
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;
};

constexpr std::chrono::milliseconds patience_with_requests{2000};

void stop_at_once() {
  end_running();
  HostThread::interrupt_all();
  close_ports();
}

void close_in_order() {
  end_running();
  try {
    const Patience with_requests(patience_with_requests);
    close_ports();
  } catch (const std::exception&) {  // no thread for it
    stop_at_once();
  }
}

// False if something cannot be opened, and a client is told so. Then nothing is open.
bool open_or_say_why(const StartReport& report) {
  HostThread::allow_attach();
  leave_check_to_worker(!report.has_client());
  try {
    open_ports();
    if (!report.fails_install()) {
      begin_to_run();
      say_where_ports_listen();
      warn_if_nobody_may_do_anything();
      if (report.has_client()) check_server(current_thd);
      return true;
    }
  } catch (const std::exception& error) {
    say_why_it_cannot_start(error);
  }
  stop_at_once();
  return false;
}

}  // namespace

bool start_plugin() {
  const StartReport report;
  const std::lock_guard life(life_mutex);
  is_on = switch_option(Option::enabled);
  try {
    if (!settings_can_be_meant()) return false;
    if (!listens_anywhere()) {
      say_that_it_listens_nowhere();
      has_started = true;
      return true;
    }
    name_settings_without_effect();
    fit_settings_to_machine();
    if (!is_on) say_that_it_is_off();
  } catch (const std::exception& error) {
    say_why_it_cannot_start(error);
    return false;
  }
  // After a failed init the server unloads the library without a call to deinit.
  has_started = !is_on || open_or_say_why(report);
  return has_started;
}

void stop_plugin() {
  HostThread::interrupt_all();  // so that whoever switches just now is soon done
  const std::lock_guard life(life_mutex);
  has_started = false;
  stop_at_once();
}

void switch_ports(bool on) {
  const std::lock_guard life(life_mutex);
  if (on == is_on) return;
  if (!has_started) {
    is_on = on;
  } else if (!on) {
    is_on = false;
    close_in_order();
    say_that_it_is_off();
  } else {
    const StartReport report;
    if (!listens_anywhere()) say_that_it_listens_nowhere();
    is_on = open_or_say_why(report);
  }
}

bool are_ports_on() { return is_on; }

void change_setting(bool& setting, bool value) {
  const std::lock_guard lock(settings_mutex);
  setting = value;
  if (is_running) apply_settings();
}

void change_setting(unsigned long long& number, unsigned long long value) {
  const StartReport report;
  const std::lock_guard lock(settings_mutex);
  number = value;
  fit_threads_to_cores();
  if (!is_running) return;
  try {
    fit_connections_to_descriptors(true);
    fit_requests_to_memory();
  } catch (const std::exception&) {  // no memory for the line that says what was lowered
  }
  apply_settings();
}

void change_accounts() {
  const StartReport report;
  try {
    {
      const std::lock_guard lock(settings_mutex);
      if (!is_running) return;
      apply_accounts();
    }
    warn_if_nobody_may_do_anything();
    if (report.has_client()) warn_of_missing_accounts(current_thd);
  } catch (const std::exception&) {  // no memory: they act as before
  }
}

}  // namespace hs::mysqld
