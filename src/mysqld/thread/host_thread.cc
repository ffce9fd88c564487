#include "mysqld/thread/host_thread.h"

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "mysqld/server/api.h"
#include "mysqld/server/table_opening.h"
#include "mysqld/server/worker_thd.h"

namespace hs::mysqld {
namespace {

constexpr std::uint32_t row_wait_of_streamer_s = 1;

// All workers, for interrupt_all(). A worker leaves the list before its THD is destroyed.
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
  if (!wait_until_server_has_started()) return nullptr;
  if (my_thread_init()) throw std::runtime_error("the server has no memory for its thread");
  std::unique_ptr<HostThread> host(new HostThread);
  host->config_ = config;
  host->instrumented_.emplace(server::InstrumentedThread::Kind::worker);
  THD* const thd = server::make_worker_thd();
  host->thd_ = thd;
  host->instrumented_->take(thd);
  host->show_idle();
  host->set_up_session();
  if (config.watch != nullptr) host->place_.emplace(*config.watch, thd);
  {
    const std::lock_guard lock(attached_mutex);
    // interrupt_all() may have come since the wait for the server: it has not met this thread.
    if (attach_allowed) {
      attached.push_back(thd);
      return host;
    }
  }
  return nullptr;
}

void HostThread::set_up_session() {
  server::read_repeatably(thd_);
  thd_->variables.binlog_format = BINLOG_FORMAT_ROW;
  if (opt_bin_log) thd_->variables.option_bits |= OPTION_BIN_LOG;
  // If another session holds a metadata lock, the worker asks again later and does not wait: it
  // serves many tables and must not stop for one. SET does not accept 0 in some servers, but every
  // server knows what it means: try once, and time out at once.
  thd_->variables.lock_wait_timeout = 0;
  // MariaDB: a write of a row that was changed behind the snapshot would roll the whole pass back.
  // Such a write is one statement, and sees the row as it is.
  server::set_session_variable(thd_, "innodb_snapshot_isolation", 0);
  wait_for_rows(false);
  // To an audit plugin, a variable that the server does not know is an error of this thread. The
  // plugin must be able to go, and must not wait for the first pass.
  server::release_audit_plugins(thd_);
}

void HostThread::reset_session() {
  // The reset forgets a kill. interrupt_all() kills the THD either before this check, or after the
  // reset is over.
  const std::lock_guard lock(attached_mutex);
  if (must_leave() || !attach_allowed) return;
  server::reset_session(thd_);
  set_up_session();
  refresh_variables();
}

HostThread::~HostThread() {
  place_.reset();
  if (thd_ != nullptr) {
    {
      const std::lock_guard lock(attached_mutex);
      std::erase(attached, thd_);  // it is not there if there was no memory to attach it
    }
    server::destroy_worker_thd(thd_);
  }
  instrumented_.reset();
  my_thread_end();
}

bool HostThread::must_leave() const { return server::must_leave(thd_); }

bool HostThread::killed() const { return server::is_killed(thd_); }

void HostThread::forgive() {
  // A worker that has to leave must not wait again. interrupt_all() kills the THD either before
  // this check, or after the old kill is forgotten.
  const std::lock_guard lock(attached_mutex);
  if (must_leave() || !attach_allowed) return;
  server::forget_kill(thd_);
}

void HostThread::wait_for_rows(bool to_the_end) {
  const std::uint32_t at_once =
      config_.waits_for_rows ? row_wait_of_streamer_s : server::shortest_row_wait_s();
  server::set_session_variable(thd_, "innodb_lock_wait_timeout",
                               to_the_end ? config_.lock_wait_timeout_s->get() : at_once);
}

void HostThread::show_state(const char* state) { server::show(thd_, true, state); }

// A KILL was for the work that is over now. The thread would be shown as killed until it works again.
void HostThread::show_idle() {
  if (killed()) [[unlikely]]
    forgive();
  server::show(thd_, false, config_.idle_state);
}

void HostThread::refresh_variables() {
  auto& mine = thd_->variables;
  const auto& global = global_system_variables;
  mine.sql_mode = global.sql_mode;
  mine.time_zone = global.time_zone;
  mine.binlog_row_image = global.binlog_row_image;
  mine.auto_increment_increment = global.auto_increment_increment;
  mine.auto_increment_offset = global.auto_increment_offset;
  server::follow_statistics(thd_);
}

void HostThread::interrupt_all() {
  const std::lock_guard lock(attached_mutex);
  attach_allowed = false;
  for (THD* thd : attached) server::kill(thd);
}

void HostThread::allow_attach() { attach_allowed = true; }

}  // namespace hs::mysqld
