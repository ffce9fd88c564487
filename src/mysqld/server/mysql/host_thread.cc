#include "mysqld/host_thread.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <mutex>
#include <string_view>
#include <vector>

#include "mysqld/server_api.h"

namespace hs::mysqld {
namespace {

// Workers, for interrupt_all(). A worker leaves the list before its THD goes.
std::mutex attached_mutex;
std::vector<THD*> attached;
std::atomic<bool> attach_allowed{true};

// Marks the THD as the server's own, so that SHOW PROCESSLIST shows it though it has no connection.
// The server has no name for plugins' threads.
constexpr auto plugin_thread = static_cast<enum_thread_type>(1U << 30);

bool wait_until_server_has_started() {
  mysql_mutex_lock(&LOCK_server_started);
  while (!mysqld_server_started && !connection_events_loop_aborted() && attach_allowed) {
    timespec deadline;
    set_timespec_nsec(&deadline, 100'000'000ULL);
    mysql_cond_timedwait(&COND_server_started, &LOCK_server_started, &deadline);
  }
  const bool started = mysqld_server_started;
  mysql_mutex_unlock(&LOCK_server_started);
  return started && !connection_events_loop_aborted() && attach_allowed;
}

void kill(THD* thd) {
  mysql_mutex_lock(&thd->LOCK_thd_data);
  thd->awake(THD::KILL_CONNECTION);
  mysql_mutex_unlock(&thd->LOCK_thd_data);
}

}  // namespace

std::unique_ptr<HostThread> HostThread::attach(const HostThreadConfig& config) {
  if (!wait_until_server_has_started() || my_thread_init()) return nullptr;
  std::unique_ptr<HostThread> host(new HostThread);
  host->config_ = config;
  // Not a background thread: one of those that is destroyed in deinit trips over an assertion of InnoDB's.
  THD* const thd = create_thd(false, false, true, PSI_NOT_INSTRUMENTED, 0);
  host->thd_ = thd;
  thd_set_thread_stack(thd, reinterpret_cast<char*>(&host));
  thd->system_thread = plugin_thread;
  // Never set without a connection, but shown for one.
  thd->get_protocol_classic()->get_net()->reading_or_writing = 0;
  thd->store_cached_properties(THD::cached_properties::RW_STATUS);
  constexpr std::string_view user = "handlersocket";
  thd->security_context()->skip_grants();
  thd->security_context()->assign_user(user.data(), user.size());
  host->show_idle();
  lex_start(thd);
  // Readers share one snapshot a pass and lock nothing; SERIALIZABLE would make
  // finds on the write port lock.
  thd->variables.transaction_isolation = ISO_REPEATABLE_READ;
  thd->tx_isolation = ISO_REPEATABLE_READ;
  thd->variables.binlog_format = BINLOG_FORMAT_ROW;
  if (opt_bin_log) thd->variables.option_bits |= OPTION_BIN_LOG;
  // Another session's metadata lock is met by asking again, not by waiting: a
  // worker serves many tables and must not stand still for one. SQL cannot set 0, but the
  // server knows what it means: try, and fail with a time-out at once.
  thd->variables.lock_wait_timeout = 0;
  host->set_session_variable("innodb_lock_wait_timeout", config.lock_wait_timeout_s);
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
  lex_end(thd_->lex);
  destroy_thd(thd_, false);
  my_thread_end();
}

bool HostThread::set_session_variable(const char* name, long long value) {
  Item* const item = new (thd_->mem_root) Item_int(value);
  set_var assignment(OPT_SESSION, System_variable_tracker::make_tracker(name), item);
  const bool done =
      assignment.resolve(thd_) == 0 && assignment.check(thd_) == 0 && assignment.update(thd_) == 0;
  thd_->clear_error();
  thd_->free_items();
  server::free_memory(thd_);
  return done;
}

bool HostThread::must_leave() const { return connection_events_loop_aborted(); }

bool HostThread::killed() const { return server::is_killed(thd_); }

void HostThread::forgive() {
  // A worker that is to go must not fall back into a wait.
  if (must_leave() || !attach_allowed) return;
  thd_->killed = THD::NOT_KILLED;
}

void HostThread::show_state(const char* state) {
  thd_->set_command(COM_QUERY);
  thd_->set_proc_info(state);
}

void HostThread::show_idle() {
  thd_->set_command(COM_SLEEP);
  thd_->set_proc_info("handlersocket: waiting for requests");
}

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
  for (THD* thd : attached) kill(thd);
}

void HostThread::allow_attach() { attach_allowed = true; }

}  // namespace hs::mysqld
