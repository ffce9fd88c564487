// The writes of TableStore: the statements around them, and what they do to rows.
#include <algorithm>
#include <cassert>

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

Purpose purpose_of(const store::Change& change) {
  if (change.only_locks()) return Purpose::lock;
  return change.erases() ? Purpose::erase : Purpose::update;
}

Purpose purpose_of(const store::InsertRows& rows) {
  if (rows.updates()) return Purpose::insert_or_update;
  const bool replaces = rows.on_duplicate == store::OnDuplicate::replace;
  return replaces ? Purpose::replace : Purpose::insert;
}

// Whether the rows of several values of IN overlap.
bool may_find_twice(const IndexPlan& plan, const store::Selection& selection) {
  return !selection.in.values.empty() &&
         (selection.range.bound != store::Bound::only || plan.has_prefix_parts());
}

// What a question about an account has answered, as the status of a write that has done nothing.
Status status_of(Outcome asked) {
  return asked.answered() ? asked.status() : server::status_of(HA_ERR_TABLE_DEF_CHANGED);
}

}  // namespace

// Runs one write as a statement, or as a row of a statement that others have begun.
template <class Write>
Outcome TableStore::run_write(const store::IndexUse& use, Write& write) {
  TableSlot& slot = static_cast<IndexPlan&>(use.index()).slot();
  OpenTable& opened = slot.writer;
  if (const Outcome begun = pass_.begin_write(use.caller(), access_.is_exempt()); !begun.ok())
    return begun;
  Status status;
  const bool joins = joins_statement(write, opened);
  if (!joins) {
    const Outcome begun = pass_.begin_statement(slot, write.purpose, access_.is_exempt());
    if (!begun.ok()) {
      meter_.look();
      return begun;
    }
    server::set_command(host_.thd(), write.purpose);
    status = write.set_up(opened);
  }
  writer_.begin();
  bool executed = false;
  if (status.ok()) status = execute(use, write, opened, executed);
  if (status.ok()) writer_.tell_warnings();
  if (!server::has_transactions(*opened.table)) server::note_unsafe_change(host_.thd());
  if (status.ok() && !write.only_locks()) server::forget_cached_results(host_.thd(), *opened.table);
  if (joins && !status.ok() && !pass_.was_rolled_back()) return leave_shared(opened, status);
  if (status.ok() && pass_.can_share(opened) && write.is_one_row(opened)) {
    pass_.share(opened);
    return {};
  }
  const Outcome ended = pass_.end_statement(opened, status, executed, writer_.was_signalled());
  // Triggers, a failure, or a commit of its own: such a write takes longer than the change of a
  // row.
  meter_.look();
  return ended;
}

// Whether a write becomes a row of the statement that the write before it has left open. The plan
// may know an older version of the table than the one that is open. Then the set-up fails.
template <class Write>
bool TableStore::joins_statement(Write& write, OpenTable& opened) {
  if (!pass_.is_shared(opened, write.purpose)) return false;
  server::set_command(host_.thd(), write.purpose);
  return write.set_up(opened).ok() && write.is_one_row(opened);
}

// Executes a write whose statement has begun. `executed`: it was not refused before it could do
// anything.
template <class Write>
Status TableStore::execute(const store::IndexUse& use, Write& write, OpenTable& opened,
                           bool& executed) {
  if (server::audits_tables()) [[unlikely]] {
    if (const Status told = access_.tell(use, *opened.table, write.purpose); !told.ok())
      return told;
  }
  const Acting acting(access_.privileges(), use.caller(), host_.thd(), *opened.table,
                      server::asks_for_user(*opened.table));
  if (const Status acts = status_of(acting.outcome()); !acts.ok()) return acts;
  if (acting && inserts(write.purpose) && !server::may_use_sequences(host_.thd(), *opened.table)) {
    return writer_.failure(0);
  }
  executed = true;
  const bool has_triggers = tables_.is_alone();
  if (has_triggers) pass_.begin_traces();
  WatchedWrite watched(host_, opened.can_undo, meter_.interrupted_at());
  Status status = write.execute(opened);
  const WatchedWrite::Ended ended = watched.end();
  if (ended != WatchedWrite::Ended::by_itself && !status.ok()) {
    const bool is_out_of_time = ended == WatchedWrite::Ended::by_deadline;
    status = is_out_of_time ? Status{Error::max_request_time} : lock_wait_ended;
    writer_.explain_nothing();
  }
  if (has_triggers) pass_.end_traces();
  return status;
}

// A row of a shared statement has failed. The rows before it stay.
Outcome TableStore::leave_shared(const OpenTable& opened, Status status) {
  const Retry retry(opened, status, writer_.was_signalled());
  host_.thd()->clear_error();
  meter_.look();
  // What is left of the write cannot be undone without the rows before it.
  if (writer_.may_have_changed()) return Verdict::broken;
  return retry.put_off(status);
}

