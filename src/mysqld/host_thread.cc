#include "mysqld/host_thread.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "mysqld/server/worker_thd.h"
#include "mysqld/server_api.h"

namespace hs::mysqld {
namespace {

// Workers, for interrupt_all(). A worker leaves the list before its THD goes.
std::mutex attached_mutex;
std::vector<THD*> attached;
std::atomic<bool> attach_allowed{true};

bool may_attach() { return attach_allowed && !server::is_shutting_down(); }

bool wait_until_server_has_started() {
  while (may_attach()) {
    if (server::await_start()) return may_attach();
  }
  return false;
}

}  // namespace

std::unique_ptr<HostThread> HostThread::attach(const HostThreadConfig& config) {
  if (!wait_until_server_has_started() || my_thread_init()) return nullptr;
  std::unique_ptr<HostThread> host(new HostThread);
  host->config_ = config;
  THD* const thd = server::make_worker_thd();
  host->thd_ = thd;
  host->show_idle();
  server::read_repeatably(thd);
  thd->variables.binlog_format = BINLOG_FORMAT_ROW;
  if (opt_bin_log) thd->variables.option_bits |= OPTION_BIN_LOG;
  // Another session's metadata lock is met by asking again, not by waiting: a worker serves many
  // tables and must not stand still for one. SET of some servers refuses 0, but each knows what it
  // means: try, and fail with a time-out at once.
  thd->variables.lock_wait_timeout = 0;
  server::set_session_variable(thd, "innodb_lock_wait_timeout", config.lock_wait_timeout_s);
  const std::lock_guard lock(attached_mutex);
  attached.push_back(thd);
  return host;
}

HostThread::~HostThread() {
  if (thd_ == nullptr) return;
  {
    const std::lock_guard lock(attached_mutex);
    attached.erase(std::find(attached.begin(), attached.end(), thd_));
  }
  server::destroy_worker_thd(thd_);
  my_thread_end();
}

bool HostThread::must_leave() const { return server::must_leave(thd_); }

bool HostThread::killed() const { return server::is_killed(thd_); }

void HostThread::forgive() {
  // A worker that is to go must not fall back into a wait.
  if (must_leave() || !attach_allowed) return;
  server::forget_kill(thd_);
}

void HostThread::show_state(const char* state) { server::show(thd_, true, state); }

void HostThread::show_idle() { server::show(thd_, false, "handlersocket: waiting for requests"); }

void HostThread::refresh_variables() {
  auto& mine = thd_->variables;
  const auto& global = global_system_variables;
  mine.sql_mode = global.sql_mode;
  mine.time_zone = global.time_zone;
  mine.binlog_row_image = global.binlog_row_image;
  mine.auto_increment_increment = global.auto_increment_increment;
  mine.auto_increment_offset = global.auto_increment_offset;
}

void HostThread::interrupt_all() {
  attach_allowed = false;
  const std::lock_guard lock(attached_mutex);
  for (THD* thd : attached) server::kill(thd);
}

void HostThread::allow_attach() { attach_allowed = true; }

}  // namespace hs::mysqld
