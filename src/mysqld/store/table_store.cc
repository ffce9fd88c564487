#include "mysqld/store/table_store.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/give_back.h"
#include "mysqld/server/api.h"
#include "mysqld/server/cluster.h"
#include "mysqld/server/errors.h"
#include "mysqld/server/table_opening.h"
#include "mysqld/store/acting.h"

namespace hs::mysqld {
namespace {

using store::Outcome;
using store::PassMode;
using store::Verdict;

// How much of its worker's memory a find may take before it goes to a streamer.
constexpr std::size_t max_reply_bytes = std::size_t{256} << 10;
// So much of a streamed reply is gathered before it is sent.
constexpr std::size_t flush_bytes = std::size_t{64} << 10;
// A streamed find that answers nothing looks after so many steps, about 1 ms, whether others wait.
constexpr std::uint64_t steps_between_looks = 4'000;
// Larger scratch memory is given back after its pass.
constexpr std::size_t max_kept_positions = std::size_t{64} << 10;
// Plans that no connection uses are dropped when all plans together take about so much.
constexpr std::size_t plan_bytes_before_sweep = std::size_t{256} << 10;

std::size_t plan_bytes(const std::string& names) { return sizeof(IndexPlan) + names.size(); }

}  // namespace

bool is_newer_than_snapshot(Status status) { return status.kind() == Error::table_changed; }

TableStore::TableStore(std::unique_ptr<HostThread> host, const TableStoreConfig& config,
                       CounterBlock& counters)
    : owned_host_(std::move(host)),
      host_(*owned_host_),
      config_(config),
      counters_(counters),
      tables_(host_.thd(), config.remote_tables, config.streams, counters),
      transaction_(host_, tables_, counters),
      privileges_(host_.thd(), config.writes),
      statistics_(host_.thd()),
      traces_(host_.thd()),
      writer_(host_.thd()),
      scan_(meter_),
      sweep_plans_at_(plan_bytes_before_sweep) {}

// A worker that leaves in the middle of a pass must not leave tables open.
TableStore::~TableStore() {
  TableStore::abandon_pass();
  TableStore::release();
}

void TableStore::begin_pass(store::PassMode mode, store::Budget& budget) {
  assert(!working_ && !reading_);
  mode_ = mode;
  ++asks_;
  meter_.begin(budget);
  if (std::exchange(waits_to_the_end_, false)) [[unlikely]]
    host_.wait_for_rows(false);
  // Plans are swept only between passes, because an open table may point to one.
  if (plan_bytes_ > sweep_plans_at_) sweep_plans();
}

void TableStore::sweep_plans() {
  std::erase_if(plans_, [](const auto& entry) { return entry.second.use_count() == 1; });
  plan_bytes_ = 0;
  for (const auto& [names, plan] : plans_) plan_bytes_ += plan_bytes(names);
  // Plans in use stay. Another sweep pays only when as many bytes have come again.
  sweep_plans_at_ = std::max(plan_bytes_before_sweep, 2 * plan_bytes_);
}

std::vector<TableStore::OpenedIndex> TableStore::opened_indexes(std::size_t most) const {
  std::vector<OpenedIndex> indexes;
  for (const auto& [names, plan] : plans_) {
    const auto opened = static_cast<std::uint64_t>(plan.use_count()) - 1;  // one is the map's
    if (opened == 0) continue;
    if (indexes.size() == most) break;
    indexes.push_back({names, opened, plan->requests()});
  }
  return indexes;
}

// Called by each request of a pass; the first one begins the pass in the server.
void TableStore::begin_work() {
  if (working_) [[likely]]
    return;
  working_ = true;
  if (host_.killed()) host_.forgive();
  host_.refresh_variables();
  statistics_.begin_pass();
  host_.show_state(what_it_does());
  refusal_ = server::cluster_refuses_reads();
  begin_transaction();
}

const char* TableStore::what_it_does() const {
  if (config_.remote_tables == RemoteTables::served) return "handlersocket: asking other servers";
  if (mode_ == PassMode::aside) return "handlersocket: writing aside";
  if (config_.streams) return "handlersocket: streaming";
  return config_.writes ? "handlersocket: writing" : "handlersocket: reading";
}

// On the write port every request runs in a transaction, even a find. A write that was committed
// alone has ended the transaction of the pass, so the next request begins another.
void TableStore::begin_transaction() {
  if (config_.writes && !transaction_.active()) [[unlikely]]
    transaction_.begin();
}

Outcome TableStore::end_pass() {
  const Outcome outcome = commit_pass();
  if (statistics_.is_on()) [[unlikely]]
    statistics_.end_pass();
  if (traces_.any() && !transaction_.active()) [[unlikely]]
    forget_traces();
  return outcome;
}

// The transaction has ended.
void TableStore::forget_traces() {
  if (statistics_.is_on()) statistics_.before_reset();
  host_.reset_session();
  if (statistics_.is_on()) statistics_.after_reset();
  traces_.forget();
}

Outcome TableStore::commit_pass() {
  if (!working_) return {};
  if (!end_shared_statement().ok()) return Verdict::broken;
  if (transaction_.active()) {
    const Status committed = transaction_.commit();
    working_ = false;
    const bool wrote = std::exchange(uncommitted_, false);
    if (!server::is_conflict(committed)) [[likely]]
      return committed;
    // Nothing was written, or each write gets another chance alone.
    if (!wrote) return {};
    return mode_ == PassMode::together ? Outcome{Verdict::broken} : Outcome{committed};
  }
  working_ = false;
  reading_ = true;
  return {};
}

void TableStore::release() {
  scan_.give_back();
  scratch_.give_back();
  if (positions_.capacity() > max_kept_positions) [[unlikely]]
    positions_.free_memory();
  give_back(order_, max_kept_positions);
  if (!reading_) return;
  reading_ = false;
  transaction_.end_reading();
}

// Also ends what is left of a pass after something has thrown.
void TableStore::abandon_pass() {
  working_ = reading_ = uncommitted_ = false;
  shared_ = nullptr;
  if (transaction_.active()) {
    transaction_.roll_back();
  } else {
    // If a request had no memory, it may have raised an error.
    host_.thd()->reset_for_next_command();
    transaction_.end_reading();
  }
  if (traces_.any()) forget_traces();
}

Outcome TableStore::open_index(const store::IndexNames& names,
                               const std::shared_ptr<const store::Caller>& caller,
                               const store::RowCodec& codec, store::IndexUse& use) {
  plan_key_.clear();
  for (const std::string_view part :
       {names.database, names.table, names.index, names.columns, names.filter_columns}) {
    plan_key_.append(part).push_back('\t');
  }
  auto known = plans_.find(plan_key_);
  if (known == plans_.end() &&
      (!server::is_name(names.database) || !server::is_name(names.table))) {
    return Error::no_table;
  }
  if (traces_.any()) return Verdict::not_yet;
  begin_work();
  if (refusal_ != 0) [[unlikely]]
    return server::status_of(refusal_);
  if (!end_shared_statement().ok()) return Verdict::broken;
  begin_transaction();
  std::shared_ptr<IndexPlan> plan =
      known != plans_.end()
          ? known->second
          : std::make_shared<IndexPlan>(
                names,
                tables_.slot(server::stored_name(names.database), server::stored_name(names.table)),
                config_.encoding, config_.streams);
  const TableSlot& slot = plan->slot();
  if (!config_.databases.allows(slot.database)) return store::access_denied;
  if (const Outcome may = may_open(*caller, slot.database, slot.name); !may.ok()) return may;
  OpenTable* opened = nullptr;
  const Outcome outcome = tables_.open_reader(plan->slot(), opened);
  meter_.look();
  if (!outcome.ok()) return outcome;
  if (Status status = plan->resolve(*opened->table); !status.ok()) return status;
  if (known == plans_.end()) {
    plans_.emplace(plan_key_, plan);
    plan_bytes_ += plan_bytes(plan_key_);
  }
  use = {std::move(plan), caller, codec};
  return {};
}

// Asked before the table is opened. Who may see nothing of a table must not learn whether it
// exists.
Outcome TableStore::may_open(const store::Caller& caller, const std::string& database,
                             const std::string& table) {
  if (caller.may_do_everything()) return {};
  Permissions permissions;
  const Outcome asked = privileges_.ask(static_cast<const Account&>(caller),
                                        {.database = database, .table = table}, permissions);
  if (!asked.ok()) return asked;
  if (server_is_offline(permissions)) return offline;
  return permissions.sees_table() ? Status{} : store::access_denied;
}

bool TableStore::server_is_offline(const Permissions& of_caller) {
  return !of_caller.is_exempt && server::is_offline();
}

Outcome TableStore::permissions_of(const store::IndexUse& use, const Permissions*& permissions) {
  static const Permissions everything{.everything = true};
  permissions = &everything;
  if (use.caller().may_do_everything()) return {};
  auto& plan = static_cast<IndexPlan&>(use.index());
  const auto& account = static_cast<const Account&>(use.caller());
  PlanPermissions& known = plan.permissions(account.role());
  permissions = &known;
  if (known.asked_in == asks_ && known.account == account.number() &&
      known.table_version == plan.table_version()) [[likely]]
    return {};
  begin_work();
  known.asked_in =
      0;  // what is there belongs to another account, perhaps, and is replaced in parts
  const Outcome asked = privileges_.ask(account, plan.asked_names(), known);
  if (!asked.ok()) return asked;
  known.told_in = {};
  known.asked_in = asks_;
  known.account = account.number();
  known.table_version = plan.table_version();
  return {};
}

// Once in a pass for each account, or once for each time that it is asked about.
Status TableStore::tell_of_access(const store::IndexUse& use, TABLE& table, Purpose purpose) {
  if (use.caller().may_do_everything()) return {};
  const auto& account = static_cast<const Account&>(use.caller());
  PlanPermissions& known = static_cast<IndexPlan&>(use.index()).permissions(account.role());
  std::uint64_t& told_in = known.told_in[static_cast<std::size_t>(purpose)];
  if (told_in == asks_) return {};
  const Status status = privileges_.tell_of_access(account, table, purpose);
  if (status.ok()) told_in = asks_;
  return status;
}

void TableStore::count_for(const store::Caller& caller) {
  if (caller.may_do_everything()) return;
  const auto& account = static_cast<const Account&>(caller);
  statistics_.begin({account.number(), account.logged_in(), account.user(), account.host()});
}

// A request that is put off begins again later.
Outcome TableStore::counted(Outcome outcome, bool writes) {
  if (statistics_.is_on() && outcome.answered()) [[unlikely]]
    statistics_.answered(writes);
  return outcome;
}

Outcome TableStore::open_for_reading(IndexPlan& plan, OpenTable*& opened) {
  if (traces_.any()) [[unlikely]]
    return Verdict::not_yet;
  begin_work();
  if (refusal_ != 0) [[unlikely]]
    return server::status_of(refusal_);
  if (shared_ != nullptr && !end_shared_statement().ok()) [[unlikely]]
    return Verdict::broken;
  begin_transaction();
  const Outcome outcome = tables_.open_reader(plan.slot(), opened);
  if (!outcome.ok()) [[unlikely]] {
    meter_.look();
    return outcome;
  }
  const Status status = plan.set_up_reader(*opened);
  if (is_newer_than_snapshot(status)) [[unlikely]]
    return Verdict::blocked;
  return status;
}

bool TableStore::append_row(const store::IndexUse& use, TABLE& table, Buffer& out) {
  const auto& plan = static_cast<const IndexPlan&>(use.index());
  return use.codec().append_row(plan.columns(), TableRow(table, scratch_), out);
}

Outcome TableStore::find(store::IndexUse& use, const store::Selection& selection, Buffer& out,
                         store::Sink* sink) {
  assert(selection.is_valid());
  const auto check = [&](const Permissions& caller) { return caller.check_find(selection); };
  const Outcome allowed = may(use, check);
  if (is_refused(allowed)) [[unlikely]]
    return allowed;
  // Each value is at least one step. The worker need not try.
  if (sink == nullptr && selection.in.values.size() > StepMeter::most_in_a_worker) [[unlikely]]
    return Verdict::oversized;
  auto& plan = static_cast<IndexPlan&>(use.index());
  plan.note_request();
  const auto version = plan.table_version();
  OpenTable* opened = nullptr;
  const Outcome outcome = open_for_reading(plan, opened);
  if (!outcome.ok()) [[unlikely]]
    return outcome;
  if (!allowed.ok() || plan.table_version() != version) [[unlikely]] {
    if (const Outcome now = may(use, check); !now.ok()) return now;
  }
  if (statistics_.is_on()) [[unlikely]]
    count_for(use.caller());
  if (server::audits_tables()) [[unlikely]] {
    if (const Status told = tell_of_access(use, *opened->table, Purpose::read); !told.ok())
      return told;
  }
  const Acting acting(privileges_, use.caller(), host_.thd(), *opened->table,
                      server::asks_for_user_to_read(*opened->table));
  if (!acting.outcome().ok()) [[unlikely]]
    return acting.outcome();
  tables_.announce(selection);
  const Status started = sink == nullptr || sink->position == nullptr
                             ? scan_.start(plan, *opened, selection, StepMeter::most_in_a_worker)
                             : go_on(plan, *opened, selection, *sink);
  if (!started.ok()) return started;
  if (sink != nullptr) scan_.allow(steps_between_looks);
  return counted(answer_rows(use, *opened, out, sink), false);
}

Status TableStore::go_on(const IndexPlan& plan, OpenTable& opened,
                         const store::Selection& selection, store::Sink& sink) {
  const auto& from = static_cast<const ScanPosition&>(*sink.position);
  const Status status = scan_.resume(plan, opened, selection, from);
  if (status.number() != ER_TABLE_DEF_CHANGED || from.reply_begun) return status;
  // The place is lost, but nothing was answered: the find begins again.
  sink.position = nullptr;
  return scan_.start(plan, opened, selection, IndexScan::no_bound);
}

Outcome TableStore::answer_rows(const store::IndexUse& use, OpenTable& opened, Buffer& out,
                                store::Sink* sink) {
  const std::size_t begin = out.size();
  const bool begins = sink == nullptr || sink->position == nullptr || !sink->position->reply_begun;
  const bool can_park = static_cast<const IndexPlan&>(use.index()).position_parts() != 0;
  std::uint64_t rows = 0;
  const auto park = [&] {
    counters_.add(Counter::rows_read, rows);
    server::count_sent_rows(host_.thd(), rows);
    sink->position = scan_.position();
    sink->position->reply_begun = !begins || rows != 0;
    return Verdict::parked;
  };
  int error = 0;
  while (true) {
    error = scan_.next();
    if (error == IndexScan::gave_up && sink != nullptr) {
      if (sink->must_end()) break;
      if (can_park && scan_.has_position() && sink->must_give_way()) return park();
      scan_.allow(steps_between_looks);
      continue;
    }
    if (error != 0) break;
    if (!append_row(use, *opened.table, out)) [[unlikely]] {
      // The server has raised an error that is fatal for its statement.
      host_.thd()->reset_for_next_command();
      error = HA_ERR_OUT_OF_MEM;
      break;
    }
    ++rows;
    if (scan_.is_done()) {
      error = HA_ERR_END_OF_FILE;
      break;
    }
    if (sink == nullptr) {
      if (out.size() - begin > max_reply_bytes) break;
    } else if (out.size() >= flush_bytes) {
      const auto flushed = sink->flush(out, can_park);
      if (flushed == store::Sink::Flushed::ended) break;
      if (flushed == store::Sink::Flushed::stalled) return park();
    }
  }
  counters_.add(Counter::rows_read, rows);
  const bool is_unfinished = error == 0 || error == IndexScan::gave_up;
  if (is_unfinished && sink == nullptr) {
    out.truncate(begin);
    return Verdict::oversized;
  }
  server::count_sent_rows(host_.thd(), rows);
  if (is_unfinished) return {};
  if (!IndexScan::is_end(error)) {
    if (sink == nullptr || rows == 0) out.truncate(begin);
    const Status status = writer_.failure(error);
    host_.thd()->clear_error();
    if (rows == 0 && is_newer_than_snapshot(status)) return Verdict::blocked;
    return status;
  }
  return {};
}

}  // namespace hs::mysqld
