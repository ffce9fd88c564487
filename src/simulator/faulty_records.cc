// FaultyStore's requests on tables whose rows come and go.
#include <new>

#include "kernel_calls.h"
#include "simulator/faulty_index.h"
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

std::string_view key_of(const store::Selection& selection) {
  must(selection.range.bound == store::Bound::only && selection.key.size() == 1 &&
           selection.in.values.empty() && selection.offset == 0,
       "a script needs another way to find rows");
  return selection.key[0].bytes;
}

}  // namespace

Table* FaultyStore::table_of(const store::IndexUse& use) { return index_of(use).table; }

Outcome FaultyStore::begin_read(const store::IndexUse& use, const store::Sink* sink) {
  const Verdict asked = ask_other_server(false, true);
  if (asked != Verdict::answered) return asked;
  if (const Outcome wrong = go_wrong(false); !wrong.ok()) return wrong;
  budget_->spend();
  // The few rows of the containers are read without a sink, also by streamers.
  const bool is_bounded =
      sink == nullptr && mode_ != PassMode::aside && table_of(use)->name != "containers";
  const bool is_long = is_bounded && World::current().chance(faults_.long_write);
  return is_long ? Outcome(Verdict::oversized) : Outcome();
}

// The row is locked afterwards, if it is there. Only a thread that does nothing else waits for it.
Outcome FaultyStore::begin_write(const store::IndexUse& use, std::string_view key) {
  must(role_ == net::Role::worker || mode_ == PassMode::aside, "a write is not on a worker");
  const Verdict asked = ask_other_server(false, true);
  if (asked != Verdict::answered) return asked;
  if (const Outcome wrong = go_wrong(true); !wrong.ok()) return wrong;
  if (const Outcome locked = meet_locks(); !locked.ok()) return locked;
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
  budget_->spend(store::Budget::steps_of_a_change);
  return {};
}

Outcome FaultyStore::find_records(store::IndexUse& use, const store::Selection& selection,
                                  store::Rows& rows, Buffer& out, const store::Sink* sink,
                                  store::Found& found) {
  found = {};
  if (const Outcome begun = begin_read(use, sink); !begun.ok()) return begun;
  const Table& table = *table_of(use);
  const auto give = [&](std::string_view key) {
    const Record* const record = transaction_.read(table, key);
    if (record == nullptr) return;
    take(use, *record, rows, out);
    ++found.rows;
  };
  if (selection.range.bound != store::Bound::within) {
    give(key_of(selection));
  } else {
    for (const auto& [key, versions] : table.rows) give(key);
  }
  return {};
}

Outcome FaultyStore::count_records(store::IndexUse& use, const store::Selection& selection,
                                   std::uint64_t& rows, const store::Sink* sink) {
  if (const Outcome begun = begin_read(use, sink); !begun.ok()) return begun;
  rows = transaction_.read(*table_of(use), key_of(selection)) == nullptr ? 0 : 1;
  return {};
}

Outcome FaultyStore::modify_record(store::IndexUse& use, const store::Selection& selection,
                                   const store::Change& change, store::Rows* rows, Buffer& out,
                                   store::Changed& changed) {
  changed = {};
  const std::string_view key = key_of(selection);
  if (const Outcome begun = begin_write(use, key); !begun.ok()) return begun;
  Table& table = *table_of(use);
  const Record* const found = transaction_.latest(table, key);
  if (found == nullptr || !meets(*found, index_of(use).filter_columns, selection.filters))
    return end_write();
  const Record before = *found;
  const std::size_t begin = out.size();
  if (change.rows_before) take(use, before, *rows, out);
  changed.rows = 1;
  if (change.erases()) {
    transaction_.write(table, key, std::nullopt);
  } else if (!change.only_locks()) {
    Record after = changed_record(before, index_of(use).columns, change);
    if (change.rows_after) take(use, after, *rows, out);
    transaction_.write(table, key, std::move(after));
  }
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
  if (const Outcome begun = begin_write(use, key); !begun.ok()) return begun;
  if (transaction_.latest(table, key) != nullptr) return Error::duplicate_key;
  changed = {.rows = 1};
  transaction_.write(table, key, std::move(record));
  return end_write();
}

}  // namespace hs::simulator
