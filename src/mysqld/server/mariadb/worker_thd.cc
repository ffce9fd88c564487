#include "mysqld/server/worker_thd.h"

#include <cstring>

#include "mysqld/server/api.h"
#include "mysqld/server/cluster.h"

namespace hs::mysqld::server {
namespace {

// Marks the THD as one of the server's own, so that no rule for clients (an idle time-out, for
// example) applies to it. The server has no name for the threads of plugins.
constexpr auto plugin_thread = static_cast<enum_thread_type>(1U << 30);

// Whether a cluster's node commits the THD's transaction. The caller has locked the THD's data.
bool commits_in_cluster(const THD* thd) {
  const auto state = thd->wsrep_trx().state();
  return state == wsrep::transaction::s_preparing || state == wsrep::transaction::s_committing ||
         state == wsrep::transaction::s_ordered_commit;
}

// As KILL does: not while a cluster's node commits the transaction. The commit would lose its place
// in the order of all commits, and the node would stand still.
void kill_as(THD* thd, killed_state how) {
  mysql_mutex_lock(&thd->LOCK_thd_kill);
  mysql_mutex_lock(&thd->LOCK_thd_data);
  if (!commits_in_cluster(thd)) thd->awake_no_mutex(how);
  mysql_mutex_unlock(&thd->LOCK_thd_data);
  mysql_mutex_unlock(&thd->LOCK_thd_kill);
}

}  // namespace

bool is_shutting_down() { return abort_loop; }

bool await_start() {
  mysql_mutex_lock(&LOCK_server_started);
  if (!mysqld_server_started) {
    timespec deadline;
    set_timespec_nsec(deadline, 100'000'000ULL);
    mysql_cond_timedwait(&COND_server_started, &LOCK_server_started, &deadline);
  }
  const bool started = mysqld_server_started;
  mysql_mutex_unlock(&LOCK_server_started);
  return started;
}

THD* make_worker_thd() {
  auto* thd = new THD(next_thread_id());
  thd->thread_stack = reinterpret_cast<char*>(&thd);
  thd->store_globals();
  thd->system_thread = plugin_thread;
  thd->security_ctx->skip_grants();
  thd->security_ctx->user = my_strdup(PSI_NOT_INSTRUMENTED, "handlersocket", MYF(0));
  thd->security_ctx->host_or_ip = "";
  lex_start(thd);
  thd->init_for_queries();
  server_threads.insert(thd);
  return thd;
}

void destroy_worker_thd(THD* thd) {
  forget_cluster(thd);
  server_threads.erase(thd);
  lex_end(thd->lex);
  delete thd;
}

bool is_own_thread() {
  const THD* const thd = current_thd;
  return thd != nullptr && thd->system_thread == plugin_thread;
}

bool has_session_objects(THD* thd) {
  return thd->user_vars.records != 0 || thd->ull_hash.records != 0 ||
         thd->has_thd_temporary_tables() || thd->handler_tables_hash.records != 0 ||
         thd->user_time.val != 0 || thd->auto_inc_intervals_forced.nb_elements() != 0;
}

void reset_session(THD* thd) {
  forget_cluster(thd);
  thd->change_user();
  thd->clear_error();
  forget_kill(thd);
}

void read_repeatably(THD* thd) {
  thd->variables.tx_isolation = ISO_REPEATABLE_READ;
  thd->tx_isolation = ISO_REPEATABLE_READ;
}

void set_session_variable(THD* thd, const char* name, long long value) {
  if (sys_var* variable = find_sys_var(thd, name, std::strlen(name), false)) {
    auto* item = new (thd->mem_root) Item_int(thd, value);
    set_var assignment(thd, OPT_SESSION, variable, &null_clex_str, item);
    if (assignment.check(thd) == 0) assignment.update(thd);
  }
  thd->clear_error();
  thd->free_items();
  free_memory(thd);
}

// userstat: when the THD gives back a table, its rows are added to table_statistics.
void follow_statistics(THD* thd) { thd->userstat_running = opt_userstat_running; }

void show(THD* thd, bool works, const char* state) {
  if (!works || thd->get_command() == COM_SLEEP) thd->set_time();
  // Never COM_DAEMON, because KILL does not find such threads.
  thd->set_command(works ? COM_QUERY : COM_SLEEP);
  thd_proc_info(thd, state);
}

bool must_leave(const THD* thd) {
  return abort_loop || killed_mask_hard(thd->killed) == KILL_SERVER;
}

// As KILL does if it does not say SOFT: some waits do not notice a soft one.
void kill(THD* thd) { kill_as(thd, KILL_CONNECTION_HARD); }

// The same of KILL QUERY.
void kill_statement(THD* thd) { kill_as(thd, KILL_QUERY_HARD); }

void forget_kill(THD* thd) {
  thd->reset_killed();
  thd->mysys_var->abort = 0;
}

}  // namespace hs::mysqld::server
