#include "mysqld/server/cluster.h"

#include "mysqld/server/api.h"
#include "mysqld/server/errors.h"

namespace hs::mysqld::server {
namespace {

bool is_cluster_node() { return WSREP_ON_ && WSREP_PROVIDER_EXISTS_; }

bool takes_part(THD* thd) { return thd->wsrep_cs().state() == wsrep::client_state::s_exec; }

bool is_ready() { return wsrep_ready_get() != 0 && wsrep_reject_queries == WSREP_REJECT_NONE; }

bool is_replicated(const TABLE& table) {
  return (table.file->partition_ht()->flags & HTON_WSREP_REPLICATION) != 0;
}

bool is_written(const TABLE& table) {
  return table.reginfo.lock_type >= TL_WRITE_ALLOW_WRITE && !is_sequence(table);
}

// As the server tells an SQL client.
std::uint32_t error_number(THD* thd) {
  wsrep_override_error(thd, wsrep_current_error(thd), wsrep_current_error_status(thd));
  return raised_error(thd);
}

}  // namespace

void enter_cluster(THD* thd) {
  thd->variables.wsrep_on = global_system_variables.wsrep_on;
  if (!is_cluster_node()) [[likely]]
    return;
  if (thd->wsrep_cs().state() == wsrep::client_state::s_none) {
    // A pass is small. Pieces of it are not sent ahead.
    thd->variables.wsrep_trx_fragment_size = 0;
    wsrep_open(thd);
  }
  wsrep_before_command(thd);
  // The THD drew the number of its transaction when it was no node yet.
  thd->set_wsrep_next_trx_id(thd->query_id);
}

Status leave_cluster(THD* thd, Status status) {
  if (!takes_part(thd)) [[likely]]
    return status;
  // It rolls back here what another node has pushed aside, or replays it.
  wsrep_after_statement(thd);
  wsrep_after_command_before_result(thd);
  if (wsrep_current_error(thd) != wsrep::e_success) {
    status = status_of(error_number(thd));
  } else if (!status.ok() && thd->get_stmt_da()->is_ok()) {
    status = {};  // a replay has committed it
  }
  wsrep_after_command_after_result(thd);
  thd->get_stmt_da()->reset_diagnostics_area();
  return status;
}

void forget_cluster(THD* thd) {
  if (thd->wsrep_cs().state() == wsrep::client_state::s_none) return;
  if (takes_part(thd)) wsrep_after_command_ignore_result(thd);
  wsrep_close(thd);
}

bool is_pushed_aside(const THD* thd) {
  return WSREP_ON_ && thd->wsrep_trx().active() && thd->wsrep_trx().bf_aborted();
}

bool has_old_kill(const THD* thd) {
  return WSREP_ON_ && (thd->wsrep_aborter != 0 || thd->wsrep_abort_by_kill != NOT_KILLED);
}

bool is_conflict(Status commit) { return commit.number() == ER_LOCK_DEADLOCK; }

std::uint32_t cluster_refuses_reads() {
  if (!is_cluster_node()) [[likely]]
    return 0;
  const auto& settings = global_system_variables;
  if (!is_ready()) return settings.wsrep_dirty_reads != 0 ? 0 : ER_UNKNOWN_COM_ERROR;
  const bool waits = (settings.wsrep_sync_wait & WSREP_SYNC_WAIT_BEFORE_READ) != 0 &&
                     settings.wsrep_dirty_reads == 0;
  if (!waits) return 0;
  constexpr int as_long_as_the_cluster_allows = -1;
  const auto waited = Wsrep_server_state::instance().causal_read(as_long_as_the_cluster_allows);
  return waited.second == wsrep::provider::success ? 0 : ER_LOCK_WAIT_TIMEOUT;
}

std::uint32_t cluster_refuses_writes(THD* thd) {
  if (!is_cluster_node()) [[likely]]
    return 0;
  // Without a transaction of the cluster's, a write would stay on this node.
  return is_ready() && thd->wsrep_trx().active() ? 0 : ER_UNKNOWN_COM_ERROR;
}

bool may_lack_replica(const THD* thd) {
  return thd->killed != NOT_KILLED && rpl_semi_sync_master_enabled != 0;
}

std::uint32_t cluster_refuses_table(const THD* thd, const TABLE& table, bool alone) {
  if (!is_cluster_node()) [[likely]]
    return 0;
  if (!is_replicated(table)) return ER_GALERA_REPLICATION_NOT_SUPPORTED;
  for (const TABLE* other = alone ? thd->open_tables : nullptr; other != nullptr;
       other = other->next) {
    if (is_written(*other) && !is_replicated(*other)) return ER_GALERA_REPLICATION_NOT_SUPPORTED;
  }
  return 0;
}

}  // namespace hs::mysqld::server
