#include "mysqld/store/table_store.h"

#include <algorithm>
#include <cassert>
#include <string_view>
#include <utility>

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

// Whether a count is of all rows between two ends, so that their order makes no difference.
bool counts_all(const store::Selection& selection) {
  const bool is_whole = selection.limit == store::no_limit && selection.offset == 0;
  return selection.range.bound == store::Bound::within && is_whole &&
         std::ranges::none_of(selection.filters, [](const store::Filter& filter) {
           return filter.kind == store::FilterKind::stop;
         });
}

}  // namespace

TableStore::TableStore(std::unique_ptr<HostThread> host, const TableStoreConfig& config,
                       CounterBlock& counters)
    : owned_host_(std::move(host)),
      host_(*owned_host_),
      config_(config),
      counters_(counters),
      tables_(host_.thd(), config.remote_tables, config.streams, counters),
      pass_(host_, tables_,
            {.writes = config.writes,
             .streams = config.streams,
             .asks_other_servers = config.remote_tables == RemoteTables::served},
            counters),
      access_(host_, config.writes, counters, pass_),
      writer_(host_.thd()),
      scan_(meter_) {}

// A worker that leaves in the middle of a pass must not leave tables open.
TableStore::~TableStore() {
  TableStore::abandon_pass();
  TableStore::release();
}

void TableStore::begin_pass(store::PassMode mode, store::Budget& budget) {
  ahead_.forget();
  access_.ask_again();
  meter_.begin(budget);
  pass_.begin(mode);
  plans_.sweep_if_large();
}

void TableStore::release() {
  scan_.give_back();
  scratch_.give_back();
  found_.give_back();
  pass_.release();
}

Outcome TableStore::open_index(const store::IndexNames& names,
                               const std::shared_ptr<const store::Caller>& caller,
                               store::IndexUse& use) {
  const std::shared_ptr<IndexPlan> known = plans_.find(names);
  if (known == nullptr && (!server::is_name(names.database) || !server::is_name(names.table)))
    return Error::no_table;
  if (const Outcome begun = pass_.begin_read(); !begun.ok()) return begun;
  std::shared_ptr<IndexPlan> plan =
      known != nullptr
          ? known
          : std::make_shared<IndexPlan>(
                names,
                tables_.slot(server::stored_name(names.database), server::stored_name(names.table)),
                config_.encoding, config_.streams || names.keeps_positions);
  const TableSlot& slot = plan->slot();
  if (!config_.databases.allows(slot.database)) return store::access_denied;
  if (const Outcome may = access_.may_open(*caller, slot.database, slot.name); !may.ok())
    return may;
  OpenTable* opened = nullptr;
  const Outcome outcome = tables_.open_reader(plan->slot(), opened);
  meter_.look();
  if (!outcome.ok()) return outcome;
  if (Status status = plan->resolve(*opened->table); !status.ok()) return status;
  if (known == nullptr) plans_.add(plan);
  use = {std::move(plan), caller};
  return {};
}

template <TableStore::Wants wants>
Outcome TableStore::open_for_reading(IndexPlan& plan, std::span<const store::Filter> filters,
                                     OpenTable*& opened) {
  if (const Outcome begun = pass_.begin_read(); !begun.ok()) [[unlikely]]
    return begun;
  const Outcome outcome = tables_.open_reader(plan.slot(), opened);
  if (!outcome.ok()) [[unlikely]] {
    meter_.look();
    return outcome;
  }
  const Status status =
      wants == Wants::rows ? plan.set_up_reader(*opened) : plan.set_up_counter(*opened, filters);
  if (is_newer_than_snapshot(status)) [[unlikely]]
    return Verdict::blocked;
  return status;
}

