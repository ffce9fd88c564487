// The writes of TableStore: the statements around them, and what they do to rows.
#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "mysqld/server/api.h"
#include "mysqld/server/cluster.h"
#include "mysqld/server/errors.h"
#include "mysqld/server/table_opening.h"
#include "mysqld/store/acting.h"
#include "mysqld/store/table_store.h"

namespace hs::mysqld {
namespace {

using store::Outcome;
using store::PassMode;
using store::Verdict;

// The rows of a `?` form are one reply, which is sent after the commit.
constexpr std::size_t max_modified_rows_bytes = std::size_t{64} << 20;
constexpr std::size_t max_positions_bytes = std::size_t{256} << 20;

constexpr Status row_is_locked = server::status_of(server::row_locked_error());
constexpr Status lock_wait_ended = server::status_of(HA_ERR_LOCK_WAIT_TIMEOUT);
// An insert has got no number for its AUTO_INCREMENT column.
constexpr Status no_number = server::status_of(ER_AUTOINC_READ_FAILED);
// A write that may have to wait for a row.
constexpr Outcome for_waiter = Outcome::by_row(Verdict::oversized, lock_wait_ended);
constexpr Status read_only = server::status_of(ER_OPTION_PREVENTS_STATEMENT);
// Never an answer: a modification has spent the steps that a worker may spend. No real error has
// this number.
constexpr Status took_too_long{Error::other, 0xFF'FFFF};

Purpose purpose_of(const store::Change& change) {
  return change.erases() ? Purpose::erase : Purpose::update;
}

// Whether the rows of several values of IN overlap.
bool may_find_twice(const IndexPlan& plan, const store::Selection& selection) {
  return !selection.in.values.empty() &&
         (selection.range.bound != store::Bound::only || plan.has_prefix_parts());
}

// Whether a worker can ask again for a row that is locked: the engine must refuse it at once, and
// asking must cost nothing. An insert would draw another number from the table's counter each time.
bool can_ask_again(const OpenTable& opened) {
  const bool draws =
      opened.purpose == Purpose::insert && opened.table->found_next_number_field != nullptr;
  return server::refuses_locked_rows(*opened.table) && !draws;
}

// Why an insert has got no number. A partitioned table gives no other error if another session has
// locked its counter. Every engine gives it if there is no number left.
bool is_counter_locked(TABLE& table) {
  if (table.part_info == nullptr || table.found_next_number_field == nullptr) return false;
  if (table.file->info(HA_STATUS_AUTO) != 0) return false;
  const std::uint64_t next = table.file->stats.auto_increment_value;
  constexpr std::uint64_t no_value = std::numeric_limits<std::uint64_t>::max();
  return next != 0 && next < no_value && next <= table.found_next_number_field->get_max_int_value();
}

// What can be done about a write that has failed, as long as its table is open.
struct Retry {
  Retry(const OpenTable& opened, Status status, bool was_signalled)
      : is_answer(was_signalled || (status == no_number && !is_counter_locked(*opened.table))),
        can_ask(can_ask_again(opened)) {}
  bool is_answer;  // nothing is locked
  bool can_ask;    // a worker can, for a row that is locked
};

// The outcome of a write that has ended with `status` and was undone.
Outcome put_off(Status status, Retry retry) {
  if (retry.is_answer) return status;
  if (status == took_too_long) return Verdict::oversized;
  if (is_newer_than_snapshot(status)) return Verdict::blocked;
  if (status == no_number) return for_waiter;
  // MySQL's engine has a number of its own for a row that it has refused at once.
  const bool refused = status == row_is_locked && row_is_locked != lock_wait_ended;
  if (!refused && status != lock_wait_ended) return status;
  return refused || retry.can_ask ? Outcome::by_row(Verdict::blocked, lock_wait_ended) : for_waiter;
}

// What a question about an account has answered, as the status of a write that has done nothing.
Status status_of(Outcome asked) {
  return asked.answered() ? asked.status() : server::status_of(HA_ERR_TABLE_DEF_CHANGED);
}

}  // namespace

// Runs one write as a statement. The statement is begun and executed, and then it becomes part of
// the transaction or is undone. Consecutive writes of one row each on one table share a statement
// of the server. That saves the beginning, the end and a table map in the binary log for each
// write. If one of these rows fails, the engine undoes that row by itself.
//
// Some writes cannot be undone: the engine of their table, or of a table that a trigger changes,
// has no transactions. Such a write must not be executed in a pass that may be executed again. So
// it comes first after a commit, and what it has done is final. If it may meet locked rows, a
// waiter executes it, because a waiter can wait. A worker would give up at a locked row, half
// way through the write.
template <class SetUp, class IsOneRow, class Execute>
Outcome TableStore::run_write(const store::IndexUse& use, Purpose purpose, SetUp set_up,
                              IsOneRow is_one_row, Execute execute) {
  TableSlot& slot = static_cast<IndexPlan&>(use.index()).slot();
  OpenTable& opened = slot.writer;
  if (traces_.any()) [[unlikely]]
    return Verdict::not_yet;
  begin_work();
  begin_transaction();
  if (statistics_.is_on()) [[unlikely]]
    count_for(use.caller());
  if (server::forbids_writes(is_exempt_)) return read_only;
  if (transaction_.refusal() != 0) [[unlikely]]
    return server::status_of(transaction_.refusal());
  // The plan may know an older version of the table than the one that is open. Then the set-up
  // fails.
  const bool may_join = shared_ == &opened && opened.purpose == purpose;
  if (may_join) server::set_command(host_.thd(), purpose);
  const bool joins = may_join && set_up(opened).ok() && is_one_row(opened);
  Status status;
  if (!joins) {
    const Outcome begun = begin_write(slot, purpose);
    if (!begun.ok()) {
      meter_.look();
      return begun;
    }
    server::set_command(host_.thd(), purpose);
    status = set_up(opened);
  }
  writer_.begin();
  bool executes = status.ok();
  if (executes) {
    if (server::audits_tables()) [[unlikely]]
      status = tell_of_access(use, *opened.table, purpose);
    executes = status.ok();
  }
  if (executes) {
    const Acting acting(privileges_, use.caller(), host_.thd(), *opened.table,
                        server::asks_for_user(*opened.table));
    status = status_of(acting.outcome());
    if (status.ok() && acting && purpose == Purpose::insert &&
        !server::may_use_sequences(host_.thd(), *opened.table)) {
      status = writer_.failure(0);
    }
    executes = status.ok();
    if (executes) {
      const bool has_triggers = tables_.is_alone();
      if (has_triggers) traces_.begin();
      WatchedWrite watched(host_, opened.can_undo);
      status = execute(opened);
      if (watched.end() && !status.ok()) status = lock_wait_ended;
      if (has_triggers) traces_.end();
    }
  }
  if (!server::has_transactions(*opened.table)) server::note_unsafe_change(host_.thd());
  if (status.ok()) server::forget_cached_results(host_.thd(), *opened.table);
  if (joins && !status.ok() && !transaction_.was_rolled_back()) {
    const Retry retry(opened, status, writer_.was_signalled());
    host_.thd()->clear_error();
    meter_.look();
    // What is left of the write cannot be undone without the rows before it.
    if (writer_.may_have_changed()) return Verdict::broken;
    return put_off(status, retry);
  }
  if (status.ok() && can_share(opened) && is_one_row(opened)) {
    shared_ = &opened;
    uncommitted_ = true;
    return {};
  }
  return end_write(opened, status, executes);
}

Outcome TableStore::begin_write(TableSlot& slot, Purpose purpose) {
  if (!end_shared_statement().ok()) return Verdict::broken;
  transaction_.begin_statement();
  const Outcome opened = tables_.open_writer(slot, purpose);
  const bool can_undo = opened.ok() && slot.writer.can_undo;
  const bool is_alone = opened.ok()
                            ? tables_.is_alone() && !can_undo
                            : uncommitted_ && server::is_refused_beside_others(opened.status());
  if (is_alone && !waits_to_the_end_) {
    const Outcome left = leave_undone(for_waiter);
    if (mode_ != PassMode::aside) return left;
    // The write must not stop half way because a row stays locked for longer than one wait of a
    // waiter.
    tables_.close_tables();
    host_.wait_for_rows(true);
    waits_to_the_end_ = true;
    return begin_write(slot, purpose);
  }
  if (!opened.ok()) return opened;
  // SET GLOBAL read_only may have come before the table was open, and waits for those that are.
  if (server::forbids_writes(is_exempt_)) return leave_undone(read_only);
  const std::uint32_t refusal =
      server::cluster_refuses_table(host_.thd(), *slot.writer.table, tables_.is_alone());
  if (refusal != 0) return leave_undone(server::status_of(refusal));
  if (uncommitted_ && !can_undo) return leave_undone(Verdict::not_yet);
  slot.writer.purpose = purpose;
  const Status joined = transaction_.join_statement(slot.writer);
  return joined.ok() ? Outcome{} : transaction_.end_statement(joined);
}

// Ends a statement that was begun but has done nothing.
Outcome TableStore::leave_undone(Outcome outcome) {
  const Status ended = transaction_.end_statement({});
  return ended.ok() ? outcome : Outcome{ended};
}

// A table with triggers, or a parent of foreign keys, is opened for one statement. A versioned
// table needs a statement for each write, because its history distinguishes rows by their
// statements.
bool TableStore::can_share(const OpenTable& opened) const {
  return mode_ == PassMode::together && opened.any_write &&
         server::has_transactions(*opened.table) && !server::is_versioned(*opened.table);
}

Status TableStore::end_shared_statement() {
  if (shared_ == nullptr) return {};
  shared_ = nullptr;
  return transaction_.end_statement({});
}

// `executed`: the write was not refused before it could do anything.
Outcome TableStore::end_write(const OpenTable& opened, Status status, bool executed) {
  shared_ = nullptr;
  const bool can_undo = opened.can_undo;
  // If only a table without transactions was written, there is nothing to commit with others.
  const bool commits = mode_ != PassMode::together || (!can_undo && tables_.is_alone());
  const bool rolled_back = transaction_.was_rolled_back();
  if (transaction_.was_pushed_aside()) status = server::status_of(HA_ERR_LOCK_DEADLOCK);
  const Retry retry(opened, status, writer_.was_signalled());
  status = transaction_.end_statement(status);
  if (rolled_back) {
    transaction_.roll_back();
    if (traces_.any()) forget_traces();
    if (status.ok()) status = server::status_of(HA_ERR_LOCK_DEADLOCK);
    const bool others_are_lost = std::exchange(uncommitted_, false);
    if (can_undo && mode_ == PassMode::together &&
        (others_are_lost || put_off(status, retry).answered())) {
      working_ = false;
      return Verdict::broken;
    }
  } else if (commits && !status.ok() && config_.remote_tables == RemoteTables::served) {
    // Spider cannot undo a statement alone. The transaction consists of nothing else.
    transaction_.roll_back();
  } else if (commits) {
    const Status committed = transaction_.commit();
    if (status.ok()) status = committed;
  } else {
    uncommitted_ |= can_undo && status.ok();
  }
  if (traces_.any() && !transaction_.active()) forget_traces();
  // Triggers, a failure, or a commit of its own: such a write takes longer than the change of a
  // row.
  meter_.look();
  if (!can_undo && executed && status != took_too_long) return Outcome{status}.for_good();
  return put_off(status, retry);
}

Outcome TableStore::insert(store::IndexUse& use, const store::Insert& row,
                           store::Changed& changed) {
  const auto check = [&](const Permissions& caller) { return caller.check_insert(row); };
  if (const Outcome allowed = may(use, check); !allowed.ok()) [[unlikely]]
    return allowed;
  auto& plan = static_cast<IndexPlan&>(use.index());
  plan.note_request();
  const auto set_up = [&](OpenTable& opened) {
    return writer_.set_up_insert(opened, plan, row.values);
  };
  const auto is_one_row = [](const OpenTable& /*opened*/) { return true; };
  const auto execute = [&](OpenTable& opened) -> Status {
    changed = {.rows = 1};
    if (Status status = writer_.insert(opened, plan, row.values, changed.id); !status.ok())
      return status;
    meter_.spend(store::Budget::steps_of_a_change);
    counters_.add(Counter::rows_changed);
    return {};
  };
  return counted(run_write(use, Purpose::insert, set_up, is_one_row, execute), true);
}

Outcome TableStore::modify(store::IndexUse& use, const store::Selection& selection,
                           const store::Change& change, Buffer& out, store::Changed& changed) {
  assert(selection.is_valid());
  const auto check = [&](const Permissions& caller) {
    return caller.check_modify(selection, change);
  };
  const Outcome allowed = may(use, check);
  if (is_refused(allowed)) [[unlikely]]
    return allowed;
  auto& plan = static_cast<IndexPlan&>(use.index());
  plan.note_request();
  const auto version = plan.table_version();
  const auto set_up = [&](OpenTable& opened) {
    const Status status = writer_.set_up_modify(opened, plan, change.kind,
                                                change.erases() ? 0 : change.values.size());
    if (!status.ok() || (allowed.ok() && plan.table_version() == version)) [[likely]]
      return status;
    return status_of(may(use, check));
  };
  const auto is_one_row = [&](const OpenTable& opened) {
    return selection.range.bound == store::Bound::only && selection.in.values.empty() &&
           plan.is_unique(static_cast<std::uint32_t>(selection.key.size())) &&
           !opened.may_move_rows;
  };
  const Modification work{use, selection, change, out, changed};
  const auto execute = [&](OpenTable& opened) { return modify_rows(work, opened); };
  const std::size_t begin = out.size();
  const Outcome outcome =
      counted(run_write(use, purpose_of(change), set_up, is_one_row, execute), true);
  if (!outcome.ok()) out.truncate(begin);
  return outcome;
}

Status TableStore::modify_rows(const Modification& work, OpenTable& opened) {
  const std::uint64_t most_steps =
      mode_ == PassMode::aside ? IndexScan::no_bound : StepMeter::most_in_a_worker;
  // A write that cannot be undone goes on to its end.
  if (!opened.can_undo) meter_.have_no_end();
  const IndexPlan& plan = work.plan();
  if (Status status = scan_.start(plan, opened, work.selection, most_steps); !status.ok())
    return status;
  work.changed = {};
  const Status status = opened.find_first || may_find_twice(plan, work.selection)
                            ? modify_after_scanning(work, opened)
                            : modify_while_scanning(work, opened);
  if (status.ok()) counters_.add(Counter::rows_changed, work.changed.rows);
  return status;
}

Status TableStore::modify_row(const Modification& work, OpenTable& opened) {
  if (work.change.rows_before) {
    if (!append_row(work.use, *opened.table, work.out)) return server::status_of(HA_ERR_OUT_OF_MEM);
    if (work.out.size() > max_modified_rows_bytes)
      return server::status_of(ER_NET_PACKET_TOO_LARGE);
  }
  bool counted = false;
  if (Status status = writer_.modify(opened, work.plan(), work.change, counted); !status.ok())
    return status;
  meter_.spend(store::Budget::steps_of_a_change);
  // A trigger may take long for each row. A worker's write is interrupted by its watch.
  if (mode_ == PassMode::aside) meter_.look();
  if (counted) ++work.changed.rows;
  return {};
}

// Why a modification must not go on: a worker bounds its steps, and a streamer its time.
Status TableStore::over_bound() const {
  return mode_ == PassMode::aside ? Status{Error::max_request_time} : took_too_long;
}

// Why a scan ended before its last row.
Status TableStore::scan_failure(int error) {
  return error == IndexScan::gave_up ? over_bound() : writer_.failure(error);
}

Status TableStore::modify_while_scanning(const Modification& work, OpenTable& opened) {
  int error = 0;
  while ((error = scan_.next()) == 0) {
    if (Status status = modify_row(work, opened); !status.ok()) return status;
    if (scan_.is_done()) return {};
  }
  return IndexScan::is_end(error) ? Status{} : scan_failure(error);
}

// Keeps the first position of each row, in the order in which the rows were found.
void TableStore::drop_repeated_positions(std::size_t length) {
  order_.resize(positions_.size() / length);
  std::iota(order_.begin(), order_.end(), 0U);
  const auto at = [&](std::uint32_t number) { return positions_.data() + number * length; };
  const auto compare = [&](std::uint32_t a, std::uint32_t b) {
    return std::memcmp(at(a), at(b), length);
  };
  std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    const int order = compare(a, b);
    return order != 0 ? order < 0 : a < b;
  });
  const auto last =
      std::unique(order_.begin(), order_.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return compare(a, b) == 0; });
  order_.erase(last, order_.end());
  std::sort(order_.begin(), order_.end());
  std::size_t kept = 0;
  for (const std::uint32_t number : order_) std::memmove(at(kept++), at(number), length);
  positions_.truncate(order_.size() * length);
}

