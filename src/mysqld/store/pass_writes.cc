// The statements of a pass's writes.
#include <utility>

#include "mysqld/server/api.h"
#include "mysqld/server/cluster.h"
#include "mysqld/server/errors.h"
#include "mysqld/server/table_opening.h"
#include "mysqld/store/pass.h"

namespace hs::mysqld {
namespace {

using store::Outcome;
using store::PassMode;
using store::Verdict;

constexpr Status read_only = server::status_of(ER_OPTION_PREVENTS_STATEMENT);

}  // namespace

Outcome Pass::begin_write(const store::Caller& caller, bool is_exempt) {
  if (traces_.any() || in_unit_) [[unlikely]] {
    if (const Outcome may = may_go_on(); !may.ok()) return may;
  }
  begin_work();
  begin_transaction();
  count_for(caller);
  if (server::forbids_writes(is_exempt)) return read_only;
  if (transaction_.refusal() != 0) [[unlikely]]
    return server::status_of(transaction_.refusal());
  return {};
}

Outcome Pass::begin_statement(TableSlot& slot, Purpose purpose, bool is_exempt) {
  if (!end_shared_statement().ok()) return Verdict::broken;
  transaction_.begin_statement();
  const Outcome opened = tables_.open_writer(slot, purpose);
  const bool can_undo = opened.ok() && slot.writer.can_undo;
  if (in_unit_ && (opened.ok() ? !can_undo : server::is_refused_beside_others(opened.status())))
    return leave_undone(store::cannot_be_undone);
  const bool is_alone = opened.ok()
                            ? tables_.is_alone() && !can_undo
                            : writes_wait_ && server::is_refused_beside_others(opened.status());
  if (is_alone && !waits_to_the_end_) {
    const Outcome left = leave_undone(for_waiter);
    if (mode_ != PassMode::aside) return left;
    wait_to_the_end();
    return begin_statement(slot, purpose, is_exempt);
  }
  if (!opened.ok()) return opened;
  // SET GLOBAL read_only may have come before the table was open, and waits for those that are.
  if (server::forbids_writes(is_exempt)) return leave_undone(read_only);
  const std::uint32_t refusal =
      server::cluster_refuses_table(host_.thd(), *slot.writer.table, tables_.is_alone());
  if (refusal != 0) return leave_undone(server::status_of(refusal));
  if (writes_wait_ && !can_undo) return leave_undone(Verdict::not_yet);
  slot.writer.purpose = purpose;
  const Status joined = transaction_.join_statement(slot.writer);
  return joined.ok() ? Outcome{} : transaction_.end_statement(joined);
}

// The write that follows must not stop half way because a row stays locked for longer than one wait
// of a waiter.
void Pass::wait_to_the_end() {
  tables_.close_tables();
  host_.wait_for_rows(true);
  waits_to_the_end_ = true;
}

// Ends a statement that was begun but has done nothing.
Outcome Pass::leave_undone(Outcome outcome) {
  const Status ended = transaction_.end_statement({});
  return ended.ok() ? outcome : Outcome{ended};
}

bool Pass::can_share(const OpenTable& opened) const {
  return mode_ == PassMode::together && opened.any_write &&
         server::has_transactions(*opened.table) && !server::is_versioned(*opened.table);
}

Status Pass::end_shared_statement() {
  if (shared_ == nullptr) return {};
  shared_ = nullptr;
  return transaction_.end_statement({});
}

Outcome Pass::end_statement(const OpenTable& opened, Status status, bool executed,
                            bool was_signalled) {
  shared_ = nullptr;
  const bool can_undo = opened.can_undo;
  // If only a table without transactions was written, there is nothing to commit with others. A unit
  // is committed at its end.
  const bool commits =
      !in_unit_ && (mode_ != PassMode::together || (!can_undo && tables_.is_alone()));
  const bool rolled_back = transaction_.was_rolled_back();
  if (transaction_.was_pushed_aside()) status = server::status_of(HA_ERR_LOCK_DEADLOCK);
  const Retry retry(opened, status, was_signalled);
  status = transaction_.end_statement(status);
  if (rolled_back) {
    transaction_.roll_back();
    if (traces_.any()) forget_traces();
    if (status.ok()) status = server::status_of(HA_ERR_LOCK_DEADLOCK);
    if (in_unit_) unit_lost_ = status;
    const bool others_are_lost = std::exchange(writes_wait_, false);
    if (can_undo && mode_ == PassMode::together &&
        (others_are_lost || retry.put_off(status).answered())) {
      stage_ = Stage::idle;
      return Verdict::broken;
    }
  } else if (!status.ok() && config_.asks_other_servers) {
    // Spider cannot undo a statement alone. The transaction consists of nothing else, or of a unit.
    transaction_.roll_back();
    if (in_unit_) unit_lost_ = status;
  } else if (commits) {
    const Status committed = transaction_.commit();
    if (status.ok()) status = committed;
  } else {
    writes_wait_ |= can_undo && status.ok();
  }
  if (traces_.any() && !transaction_.active()) forget_traces();
  if (!can_undo && executed && status != took_too_long) return Outcome{status}.for_good();
  return retry.put_off(status);
}

}  // namespace hs::mysqld