template <TableStore::Wants wants, class Answer>
Outcome TableStore::search(store::IndexUse& use, const store::Selection& selection,
                           store::Sink* sink, const Answer& answer) {
  assert(selection.is_valid());
  const auto check = [&](const Permissions& caller) { return caller.check_find(selection); };
  const Outcome allowed = access_.may(use, check);
  if (Access::is_refused(allowed)) [[unlikely]]
    return allowed;
  // Each value is at least one step. The worker need not try.
  const bool is_bounded = sink == nullptr && pass_.mode() != PassMode::aside;
  if (is_bounded && selection.in.values.size() > StepMeter::most_in_a_worker) [[unlikely]]
    return Verdict::oversized;
  auto& plan = static_cast<IndexPlan&>(use.index());
  plan.note_request();
  const auto version = plan.table_version();
  OpenTable* opened = nullptr;
  const Outcome outcome = open_for_reading<wants>(plan, selection.filters, opened);
  if (!outcome.ok()) [[unlikely]]
    return outcome;
  if (!allowed.ok() || plan.table_version() != version) [[unlikely]] {
    if (const Outcome now = access_.may(use, check); !now.ok()) return now;
  }
  pass_.count_for(use.caller());
  if (server::audits_tables()) [[unlikely]] {
    if (const Status told = access_.tell(use, *opened->table, Purpose::read); !told.ok())
      return told;
  }
  const Acting acting(access_.privileges(), use.caller(), host_.thd(), *opened->table,
                      server::asks_for_user_to_read(*opened->table));
  if (!acting.outcome().ok()) [[unlikely]]
    return acting.outcome();
  if (ahead_.expects()) [[unlikely]]
    ahead_.fetch_expected(plan, *opened);
  tables_.announce(selection);
  const std::uint64_t most_steps =
      is_bounded ? StepMeter::most_in_a_worker : std::uint64_t{IndexScan::no_bound};
  const Status started = start(plan, *opened, selection, sink, most_steps);
  if (!started.ok()) return started;
  if (sink != nullptr) scan_.allow(steps_between_looks);
  return pass_.counted(answer(plan, *opened), false);
}

Outcome TableStore::find(store::IndexUse& use, const store::Selection& selection, store::Rows& rows,
                         Buffer& out, store::Sink* sink, store::Found& found) {
  const auto answer = [&](const IndexPlan& plan, OpenTable& opened) {
    return answer_rows(plan, opened, rows, out, sink, found);
  };
  return search<Wants::rows>(use, selection, sink, answer);
}

Outcome TableStore::count(store::IndexUse& use, const store::Selection& selection,
                          std::uint64_t& rows, store::Sink* sink) {
  const auto answer = [&](const IndexPlan& plan, OpenTable& /*opened*/) {
    return count_rows(plan, rows, sink);
  };
  if (!counts_all(selection)) return search<Wants::count>(use, selection, sink, answer);
  store::Selection all = selection;
  all.in_any_order = true;
  return search<Wants::count>(use, all, sink, answer);
}

Status TableStore::start(const IndexPlan& plan, OpenTable& opened,
                         const store::Selection& selection, store::Sink* sink,
                         std::uint64_t most_steps) {
  if (sink != nullptr && sink->position != nullptr) return go_on(plan, opened, selection, *sink);
  if (selection.behind == nullptr) return scan_.start(plan, opened, selection, most_steps);
  const auto& from = static_cast<const ScanPosition&>(*selection.behind);
  return scan_.resume(plan, opened, selection, from, most_steps);
}

Status TableStore::go_on(const IndexPlan& plan, OpenTable& opened,
                         const store::Selection& selection, store::Sink& sink) {
  const auto& from = static_cast<const ScanPosition&>(*sink.position);
  const Status status = scan_.resume(plan, opened, selection, from, IndexScan::no_bound);
  if (status.number() != ER_TABLE_DEF_CHANGED || from.reply_begun) return status;
  // The place is lost, but nothing was answered: the find begins again.
  sink.position = nullptr;
  return start(plan, opened, selection, nullptr, IndexScan::no_bound);
}