// The three steps of an insert, as run_write() takes them.
struct TableStore::InsertWrite {
  static constexpr Purpose purpose = Purpose::insert;
  static constexpr bool only_locks() { return false; }

  Status set_up(OpenTable& opened) { return store.writer_.set_up_insert(opened, plan, row); }
  static bool is_one_row(const OpenTable& /*opened*/) { return true; }
  Status execute(OpenTable& opened) {
    changed = {.rows = 1};
    const Status status = store.writer_.insert(opened, plan, row.values, changed.id);
    if (!status.ok()) return status;
    store.meter_.spend(store::Budget::steps_of_a_change);
    store.counters_.add(Counter::rows_changed);
    return {};
  }

  TableStore& store;
  IndexPlan& plan;
  const store::Insert& row;
  store::Changed& changed;
};

// The three steps of an insert of several rows.
struct TableStore::InsertRowsWrite {
  static constexpr bool only_locks() { return false; }
  Status set_up(OpenTable& opened) { return store.writer_.set_up_insert_rows(opened, plan, rows); }
  static bool is_one_row(const OpenTable& /*opened*/) { return false; }
  Status execute(OpenTable& opened) {
    if (!opened.can_undo) store.meter_.have_no_end();
    const Status status = store.writer_.insert_rows(opened, plan, rows, inserted);
    if (!status.ok()) return status;
    store.meter_.spend(rows.rows() * store::Budget::steps_of_a_change);
    const auto changed = std::ranges::count_if(inserted, [](const store::InsertedRow& row) {
      using enum store::RowFate;
      return row.fate == inserted || row.fate == updated || row.fate == replaced;
    });
    store.counters_.add(Counter::rows_changed, static_cast<std::uint64_t>(changed));
    return {};
  }

  TableStore& store;
  IndexPlan& plan;
  const store::InsertRows& rows;
  const Purpose purpose;
  std::vector<store::InsertedRow>& inserted;
};

// The three steps of a modification. `recheck` asks again whether the caller may make it, if the
// plan was resolved for another version of the table than the one about which was asked before.
template <class Recheck>
struct TableStore::ModifyWrite {
  bool only_locks() const { return work.change.only_locks(); }
  Status set_up(OpenTable& opened) {
    const Status status = store.writer_.set_up_modify(opened, work.plan(), work.change);
    if (!status.ok() || (allowed && work.plan().table_version() == version)) [[likely]]
      return status;
    return status_of(recheck());
  }
  bool is_one_row(const OpenTable& opened) const {
    const store::Selection& selection = work.selection;
    return selection.range.bound == store::Bound::only && selection.in.values.empty() &&
           work.plan().is_unique(static_cast<std::uint32_t>(selection.key.size())) &&
           !opened.may_move_rows;
  }
  Status execute(OpenTable& opened) { return store.modify_rows(work, opened); }

  TableStore& store;
  const Modification& work;
  const Purpose purpose;
  const bool allowed;
  const std::uint64_t version;
  Recheck recheck;
};

Outcome TableStore::insert(store::IndexUse& use, const store::Insert& row,
                           store::Changed& changed) {
  const auto check = [&](const Permissions& caller) { return caller.check_insert(row); };
  if (const Outcome allowed = access_.may(use, check); !allowed.ok()) [[unlikely]]
    return allowed;
  auto& plan = static_cast<IndexPlan&>(use.index());
  plan.note_request();
  InsertWrite write{*this, plan, row, changed};
  return pass_.counted(run_write(use, write), true);
}

Outcome TableStore::insert_rows(store::IndexUse& use, const store::InsertRows& rows,
                                std::vector<store::InsertedRow>& inserted) {
  assert(rows.is_valid());
  const auto check = [&](const Permissions& caller) { return caller.check_insert_rows(rows); };
  if (const Outcome allowed = access_.may(use, check); !allowed.ok()) [[unlikely]]
    return allowed;
  const std::uint64_t steps = rows.rows() * store::Budget::steps_of_a_change;
  if (pass_.mode() != PassMode::aside && steps > StepMeter::most_in_a_worker)
    return Verdict::oversized;
  auto& plan = static_cast<IndexPlan&>(use.index());
  plan.note_request();
  InsertRowsWrite write{*this, plan, rows, purpose_of(rows), inserted};
  return pass_.counted(run_write(use, write), true);
}

Outcome TableStore::modify(store::IndexUse& use, const store::Selection& selection,
                           const store::Change& change, store::Rows* rows, Buffer& out,
                           store::Changed& changed) {
  assert(selection.is_valid() && !((change.erases() || change.only_locks()) && change.rows_after));
  assert(rows != nullptr || !change.gives_rows());
  const auto check = [&](const Permissions& caller) {
    return caller.check_modify(selection, change);
  };
  const Outcome allowed = access_.may(use, check);
  if (Access::is_refused(allowed)) [[unlikely]]
    return allowed;
  auto& plan = static_cast<IndexPlan&>(use.index());
  plan.note_request();
  const std::size_t begin = out.size();
  const Modification work{use, selection, change, rows, out, begin, changed};
  const auto recheck = [&] { return access_.may(use, check); };
  ModifyWrite<decltype(recheck)> write{
      *this, work, purpose_of(change), allowed.ok(), plan.table_version(), recheck};
  const Outcome outcome = pass_.counted(run_write(use, write), true);
  if (!outcome.ok()) out.truncate(begin);
  return outcome;
}

