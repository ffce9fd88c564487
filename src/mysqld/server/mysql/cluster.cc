#include "mysqld/server/cluster.h"

#include "mysqld/server/api.h"

namespace hs::mysqld::server {
namespace {

// Group Replication finds conflicts by primary keys, and only InnoDB can undo a transaction that the
// group refuses. SQL asks this before each statement, and a worker before each table.
bool is_replicated(const TABLE& table) {
  return table.file->ht->db_type == DB_TYPE_INNODB && !table.s->is_missing_primary_key();
}

bool is_written(const TABLE& table) { return table.reginfo.lock_type >= TL_WRITE_ALLOW_WRITE; }

}  // namespace

void enter_cluster(THD* /*thd*/) {}

Status leave_cluster(THD* thd, Status status) {
  // Before Group Replication changes its primary, it waits for each thread that seems to write,
  // until its transaction has ended.
  thd->lex->sql_command = SQLCOM_END;
  return status;
}

void forget_cluster(THD* /*thd*/) {}

bool is_pushed_aside(const THD* /*thd*/) { return false; }

bool has_old_kill(const THD* /*thd*/) { return false; }

bool is_conflict(Status commit) { return commit.number() == ER_TRANSACTION_ROLLBACK_DURING_COMMIT; }

// A KILL does not end such a wait.
bool may_lack_replica(const THD* /*thd*/) { return false; }

std::uint32_t cluster_refuses_reads() { return 0; }

std::uint32_t cluster_refuses_writes(THD* /*thd*/) { return 0; }

std::uint32_t cluster_refuses_table(const THD* thd, const TABLE& table, bool alone) {
  bool fits = is_replicated(table);
  for (const TABLE* other = alone ? thd->open_tables : nullptr; other != nullptr;
       other = other->next) {
    if (is_written(*other)) fits = fits && is_replicated(*other);
  }
  return fits || !is_group_replication_running() ? 0 : ER_BEFORE_DML_VALIDATION_ERROR;
}

}  // namespace hs::mysqld::server
