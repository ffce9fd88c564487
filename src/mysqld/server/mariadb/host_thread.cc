#include "mysqld/host_thread.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstring>
#include <mutex>
#include <vector>

#include "mysqld/server_api.h"

namespace hs::mysqld {
namespace {

// Workers, for interrupt_all(). A worker leaves the list before its THD goes.
std::mutex attached_mutex;
std::vector<THD*> attached;
std::atomic<bool> attach_allowed{true};

// Marks the THD as the server's own, so that no rule for clients applies to it
// (an idle time-out, for one). The server has no name for plugins' threads.
constexpr auto plugin_thread = static_cast<enum_thread_type>(1U << 30);

bool wait_until_server_has_started() {
  mysql_mutex_lock(&LOCK_server_started);
  while (!mysqld_server_started && !abort_loop && attach_allowed) {
    timespec deadline;
    set_timespec_nsec(deadline, 100'000'000ULL);
    mysql_cond_timedwait(&COND_server_started, &LOCK_server_started, &deadline);
  }
  const bool started = mysqld_server_started;
  mysql_mutex_unlock(&LOCK_server_started);
  return started && !abort_loop && attach_allowed;
}

}  // namespace

std::unique_ptr<HostThread> HostThread::attach(const HostThreadConfig& config) {
  if (!wait_until_server_has_started() || my_thread_init()) return nullptr;
  std::unique_ptr<HostThread> host(new HostThread);
  host->config_ = config;
  auto* thd = new THD(next_thread_id());
  host->thd_ = thd;
  thd->thread_stack = reinterpret_cast<char*>(&thd);
  thd->store_globals();
  thd->system_thread = plugin_thread;
  thd->security_ctx->skip_grants();
  thd->security_ctx->user = my_strdup(PSI_NOT_INSTRUMENTED, "handlersocket", MYF(0));
  thd->security_ctx->host_or_ip = "";
  host->show_idle();
  lex_start(thd);
  thd->init_for_queries();
  // Readers share one snapshot a pass and lock nothing; SERIALIZABLE would make
  // finds on the write port lock.
  thd->variables.tx_isolation = ISO_REPEATABLE_READ;
  thd->tx_isolation = ISO_REPEATABLE_READ;
  thd->variables.binlog_format = BINLOG_FORMAT_ROW;
  if (opt_bin_log) thd->variables.option_bits |= OPTION_BIN_LOG;
  // Another session's metadata lock is met by asking again, not by waiting: a
  // worker serves many tables and must not stand still for one.
  thd->variables.lock_wait_timeout = 0;
  host->set_session_variable("innodb_lock_wait_timeout", config.lock_wait_timeout_s);
  server_threads.insert(thd);
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
  server_threads.erase(thd_);
  lex_end(thd_->lex);
  delete thd_;
  my_thread_end();
}

bool HostThread::set_session_variable(const char* name, long long value) {
  const LEX_CSTRING variable_name{name, std::strlen(name)};
  sys_var* variable = find_sys_var(thd_, name, variable_name.length, false);
  if (variable == nullptr) {
    thd_->clear_error();
    return false;
  }
  auto* item = new (thd_->mem_root) Item_int(thd_, value);
  set_var assignment(thd_, OPT_SESSION, variable, &null_clex_str, item);
  const bool done = assignment.check(thd_) == 0 && assignment.update(thd_) == 0;
  thd_->clear_error();
  thd_->free_items();
  free_root(thd_->mem_root, MYF(MY_KEEP_PREALLOC));
  return done;
}

bool HostThread::must_leave() const {
  return abort_loop || killed_mask_hard(thd_->killed) == KILL_SERVER;
}

bool HostThread::killed() const { return thd_->killed != NOT_KILLED; }

void HostThread::forgive() {
  // A worker that is to go must not fall back into a wait.
  if (must_leave() || !attach_allowed) return;
  thd_->reset_killed();
  thd_->mysys_var->abort = 0;
}

// Never COM_DAEMON: KILL does not know such threads.
void HostThread::show_state(const char* state) {
  thd_->set_command(COM_QUERY);
  thd_proc_info(thd_, state);
}

void HostThread::show_idle() {
  thd_->set_command(COM_SLEEP);
  thd_proc_info(thd_, "handlersocket: waiting for requests");
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
  for (THD* thd : attached) thd->awake(KILL_CONNECTION);
}

void HostThread::allow_attach() { attach_allowed = true; }

}  // namespace hs::mysqld