// Finds all rows, then modifies them.
Status TableStore::modify_after_scanning(const Modification& work, OpenTable& opened) {
  TABLE& table = *opened.table;
  handler& engine = *table.file;
  positions_.clear();
  int error = 0;
  while ((error = scan_.next()) == 0) {
    engine.position(table.record[0]);
    positions_.append({reinterpret_cast<const char*>(engine.ref), engine.ref_length});
    if (positions_.size() > max_positions_bytes) {
      drop_repeated_positions(engine.ref_length);
      if (positions_.size() > max_positions_bytes / 2) return server::status_of(HA_ERR_OUT_OF_MEM);
    }
  }
  if (!IndexScan::is_end(error)) return scan_failure(error);
  if (!work.selection.in.values.empty()) drop_repeated_positions(engine.ref_length);
  engine.ha_index_end();
  opened.plan = nullptr;
  if (positions_.empty()) return {};
  if ((error = engine.ha_rnd_init(false)) != 0) return writer_.failure(error);
  Status status;
  for (std::size_t at = 0; at < positions_.size() && status.ok(); at += engine.ref_length) {
    error = engine.ha_rnd_pos(table.record[0],
                              reinterpret_cast<unsigned char*>(positions_.data() + at));
    status = error != 0 ? writer_.failure(error) : modify_row(work, opened);
    // A write that cannot be undone goes on to its end.
    const bool is_last = at + engine.ref_length == positions_.size();
    if (status.ok() && !is_last && opened.can_undo && scan_.is_over_bound()) status = over_bound();
  }
  engine.ha_rnd_end();
  return status;
}

}  // namespace hs::mysqld
