#include "mysqld/server/worker_thd.h"

#include <string_view>

#include "mysqld/server/api.h"

namespace hs::mysqld::server {
namespace {

// Marks the THD as one of the server's own, so that SHOW PROCESSLIST shows it though it has no
// connection. The server has no name for the threads of plugins.
constexpr auto plugin_thread = static_cast<enum_thread_type>(1U << 30);

void awake(THD* thd, THD::killed_state state) {
  mysql_mutex_lock(&thd->LOCK_thd_data);
  thd->awake(state);
  mysql_mutex_unlock(&thd->LOCK_thd_data);
}

}  // namespace

bool is_shutting_down() { return connection_events_loop_aborted(); }

bool await_start() {
  mysql_mutex_lock(&LOCK_server_started);
  if (!mysqld_server_started) {
    timespec deadline;
    set_timespec_nsec(&deadline, 100'000'000ULL);
    mysql_cond_timedwait(&COND_server_started, &LOCK_server_started, &deadline);
  }
  const bool started = mysqld_server_started;
  mysql_mutex_unlock(&LOCK_server_started);
  return started;
}

THD* make_worker_thd() {
  // Not a background thread: if such a thread is destroyed in deinit, an assertion in InnoDB fails.
  THD* thd = create_thd(false, false, true, PSI_NOT_INSTRUMENTED, 0);
  thd_set_thread_stack(thd, reinterpret_cast<char*>(&thd));
  thd->system_thread = plugin_thread;
  // Without a connection it is never set, but SHOW PROCESSLIST reads it.
  thd->get_protocol_classic()->get_net()->reading_or_writing = 0;
  thd->store_cached_properties(THD::cached_properties::RW_STATUS);
  constexpr std::string_view user = "handlersocket";
  thd->security_context()->skip_grants();
  thd->security_context()->assign_user(user.data(), user.size());
  lex_start(thd);
  return thd;
}

void destroy_worker_thd(THD* thd) {
  lex_end(thd->lex);
  destroy_thd(thd, false);
}

bool is_own_thread() {
  const THD* const thd = current_thd;
  return thd != nullptr && thd->system_thread == plugin_thread;
}

bool has_session_objects(THD* thd) {
  return !thd->user_vars.empty() || !thd->ull_hash.empty() || thd->temporary_tables != nullptr ||
         !thd->handler_tables_hash.empty() || thd->user_time.tv_sec != 0 ||
         thd->user_time.tv_usec != 0 || thd->auto_inc_intervals_forced.nb_elements() != 0;
}

void reset_session(THD* thd) {
  thd->cleanup_connection();
  thd->clear_error();
  forget_kill(thd);
}

void read_repeatably(THD* thd) {
  thd->variables.transaction_isolation = ISO_REPEATABLE_READ;
  thd->tx_isolation = ISO_REPEATABLE_READ;
}

void set_session_variable(THD* thd, const char* name, long long value) {
  Item* const item = new (thd->mem_root) Item_int(value);
  set_var assignment(OPT_SESSION, System_variable_tracker::make_tracker(name), item);
  if (assignment.resolve(thd) == 0 && assignment.check(thd) == 0) assignment.update(thd);
  thd->clear_error();
  thd->free_items();
  free_memory(thd);
}

void follow_statistics(THD* /*thd*/) {}

void show(THD* thd, bool works, const char* state) {
  if (!works || thd->get_command() == COM_SLEEP) thd->set_time();
  thd->set_command(works ? COM_QUERY : COM_SLEEP);
  thd->set_proc_info(state);
  if (works) return;
  // What the performance schema shows of the last write and of its triggers.
  mysql_end_stage();
  PSI_THREAD_CALL(set_thread_info)(nullptr, 0);
}

bool must_leave(const THD* /*thd*/) { return connection_events_loop_aborted(); }

void kill(THD* thd) { awake(thd, THD::KILL_CONNECTION); }

void kill_statement(THD* thd) { awake(thd, THD::KILL_QUERY); }

void forget_kill(THD* thd) { thd->killed = THD::NOT_KILLED; }

}  // namespace hs::mysqld::server
