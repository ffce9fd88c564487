#include "mysqld/table_store.h"

#include <algorithm>
#include <cassert>

#include "mysqld/server/table_opening.h"
#include "mysqld/server_api.h"
#include "protocol/reply.h"

namespace hs::mysqld {
namespace {

using protocol::Modification;
using protocol::ReplyWriter;
using store::Outcome;
using store::Verdict;

// What a find may take of its worker's time and memory before it is streamed.
constexpr std::uint64_t max_rows_examined = 4'000;
constexpr std::size_t max_reply_bytes = std::size_t{256} << 10;
// How much of a streamed reply is gathered before it is sent.
constexpr std::size_t flush_bytes = std::size_t{64} << 10;
// The rows of a `?` form are one reply that leaves after the commit.
constexpr std::size_t max_modified_rows_bytes = std::size_t{64} << 20;
constexpr std::size_t max_positions_bytes = std::size_t{256} << 20;
// Plans that no connection uses are dropped when all together take about so much.
constexpr std::size_t plan_bytes_before_sweep = std::size_t{256} << 10;

Purpose purpose_of(Modification modification) {
  return modification == Modification::erase ? Purpose::erase : Purpose::update;
}

std::size_t plan_bytes(const std::string& names) { return sizeof(IndexPlan) + names.size(); }

// The table was changed after the pass had taken its snapshot: a later pass sees it as it is now.
bool is_from_before(const Status& status) {
  return status == Status::server(HA_ERR_TABLE_DEF_CHANGED);
}

bool is_end(int error) { return error == HA_ERR_END_OF_FILE; }

}  // namespace

TableStore::TableStore(std::unique_ptr<HostThread> host, const TableStoreConfig& config,
                       CounterBlock& counters)
    : owned_host_(std::move(host)),
      host_(*owned_host_),
      config_(config),
      counters_(counters),
      tables_(host_.thd(), counters),
      transaction_(host_, tables_, counters),
      writer_(host_.thd()),
      sweep_plans_at_(plan_bytes_before_sweep) {}

// A worker that leaves in the middle of a pass must not leave tables open.
TableStore::~TableStore() {
  TableStore::abandon_pass();
  TableStore::release();
}

void TableStore::begin_pass(store::PassMode mode) {
  assert(!working_ && !reading_);
  mode_ = mode;
  // Plans are swept between passes only: an open table may point to one.
  if (plan_bytes_ > sweep_plans_at_) sweep_plans();
}

void TableStore::sweep_plans() {
  std::erase_if(plans_, [](const auto& entry) { return entry.second.use_count() == 1; });
  plan_bytes_ = 0;
  for (const auto& [names, plan] : plans_) plan_bytes_ += plan_bytes(names);
  // What is in use stays: sweeping pays only when as much again has come.
  sweep_plans_at_ = std::max(plan_bytes_before_sweep, 2 * plan_bytes_);
}

// The first request of a pass.
void TableStore::begin_work() {
  if (working_) [[likely]]
    return;
  working_ = true;
  if (host_.killed()) host_.forgive();
  host_.refresh_variables();
  host_.show_state(config_.writes ? "handlersocket: writing" : "handlersocket: reading");
  if (config_.writes) transaction_.begin();
}

Outcome TableStore::end_pass() {
  if (!working_) return {};
  if (!end_shared_statement().ok()) return Verdict::broken;
  working_ = false;
  if (transaction_.active()) return transaction_.commit();
  reading_ = true;
  return {};
}

void TableStore::release() {
  if (!reading_) return;
  reading_ = false;
  transaction_.end_reading();
}

void TableStore::abandon_pass() {
  if (!working_) return;
  working_ = false;
  shared_ = nullptr;
  if (transaction_.active()) return transaction_.roll_back();
  transaction_.end_reading();
}

Outcome TableStore::open_index(const protocol::OpenIndex& request,
                               std::shared_ptr<store::Index>& index) {
  plan_key_.clear();
  for (const std::string_view part :
       {request.database, request.table, request.index, request.columns, request.filter_columns}) {
    plan_key_.append(part).push_back('\t');
  }
  auto known = plans_.find(plan_key_);
  if (known == plans_.end() &&
      (!server::is_name(request.database) || !server::is_name(request.table))) {
    return Error::open_table;
  }
  begin_work();
  if (!end_shared_statement().ok()) return Verdict::broken;
  std::shared_ptr<IndexPlan> plan =
      known != plans_.end()
          ? known->second
          : std::make_shared<IndexPlan>(request, tables_.slot(request.database, request.table),
                                        config_.encoding);
  OpenTable* opened = nullptr;
  const Outcome outcome = tables_.open_reader(plan->slot(), opened);
  if (!outcome.ok()) return outcome;
  if (Status status = plan->resolve(*opened->table); !status.ok()) return status;
  if (known == plans_.end()) {
    plans_.emplace(plan_key_, plan);
    plan_bytes_ += plan_bytes(plan_key_);
  }
  index = std::move(plan);
  return {};
}

Outcome TableStore::open_for_reading(IndexPlan& plan, OpenTable*& opened) {
  begin_work();
  if (shared_ != nullptr && !end_shared_statement().ok()) [[unlikely]]
    return Verdict::broken;
  const Outcome outcome = tables_.open_reader(plan.slot(), opened);
  if (!outcome.ok()) [[unlikely]]
    return outcome;
  const Status status = plan.set_up_reader(*opened);
  if (is_from_before(status)) [[unlikely]]
    return Verdict::blocked;
  return status;
}

void TableStore::append_row(const IndexPlan& plan, TABLE& table, Buffer& out) const {
  ReplyWriter reply(out);
  for (const PlannedColumn& column : plan.columns()) {
    Field& field = *table.field[column.field];
    if (field.is_null()) {
      reply.null();
    } else {
      column.format(field, reply);
    }
  }
}

Outcome TableStore::find(store::Index& index, const protocol::Find& request, Buffer& out,
                         store::Sink* sink) {
  auto& plan = static_cast<IndexPlan&>(index);
  OpenTable* opened = nullptr;
  const Outcome outcome = open_for_reading(plan, opened);
  if (!outcome.ok()) [[unlikely]]
    return outcome;
  if (Status status = scan_.start(plan, *opened->table, request); !status.ok()) return status;
  return answer_rows(plan, *opened, out, sink);
}

Outcome TableStore::answer_rows(IndexPlan& plan, OpenTable& opened, Buffer& out,
                                store::Sink* sink) {
  const std::size_t reply_begin = out.size();
  ReplyWriter reply(out);
  reply.begin_rows(plan.column_count());
  std::uint64_t rows = 0;
  int error = 0;
  while ((error = scan_.next()) == 0) {
    append_row(plan, *opened.table, out);
    ++rows;
    if (scan_.is_done()) {
      error = HA_ERR_END_OF_FILE;
      break;
    }
    if (sink == nullptr) {
      if (scan_.examined() > max_rows_examined || out.size() - reply_begin > max_reply_bytes) break;
    } else if (out.size() >= flush_bytes && !sink->flush(out)) {
      break;
    }
  }
  counters_.add(Counter::rows_read, rows);
  if (error == 0) {
    if (sink == nullptr) {
      out.truncate(reply_begin);
      return Verdict::oversized;
    }
  } else if (!is_end(error)) {
    if (sink == nullptr || rows == 0) out.truncate(reply_begin);
    const Status status = writer_.failure(error);
    host_.thd()->clear_error();
    if (rows == 0 && is_from_before(status)) return Verdict::blocked;
    return status;
  }
  reply.end_rows();
  return {};
}

// Runs one write as a statement: begun, executed, made part of the transaction
// or undone. Writes of one row that follow one another on one table share a
// statement for the server, which saves its beginning, its end and a table map in
// the binary log for each: the engine undoes a row that failed by itself.
template <class Execute>
Outcome TableStore::run_write(TableSlot& slot, Purpose purpose, bool one_row, Buffer& out,
                              Execute execute) {
  begin_work();
  if (!transaction_.active()) transaction_.begin();
  if (opt_readonly) return Status::server(ER_OPTION_PREVENTS_STATEMENT);
  const std::size_t reply_begin = out.size();
  const bool joins = one_row && shared_ == &slot.writer && slot.writer.purpose == purpose;
  if (!joins) {
    const Outcome begun = begin_write(slot, purpose);
    if (!begun.ok()) return begun;
  }
  OpenTable& opened = slot.writer;
  const Status status = execute(opened);
  if (!server::has_transactions(*opened.table)) server::note_unsafe_change(host_.thd());
  if (status.ok()) server::forget_cached_results(host_.thd(), *opened.table);
  if (joins && !status.ok() && !transaction_.was_rolled_back()) {
    out.truncate(reply_begin);
    host_.thd()->clear_error();
    // What is left of the row, if anything, cannot be undone without those before it.
    if (writer_.row_in_doubt()) return Verdict::broken;
    return status;
  }
  if (one_row && status.ok() && can_share(opened)) {
    shared_ = &opened;
    return {};
  }
  return end_write(status, out, reply_begin);
}

Outcome TableStore::begin_write(TableSlot& slot, Purpose purpose) {
  if (!end_shared_statement().ok()) return Verdict::broken;
  transaction_.begin_statement();
  const Outcome opened = tables_.open_writer(slot, purpose);
  if (!opened.ok()) return opened;
  slot.writer.purpose = purpose;
  const Status joined = transaction_.join_statement(slot.writer);
  return joined.ok() ? Outcome{} : transaction_.end_statement(joined);
}

// Triggers and foreign keys' parents are opened for one statement, and a history of versions
// tells one statement's rows from another's.
bool TableStore::can_share(const OpenTable& opened) const {
  return mode_ == store::PassMode::together && opened.any_write &&
         server::has_transactions(*opened.table) && !server::is_versioned(*opened.table);
}

Status TableStore::end_shared_statement() {
  if (shared_ == nullptr) return {};
  shared_ = nullptr;
  return transaction_.end_statement({});
}

Outcome TableStore::end_write(Status status, Buffer& out, std::size_t reply_begin) {
  shared_ = nullptr;
  const bool rolled_back = transaction_.was_rolled_back();
  status = transaction_.end_statement(status);
  if (!status.ok()) out.truncate(reply_begin);
  if (rolled_back) {
    transaction_.roll_back();
    if (mode_ == store::PassMode::writes_alone) return status;
    working_ = false;
    return Verdict::broken;
  }
  if (mode_ == store::PassMode::writes_alone) {
    const Status committed = transaction_.commit();
    if (status.ok() && !committed.ok()) {
      out.truncate(reply_begin);
      return committed;
    }
  }
  return status;
}

Outcome TableStore::insert(store::Index& index, const protocol::Insert& request, Buffer& out) {
  auto& plan = static_cast<IndexPlan&>(index);
  return run_write(plan.slot(), Purpose::insert, true, out, [&](OpenTable& opened) -> Status {
    if (Status status = writer_.set_up_insert(opened, plan, request.values.size()); !status.ok())
      return status;
    std::optional<std::uint64_t> id;
    if (Status status = writer_.insert(opened, plan, request.values, id); !status.ok())
      return status;
    counters_.add(Counter::rows_changed);
    ReplyWriter reply(out);
    if (id) {
      reply.ok(*id);
    } else {
      reply.ok();
    }
    return {};
  });
}

Outcome TableStore::modify(store::Index& index, const protocol::Find& request, Buffer& out) {
  auto& plan = static_cast<IndexPlan&>(index);
  const bool one_row = request.comparison == protocol::Comparison::equal &&
                       request.in.values.empty() &&
                       plan.is_unique(static_cast<std::uint32_t>(request.key.size()));
  return run_write(plan.slot(), purpose_of(request.modification), one_row, out,
                   [&](OpenTable& opened) { return modify_rows(plan, opened, request, out); });
}

Status TableStore::modify_rows(IndexPlan& plan, OpenTable& opened, const protocol::Find& request,
                               Buffer& out) {
  const std::size_t values =
      request.modification == Modification::erase ? 0 : request.values.size();
  if (Status status = writer_.set_up_modify(opened, plan, request.modification, values);
      !status.ok()) {
    return status;
  }
  if (Status status = scan_.start(plan, *opened.table, request); !status.ok()) return status;
  ReplyWriter reply(out);
  if (request.rows_before) reply.begin_rows(plan.column_count());
  std::uint64_t count = 0;
  const Status status = opened.find_first
                            ? modify_after_scanning(plan, opened, request, out, count)
                            : modify_while_scanning(plan, opened, request, out, count);
  if (!status.ok()) return status;
  counters_.add(Counter::rows_changed, count);
  if (request.rows_before) {
    reply.end_rows();
  } else {
    reply.ok(count);
  }
  return {};
}

Status TableStore::modify_row(IndexPlan& plan, OpenTable& opened, const protocol::Find& request,
                              Buffer& out, std::uint64_t& count) {
  if (request.rows_before) {
    append_row(plan, *opened.table, out);
    if (out.size() > max_modified_rows_bytes) return Status::server(ER_NET_PACKET_TOO_LARGE);
  }
  bool counted = false;
  if (Status status = writer_.modify(opened, plan, request, counted); !status.ok()) return status;
  if (counted) ++count;
  return {};
}

Status TableStore::modify_while_scanning(IndexPlan& plan, OpenTable& opened,
                                         const protocol::Find& request, Buffer& out,
                                         std::uint64_t& count) {
  int error = 0;
  while ((error = scan_.next()) == 0) {
    if (Status status = modify_row(plan, opened, request, out, count); !status.ok()) return status;
  }
  return is_end(error) ? Status{} : writer_.failure(error);
}

// Finds all rows, then modifies them.
Status TableStore::modify_after_scanning(IndexPlan& plan, OpenTable& opened,
                                         const protocol::Find& request, Buffer& out,
                                         std::uint64_t& count) {
  TABLE& table = *opened.table;
  handler& engine = *table.file;
  positions_.clear();
  int error = 0;
  while ((error = scan_.next()) == 0) {
    engine.position(table.record[0]);
    positions_.insert(positions_.end(), engine.ref, engine.ref + engine.ref_length);
    if (positions_.size() > max_positions_bytes) return Status::server(HA_ERR_OUT_OF_MEM);
  }
  if (!is_end(error)) return writer_.failure(error);
  engine.ha_index_end();
  opened.plan = nullptr;
  if (positions_.empty()) return {};
  if ((error = engine.ha_rnd_init(false)) != 0) return writer_.failure(error);
  Status status;
  for (std::size_t at = 0; at < positions_.size() && status.ok(); at += engine.ref_length) {
    error = engine.ha_rnd_pos(table.record[0], positions_.data() + at);
    status = error != 0 ? writer_.failure(error) : modify_row(plan, opened, request, out, count);
  }
  engine.ha_rnd_end();
  return status;
}

}  // namespace hs::mysqld