Status TableStore::modify_rows(const Modification& work, OpenTable& opened) {
  const std::uint64_t most_steps =
      pass_.mode() == PassMode::aside ? IndexScan::no_bound : StepMeter::most_in_a_worker;
  // A write that cannot be undone goes on to its end.
  if (!opened.can_undo) meter_.have_no_end();
  const IndexPlan& plan = work.plan();
  if (Status status = scan_.start(plan, opened, work.selection, most_steps); !status.ok())
    return status;
  work.changed = {};
  const Status status = opened.find_first || may_find_twice(plan, work.selection)
                            ? modify_after_scanning(work, opened)
                            : modify_while_scanning(work, opened);
  if (status.ok() && !work.change.only_locks())
    counters_.add(Counter::rows_changed, work.changed.rows);
  return status;
}

Status TableStore::take_row(const Modification& work, TABLE& table, std::size_t in_number) {
  const TableRow row(table, scratch_);
  if (!work.rows->take(work.plan().columns(), row, in_number, work.out))
    return server::status_of(HA_ERR_OUT_OF_MEM);
  const std::size_t most_bytes = std::min(work.rows->most_bytes(), max_whole_reply_bytes);
  const bool is_large = work.out.size() - work.out_begin > most_bytes;
  return is_large ? server::status_of(ER_NET_PACKET_TOO_LARGE) : Status{};
}

// `in_number`: of the value of IN that the row has met.
Status TableStore::modify_row(const Modification& work, OpenTable& opened, std::size_t in_number) {
  if (work.change.rows_before) {
    if (Status status = take_row(work, *opened.table, in_number); !status.ok()) return status;
  }
  bool counted = false;
  if (Status status = writer_.modify(opened, work.plan(), work.change, counted); !status.ok())
    return status;
  if (work.change.rows_after) {
    server::refresh_virtual_columns(*opened.table);
    if (Status status = take_row(work, *opened.table, in_number); !status.ok()) return status;
  }
  meter_.spend(store::Budget::steps_of_a_change);
  // A trigger may take long for each row. A worker's write is interrupted by its watch.
  if (pass_.mode() == PassMode::aside) meter_.look();
  if (counted) ++work.changed.rows;
  return {};
}

// Why a modification must not go on: a worker bounds its steps, and a streamer its time.
Status TableStore::over_bound() const {
  return pass_.mode() == PassMode::aside ? Status{Error::max_request_time} : took_too_long;
}

// Why a scan ended before its last row.
Status TableStore::scan_failure(int error) {
  return error == IndexScan::gave_up ? over_bound() : writer_.failure(error);
}

Status TableStore::modify_while_scanning(const Modification& work, OpenTable& opened) {
  int error = 0;
  while ((error = scan_.next()) == 0) {
    if (Status status = modify_row(work, opened, scan_.in_number()); !status.ok()) return status;
    if (scan_.is_done()) return {};
  }
  return IndexScan::is_end(error) ? Status{} : scan_failure(error);
}

// Finds all rows, then modifies them.
Status TableStore::modify_after_scanning(const Modification& work, OpenTable& opened) {
  TABLE& table = *opened.table;
  handler& engine = *table.file;
  // Only with IN a row's number is other than 0.
  const bool has_in = !work.selection.in.values.empty();
  found_.begin(engine.ref_length, has_in && work.change.gives_rows());
  int error = 0;
  while ((error = scan_.next()) == 0) {
    engine.position(table.record[0]);
    if (!found_.add(engine.ref, scan_.in_number())) return server::status_of(HA_ERR_OUT_OF_MEM);
  }
  if (!IndexScan::is_end(error)) return scan_failure(error);
  if (has_in) found_.drop_repeated();
  engine.ha_index_end();
  opened.plan = nullptr;
  if (found_.size() == 0) return {};
  if ((error = engine.ha_rnd_init(false)) != 0) return writer_.failure(error);
  Status status;
  for (std::size_t number = 0; number < found_.size() && status.ok(); ++number) {
    error = engine.ha_rnd_pos(table.record[0], found_.at(number));
    status =
        error != 0 ? writer_.failure(error) : modify_row(work, opened, found_.in_number(number));
    // A write that cannot be undone goes on to its end.
    const bool is_last = number + 1 == found_.size();
    if (status.ok() && !is_last && opened.can_undo && scan_.is_over_bound()) status = over_bound();
  }
  engine.ha_rnd_end();
  return status;
}

}  // namespace hs::mysqld
