#include "mysqld/opening/open_tables.h"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "mysqld/server/api.h"
#include "mysqld/server/errors.h"
#include "mysqld/server/table_opening.h"
#include "mysqld/server/variables.h"

namespace hs::mysqld {
namespace {

constexpr std::size_t slots_before_sweep = 1024;
// Whoever asks for more rows than this gets them as one result.
constexpr std::uint64_t most_rows_in_pieces = 100'000;

}  // namespace

void OpenTable::begin_counting() {
  if (events->open == LongEvents::most) return;
  ++events->open;
  table->file->start_psi_batch_mode();
  counts_rows = true;
}

void OpenTable::end_index() {
  if (std::exchange(counts_rows, false)) {
    table->file->end_psi_batch_mode();
    --events->open;
  }
  server::end_keyread(*table);
  table->file->ha_index_or_rnd_end();
}

OpenTables::OpenTables(THD* thd, RemoteTables remote_tables, bool waits_for_rows,
                       CounterBlock& counters)
    : thd_(thd),
      remote_tables_(remote_tables),
      waits_for_rows_(waits_for_rows),
      counters_(counters),
      sweep_at_(slots_before_sweep) {}

OpenTables::~OpenTables() { assert(!any_open_); }

std::shared_ptr<TableSlot> OpenTables::slot(std::string_view database, std::string_view name) {
  if (slots_.size() >= sweep_at_) {
    std::erase_if(slots_, [](const auto& entry) { return entry.second.expired(); });
    // Slots in use stay. Another sweep pays only when as many have come again.
    sweep_at_ = std::max(slots_before_sweep, 2 * slots_.size());
  }
  auto& known = slots_[{std::string(database), std::string(name)}];
  std::shared_ptr<TableSlot> slot = known.lock();
  if (slot == nullptr) {
    slot = std::make_shared<TableSlot>();
    slot->database = database;
    slot->name = name;
    slot->reader.events = slot->writer.events = &events_;
    known = slot;
  }
  return slot;
}

store::Outcome OpenTables::open_reader_slow(TableSlot& slot, OpenTable*& opened) {
  if (slot.writer.table != nullptr && server::has_table_lock(*slot.writer.table)) {
    opened = &slot.writer;
    return {};
  }
  if (alone_) close_tables();
  const store::Outcome outcome = open_one(slot, slot.reader, Purpose::read);
  if (outcome.ok()) opened = &slot.reader;
  return outcome;
}

store::Outcome OpenTables::open_writer(TableSlot& slot, Purpose purpose) {
  if (slot.writer.table != nullptr) {
    if (slot.writer.any_write || slot.writer.purpose == purpose) return {};
    close_tables();
  }
  if (alone_ || only_reads() ||
      (slot.reader.table != nullptr && server::has_table_lock(*slot.reader.table)))
    close_tables();
  const store::Outcome outcome = open_one(slot, slot.writer, purpose);
  if (!outcome.ok()) return outcome;
  slot.writer.any_write = !server::needs_other_tables(*slot.writer.table);
  const bool needs_them = !slot.writer.any_write && purpose != Purpose::lock;
  return needs_them ? open_alone(slot, purpose) : store::Outcome{};
}

// Whether InnoDB refuses every lock for writing. If it refuses one on MariaDB while the same session
// has a table open for reading, later finds of the session miss rows.
bool OpenTables::only_reads() {
  if (!only_reads_) only_reads_ = server::global_switch(thd_, "innodb_read_only").value_or(false);
  return *only_reads_;
}

void OpenTables::init_request(TableSlot& slot, OpenTable& opened, Purpose purpose) {
  server::init_request(*opened.request, slot.database, slot.name, purpose, waits_for_rows_);
  if (remote_tables_ == RemoteTables::served) server::prepare_for_remote(thd_, *opened.request);
}

store::Outcome OpenTables::may_serve(Serving serving) const {
  if (serving == Serving::here) return {};
  if (serving == Serving::refused || remote_tables_ == RemoteTables::refused)
    return Error::no_table;
  return remote_tables_ == RemoteTables::served ? store::Outcome{} : store::Verdict::remote;
}

store::Outcome OpenTables::open_one(TableSlot& slot, OpenTable& opened, Purpose purpose) {
  if (opened.request == nullptr) opened.request = std::make_unique<server::TableRequest>();
  init_request(slot, opened, purpose);
  Serving serving{};
  if (!server::read_serving(thd_, *opened.request, serving)) return failed_open();
  if (const store::Outcome may = may_serve(serving); !may.ok()) return may;
  bool repairable = false;
  // These are set before a table is open. If something throws, everything will still be closed.
  const bool others_open = std::exchange(any_open_, true);
  open_.push_back(slot.shared_from_this());
  TABLE* const table = server::open_single(thd_, *opened.request, purpose, repairable);
  if (table == nullptr) {
    open_.pop_back();
    any_open_ = others_open;
    // open_with_needs() repairs a crashed or stale table, as SQL does.
    return repairable && !alone_ ? open_alone(slot, purpose) : failed_open();
  }
  opened.table = table;
  opened.purpose = purpose;
  if (const store::Outcome may = may_serve(server::serving_of(*table)); !may.ok()) {
    close_tables();
    return may;
  }
  if (server::has_children(*table)) return open_alone(slot, purpose);
  if (!server::lock_single(thd_, *table, *opened.request, purpose)) {
    const store::Outcome outcome = failed_open();
    close_tables();
    return outcome;
  }
  opened.statement_begun = true;
  opened.can_undo = server::has_transactions(*table);
  counters_.add(Counter::table_opens);
  return {};
}

store::Outcome OpenTables::open_alone(TableSlot& slot, Purpose purpose) {
  close_tables();
  OpenTable& opened = is_write(purpose) ? slot.writer : slot.reader;
  init_request(slot, opened, purpose);
  alone_ = true;
  any_open_ = true;
  open_.push_back(slot.shared_from_this());
  opened.table = server::open_with_needs(thd_, *opened.request, purpose);
  if (opened.table == nullptr) {
    const store::Outcome outcome = failed_open();
    close_tables();
    return outcome;
  }
  opened.purpose = purpose;
  opened.any_write = false;
  opened.statement_begun = true;
  opened.can_undo = server::can_undo_all(thd_);
  if (const store::Outcome may = may_serve(server::serving_of(*opened.table)); !may.ok()) {
    close_tables();
    return may;
  }
  counters_.add(Counter::table_opens);
  return {};
}

// Says why a table could not be opened, and forgets the server's error.
store::Outcome OpenTables::failed_open() {
  const std::uint32_t error = server::raised_error(thd_);
  // A killed call may have raised any error.
  const server::OpenFailure failure =
      server::is_killed(thd_) ? server::OpenFailure::killed : server::open_failure(error);
  thd_->clear_error();
  switch (failure) {
    case server::OpenFailure::blocked: return store::Verdict::blocked;
    case server::OpenFailure::killed: return server::status_of(ER_QUERY_INTERRUPTED);
    case server::OpenFailure::unlockable: return Error::locked_table;
    case server::OpenFailure::told: return server::status_of(error);
    case server::OpenFailure::refused: break;
  }
  return Error::no_table;
}

void OpenTables::forget_open_tables() {
  for (const auto& slot : open_) {
    for (OpenTable* opened : {&slot->reader, &slot->writer}) {
      opened->table = nullptr;
      opened->plan = nullptr;
      opened->setup = 0;
      opened->any_write = false;
    }
  }
  open_.clear();
}

void OpenTables::close_tables() {
  if (!any_open_) return;
  for (const auto& slot : open_) {
    for (OpenTable* opened : {&slot->reader, &slot->writer}) {
      if (opened->table != nullptr) opened->end_index();
    }
  }
  if (server::is_statement_open(thd_)) trans_commit_stmt(thd_);
  server::close_tables(thd_, alone_);
  forget_open_tables();
  alone_ = false;
  any_open_ = false;
}

// With filters, nobody knows how many rows have to be looked at.
void OpenTables::announce_to_other_server(const store::Selection& selection) {
  const bool is_known = selection.filters.empty() && selection.limit <= most_rows_in_pieces &&
                        selection.offset <= most_rows_in_pieces;
  server::announce_limit(thd_, is_known ? selection.limit + selection.offset : 0);
}

void OpenTables::release() {
  close_tables();
  if (remote_tables_ == RemoteTables::served) server::announce_limit(thd_, 0);
  server::release_metadata_locks(thd_);
  server::release_audit_plugins(thd_);
  // Finds leave warnings, too: the expression of a virtual column may warn.
  server::forget_warnings(thd_);
  server::free_memory(thd_);
}

}  // namespace hs::mysqld
