// FaultyStore's requests on tables whose rows come and go.
#include <new>

#include "kernel_calls.h"
#include "simulator/faulty_index.h"
#include "simulator/faulty_matches.h"
#include "simulator/faulty_rows.h"
#include "simulator/faulty_store.h"

namespace hs::simulator {
namespace {

using store::Outcome;
using store::PassMode;
using store::Verdict;

constexpr Status row_locked = Error::row_locked;
constexpr std::uint64_t longest_wait_ns = 1'000'000'000;
constexpr std::size_t longest_look_ms = 20;  // between two looks at a locked row

const FaultyIndex& index_of(const store::IndexUse& use) {
  return static_cast<const FaultyIndex&>(use.index());
}

void take(const store::IndexUse& use, const Record& record, store::Rows& rows, Buffer& out) {
  if (!rows.take(index_of(use).readers, RecordRow(record), 0, out)) throw std::bad_alloc();
}

// How many percent of the ranges are too much for a worker, and of the rows of a long search come slowly.
constexpr unsigned long_ranges = 20;
constexpr unsigned slow_rows = 30;
constexpr std::size_t slowest_row_ms = 60;

const RecordPosition* parked_at(const store::Sink* sink) {
  return sink == nullptr ? nullptr : static_cast<const RecordPosition*>(sink->position.get());
}

}  // namespace

Table* FaultyStore::table_of(const store::IndexUse& use) { return index_of(use).table; }

// A reply that has begun cannot go on where another server has the table.
Outcome FaultyStore::begin_read(const store::IndexUse& use, const store::Selection& selection,
                                const store::Sink* sink) {
  const Verdict asked = ask_other_server(false, parked_at(sink) == nullptr);
  if (asked != Verdict::answered) return asked;
  if (const Outcome wrong = go_wrong(false); !wrong.ok()) return wrong;
  budget_->spend();
  const bool is_range = selection.range.bound == store::Bound::within;
  const unsigned chance = is_range ? long_ranges : faults_.long_write;
  const bool is_long = is_bounded(use, sink) && World::current().chance(chance);
  return is_long ? Outcome(Verdict::oversized) : Outcome();
}

// A long search has met a row: whether it has to be left behind it.
bool FaultyStore::must_leave(store::Sink& sink) const {
  World& world = World::current();
  if (world.chance(slow_rows))
    net::kernel::poll(nullptr, 0, 1 + static_cast<int>(world.below(slowest_row_ms)));
  return sink.must_give_way();
}

// The few rows of the containers are read without a sink, also by streamers.
bool FaultyStore::is_bounded(const store::IndexUse& use, const store::Sink* sink) const {
  return sink == nullptr && mode_ != PassMode::aside && table_of(use)->name != "containers";
}

// The rows are locked afterwards, if they are there. Only a thread that does nothing else waits for them.
Outcome FaultyStore::begin_write(const store::IndexUse& use, std::span<const std::string> keys) {
  must(role_ == net::Role::worker || mode_ == PassMode::aside, "a write is not on a worker");
  const Verdict asked = ask_other_server(false, true);
  if (asked != Verdict::answered) return asked;
  if (const Outcome wrong = go_wrong(true); !wrong.ok()) return wrong;
  if (const Outcome locked = meet_locks(); !locked.ok()) return locked;
  for (const std::string& key : keys) {
    if (const Outcome locked = lock(use, key); !locked.ok()) return locked;
    budget_->spend(store::Budget::steps_of_a_change);
  }
  return {};
}

Outcome FaultyStore::lock(const store::IndexUse& use, const std::string& key) {
  World& world = World::current();
  const std::uint64_t end = world.now() + longest_wait_ns;
  while (!transaction_.lock(*table_of(use), key)) {
    if (mode_ != PassMode::aside) {
      const bool may_ask = world.chance(70);
      return Outcome::by_row(may_ask ? Verdict::blocked : Verdict::oversized, row_locked);
    }
    if (world.now() > end)
      return world.chance(50) ? lose_to_deadlock() : Outcome::by_row(Verdict::blocked, row_locked);
    net::kernel::poll(nullptr, 0, 1 + static_cast<int>(world.below(longest_look_ms)));
  }
  return {};
}

Outcome FaultyStore::find_records(store::IndexUse& use, const store::Selection& selection,
                                  store::Rows& rows, Buffer& out, store::Sink* sink,
                                  store::Found& found) {
  found.rows = 0;
  found.may_have_more = false;
  found.end = nullptr;
  if (const Outcome begun = begin_read(use, selection, sink); !begun.ok()) return begun;
  const Table& table = *table_of(use);
  FaultyMatches matches(index_of(use), transaction_, selection, parked_at(sink));
  const bool in_pieces = sink != nullptr && rows.is_sent_in_pieces();
  std::size_t looked_at = 0;
  for (const std::string& key : matches.keys()) {
    budget_->spend();
    if (is_bounded(use, sink) && ++looked_at > most_rows_of_worker) return Verdict::oversized;
    const Record* const record = transaction_.read(table, key);
    if (record == nullptr) continue;
    const FaultyMatches::Fate fate = matches.meet(*record);
    if (fate == FaultyMatches::Fate::last) break;
    if (fate == FaultyMatches::Fate::left_out) continue;
    take(use, *record, rows, out);
    ++found.rows;
    if (matches.is_full()) {
      found.may_have_more = true;
      if (found.wants_end) found.end = matches.leave(key);
      break;
    }
    if (!in_pieces) continue;
    const store::Sink::Flushed flushed = sink->flush(out, true);
    if (flushed == store::Sink::Flushed::ended) return Error::killed;
    if (flushed == store::Sink::Flushed::stalled || must_leave(*sink)) {
      sink->position = matches.leave(key);
      return Verdict::parked;
    }
  }
  return {};
}

Outcome FaultyStore::count_records(store::IndexUse& use, const store::Selection& selection,
                                   std::uint64_t& rows, store::Sink* sink) {
  if (const Outcome begun = begin_read(use, selection, sink); !begun.ok()) return begun;
  const Table& table = *table_of(use);
  FaultyMatches matches(index_of(use), transaction_, selection, parked_at(sink));
  std::size_t looked_at = 0;
  for (const std::string& key : matches.keys()) {
    budget_->spend();
    if (is_bounded(use, sink) && ++looked_at > most_rows_of_worker) return Verdict::oversized;
    const Record* const record = transaction_.read(table, key);
    if (record == nullptr) continue;
    if (matches.meet(*record) == FaultyMatches::Fate::last || matches.is_full()) break;
    if (sink == nullptr) continue;
    if (sink->must_end()) return Error::killed;
    if (must_leave(*sink)) {
      sink->position = matches.leave(key);
      sink->position->reply_begun = false;
      return Verdict::parked;
    }
  }
  rows = matches.met();
  return {};
}

Outcome FaultyStore::modify_records(store::IndexUse& use, const store::Selection& selection,
                                    const store::Change& change, store::Rows* rows, Buffer& out,
                                    store::Changed& changed) {
  changed = {};
  Table& table = *table_of(use);
  FaultyMatches matches(index_of(use), transaction_, selection, nullptr);
  if (const Outcome begun = begin_write(use, matches.keys()); !begun.ok()) return begun;
  const std::size_t begin = out.size();
  for (const std::string& key : matches.keys()) {
    const Record* const found = transaction_.latest(table, key);
    if (found == nullptr) continue;
    const FaultyMatches::Fate fate = matches.meet(*found);
    if (fate == FaultyMatches::Fate::last) break;
    if (fate == FaultyMatches::Fate::left_out) continue;
    const Record before = *found;
    if (change.rows_before) take(use, before, *rows, out);
    if (change.erases()) {
      transaction_.write(table, key, std::nullopt);
    } else if (!change.only_locks()) {
      Record after = changed_record(before, index_of(use).columns, change);
      if (change.rows_after) take(use, after, *rows, out);
      transaction_.write(table, key, std::move(after));
    }
    if (matches.is_full()) break;
  }
  changed.rows = matches.met();
  const Outcome ended = end_write();
  if (!ended.ok()) out.truncate(begin);
  return ended;
}

Outcome FaultyStore::insert_record(store::IndexUse& use, const store::Insert& row,
                                   store::Changed& changed) {
  Table& table = *table_of(use);
  std::optional<Record> record = new_record(table, index_of(use).columns, row.values);
  if (!record || !record->front()) return Error::null_not_allowed;
  const std::string key = *record->front();
  if (const Outcome begun = begin_write(use, {&key, 1}); !begun.ok()) return begun;
  if (transaction_.latest(table, key) != nullptr) return Error::duplicate_key;
  changed = {.rows = 1};
  transaction_.write(table, key, std::move(record));
  return end_write();
}

}  // namespace hs::simulator