Outcome TableStore::answer_rows(const IndexPlan& plan, OpenTable& opened, store::Rows& rows,
                                Buffer& out, store::Sink* sink, store::Found& found) {
  const std::size_t begin = out.size();
  const bool begins = sink == nullptr || sink->position == nullptr || !sink->position->reply_begun;
  const bool is_aside = pass_.mode() == PassMode::aside;
  const bool in_pieces = sink != nullptr && rows.is_sent_in_pieces();
  // Of what is kept as a whole. A find with a sink goes on for as long as its rows may.
  std::size_t most_bytes = rows.most_bytes();
  if (sink == nullptr)
    most_bytes = std::min(most_bytes, is_aside ? max_whole_reply_bytes : max_reply_bytes);
  const bool can_park = plan.position_parts() != 0;
  const TableRow row(*opened.table, scratch_);
  std::uint64_t count = 0;
  found.end = nullptr;
  found.may_have_more = false;
  const auto park = [&] {
    counters_.add(Counter::rows_read, count);
    server::count_sent_rows(host_.thd(), count);
    found.rows = count;
    sink->position = scan_.position();
    sink->position->reply_begun = !begins || count != 0;
    return Verdict::parked;
  };
  int error = 0;
  while (true) {
    error = scan_.next();
    if (error == IndexScan::gave_up && sink != nullptr) {
      if (sink->must_end()) break;
      const bool may_park = can_park && (in_pieces || count == 0) && scan_.has_position();
      if (may_park && sink->must_give_way()) return park();
      scan_.allow(steps_between_looks);
      continue;
    }
    if (error != 0) break;
    if (!rows.take(plan.columns(), row, scan_.in_number(), out)) [[unlikely]] {
      // The server has raised an error that is fatal for its statement.
      host_.thd()->reset_for_next_command();
      error = HA_ERR_OUT_OF_MEM;
      break;
    }
    ++count;
    // Also behind the last row: a worker keeps no large reply, and a streamer sends it in pieces.
    if (!in_pieces && out.size() - begin > most_bytes) break;
    if (scan_.is_done()) {
      found.may_have_more = !scan_.is_only_row();
      if (found.wants_end && can_park && found.may_have_more) found.end = scan_.position();
      error = HA_ERR_END_OF_FILE;
      break;
    }
    if (in_pieces && out.size() >= flush_bytes) {
      const auto flushed = sink->flush(out, can_park);
      if (flushed == store::Sink::Flushed::ended) break;
      if (flushed == store::Sink::Flushed::stalled) return park();
    }
  }
  counters_.add(Counter::rows_read, count);
  found.rows = count;
  const bool is_unfinished = error == 0 || error == IndexScan::gave_up;
  if (is_unfinished && !in_pieces) [[unlikely]] {
    const std::size_t bytes = out.size() - begin;
    out.truncate(begin);
    if (bytes > rows.most_bytes()) return server::status_of(ER_NET_PACKET_TOO_LARGE);
    if (sink != nullptr) return {};  // nobody waits for it
    if (!is_aside) return Verdict::oversized;
    return error == 0 ? server::status_of(ER_NET_PACKET_TOO_LARGE) : over_bound();
  }
  server::count_sent_rows(host_.thd(), count);
  if (is_unfinished) return {};
  if (!IndexScan::is_end(error)) {
    if (!in_pieces || count == 0) out.truncate(begin);
    const Status status = writer_.failure(error);
    host_.thd()->clear_error();
    if (count == 0 && is_newer_than_snapshot(status)) return Verdict::blocked;
    return status;
  }
  return {};
}

Outcome TableStore::count_rows(const IndexPlan& plan, std::uint64_t& rows, store::Sink* sink) {
  const bool can_park = plan.position_parts() != 0;
  int error = 0;
  while (true) {
    do error = scan_.next();
    while (error == 0 && !scan_.is_done());
    if (error != IndexScan::gave_up) break;
    if (sink == nullptr)
      return pass_.mode() == PassMode::aside ? Outcome(over_bound()) : Outcome(Verdict::oversized);
    if (sink->must_end()) return server::status_of(ER_QUERY_INTERRUPTED);
    if (can_park && scan_.has_position() && sink->must_give_way()) {
      sink->position = scan_.position();
      sink->position->reply_begun = false;
      return Verdict::parked;
    }
    scan_.allow(steps_between_looks);
  }
  if (error == 0 || IndexScan::is_end(error)) {
    rows = scan_.given();
    return {};
  }
  const Status status = writer_.failure(error);
  host_.thd()->clear_error();
  return is_newer_than_snapshot(status) ? Outcome(Verdict::blocked) : Outcome(status);
}

}  // namespace hs::mysqld
