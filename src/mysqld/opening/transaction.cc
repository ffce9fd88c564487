#include "mysqld/opening/transaction.h"

#include "mysqld/server/api.h"
#include "mysqld/server/cluster.h"
#include "mysqld/server/errors.h"
#include "mysqld/server/table_opening.h"

namespace hs::mysqld {
namespace {

// A commit that meets a deadlock is not tried again as an engine's deadlock is: another server may
// have committed its part.
Status of_commit(Status status) {
  return status.kind() == Error::deadlock ? Status{Error::conflict, status.number()} : status;
}

Status raised_error(const THD* thd) {
  const std::uint32_t number = server::raised_error(thd);
  return of_commit(server::status_of(number == 0 ? ER_ERROR_DURING_COMMIT : number));
}

}  // namespace

void Transaction::begin() {
  // To begin a transaction gives up metadata locks, so no table may be open.
  tables_.release();
  thd_->reset_for_next_command();
  // The first engine that takes part, even for a find, names the transaction after the query id. In
  // the binary log every name must be unique, because recovery after a crash uses the names to tell
  // transactions apart.
  thd_->set_query_id(next_query_id());
  if (server::has_old_kill(thd_)) [[unlikely]]
    host_.forgive();
  server::enter_cluster(thd_);
  trans_begin(thd_, 0);
  refusal_ = server::cluster_refuses_writes(thd_);
  active_ = true;
}

Status Transaction::commit() {
  host_.show_state("handlersocket: committing");
  tables_.close_tables();
  Status status;
  if (host_.killed() && !server::is_pushed_aside(thd_)) {
    status = server::status_of(ER_QUERY_INTERRUPTED);
  } else {
    status = commit_under_lock_wait_timeout();
  }
  if (!status.ok()) {
    roll_back();
    return status;
  }
  active_ = false;
  counters_.add(Counter::commits);
  tables_.release();
  // Who is told of success relies on a replica.
  if (server::may_lack_replica(thd_)) [[unlikely]]
    return server::status_of(ER_QUERY_INTERRUPTED);
  return {};
}

// A commit may have to wait for a backup that blocks commits. This metadata lock is the only one
// that a worker waits for, because the rows are changed already.
Status Transaction::commit_under_lock_wait_timeout() {
  thd_->variables.lock_wait_timeout = host_.config().lock_wait_timeout_s->get();
  const bool failed = trans_commit(thd_);
  thd_->variables.lock_wait_timeout = 0;
  const Status status = failed ? raised_error(thd_) : Status{};
  // A replay in the cluster needs the locks for itself.
  if (failed) server::release_metadata_locks(thd_);
  const Status ended = of_commit(server::leave_cluster(thd_, status));
  thd_->clear_error();
  return ended;
}

void Transaction::roll_back() {
  if (server::is_statement_open(thd_)) trans_rollback_stmt(thd_);
  tables_.close_tables();
  trans_rollback(thd_);
  thd_->clear_error();
  active_ = false;
  counters_.add(Counter::rollbacks);
  tables_.release();
  // What the cluster says no longer matters.
  static_cast<void>(server::leave_cluster(thd_, {}));
}

void Transaction::end_reading() {
  if (server::is_statement_open(thd_)) trans_commit_stmt(thd_);
  tables_.release();
}

void Transaction::begin_statement() {
  server::forget_warnings(thd_);
  thd_->reset_for_next_command();
  thd_->set_query_id(next_query_id());
  thd_->set_time();
}

Status Transaction::join_statement(OpenTable& opened) {
  opened.table->query_id = thd_->query_id;
  if (opened.statement_begun) {
    opened.statement_begun = false;
    return {};
  }
  const int error = opened.table->file->start_stmt(thd_, TL_WRITE);
  return error == 0 ? Status{} : server::status_of(error);
}

Status Transaction::end_statement(Status status) {
  const server::KeptState state(thd_);
  if (status.ok() && thd_->binlog_flush_pending_rows_event(true) != 0) status = raised_error(thd_);
  if (status.ok() && trans_commit_stmt(thd_)) status = raised_error(thd_);
  if (!status.ok()) trans_rollback_stmt(thd_);
  thd_->clear_error();
  server::forget_warnings(thd_);
  // Tables for triggers and foreign keys are opened and locked for one statement.
  if (tables_.is_alone()) tables_.close_tables();
  return status;
}

bool Transaction::can_have_savepoint() const { return server::can_return_to_savepoint(thd_); }

bool Transaction::set_savepoint() { return savepoint_.set(); }

// An engine that joined the transaction after the savepoint forgets it, and does not know any more that
// an open table belongs to it. So no table stays open.
bool Transaction::roll_back_to_savepoint() {
  if (server::is_statement_open(thd_)) trans_rollback_stmt(thd_);
  tables_.close_tables();
  return savepoint_.roll_back();
}

bool Transaction::was_pushed_aside() const { return server::is_pushed_aside(thd_); }

bool Transaction::was_rolled_back() const {
  return thd_->transaction_rollback_request || was_pushed_aside();
}

}  // namespace hs::mysqld
