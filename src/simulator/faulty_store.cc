#include "simulator/faulty_store.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <new>

#include "kernel_calls.h"
#include "simulator/faulty_index.h"
#include "simulator/faulty_rows.h"
#include "simulator/world.h"

namespace hs::simulator {
namespace {

using store::Outcome;
using store::Verdict;

constexpr Status commit_failed = Error::commit_failed;
constexpr Status row_locked = Error::row_locked;
constexpr std::uint64_t rows_a_flush = 7;

// Some rows behave as in an engine without transactions.
bool cannot_be_undone(std::uint64_t key) { return key % 10 >= 8; }

// How long a find may keep its pass open for a client, including what the other threads do
// meanwhile.
constexpr std::uint64_t longest_find_ns = 150'000'000;

struct RowPosition final : store::Position {
  explicit RowPosition(std::uint64_t row) : next(row) {}
  const std::uint64_t next;  // the number of the next row of the find
};

// The rows of a find. Every row is there, so the numbers of its first and last row say it all.
struct Asked {
  explicit Asked(const store::Selection& selection)
      : down(selection.range.direction == store::Direction::down) {
    if (selection.range.bound != store::Bound::within) {
      first = number_of(selection.key[0].bytes);
      rows = selection.limit;
      return;
    }
    const store::End& lower = selection.lower;
    const store::End& upper = selection.upper;
    const std::uint64_t least = number_of(lower.values[0].bytes) + (lower.open ? 1 : 0);
    const std::uint64_t behind = number_of(upper.values[0].bytes) + (upper.open ? 0 : 1);
    rows = std::min(behind > least ? behind - least : 0, selection.limit);
    first = down ? behind - 1 : least;
  }
  std::uint64_t key(std::uint64_t row) const { return down ? first - row : first + row; }

  bool down;
  std::uint64_t first = 0;
  std::uint64_t rows = 0;
};

// A row's number, and what was added to it.
struct CounterRow final : store::CurrentRow {
  CounterRow(std::uint64_t key, std::uint64_t value) : fields{key, value} {}
  std::array<std::uint64_t, 2> fields;
};

store::ColumnValue read_field(const store::Column& column, const store::CurrentRow& row,
                              char* room) {
  const std::uint64_t field = static_cast<const CounterRow&>(row).fields[column.number];
  const char* const end = std::to_chars(room, room + store::Column::room, field).ptr;
  return {room, static_cast<std::uint32_t>(end - room), store::ColumnValue::Kind::in_room};
}

constexpr std::array<store::Column, 2> columns{{{read_field, 0, "key"}, {read_field, 1, "value"}}};

}  // namespace

void FaultyStore::begin_pass(store::PassMode mode, store::Budget& budget) {
  must(!in_pass_, "a pass began in a pass");
  in_pass_ = true;
  mode_ = mode;
  budget_ = &budget;
}

Outcome FaultyStore::end_pass() {
  must(in_pass_ && !in_unit_, "a pass ended that had not begun, or within a unit");
  net::kernel::yield();
  if (has_changed() && World::current().chance(faults_.broken)) return Verdict::broken;
  in_pass_ = false;
  return commit();
}

void FaultyStore::abandon_pass() {
  in_unit_ = false;
  roll_back();
  in_pass_ = false;
}

void FaultyStore::release() {}

Outcome FaultyStore::begin_unit() {
  must(in_pass_ && !in_unit_, "a unit began outside of a pass, or in a unit");
  if (mode_ == store::PassMode::together && writes_wait_) {
    if (World::current().chance(faults_.broken)) return Verdict::not_yet;
    if (World::current().chance(faults_.broken)) return Verdict::broken;
  }
  in_unit_ = true;
  unit_is_lost_ = false;
  before_unit_ = changed_;
  waited_before_unit_ = writes_wait_;
  transaction_.set_savepoint();
  return {};
}

Outcome FaultyStore::end_unit() {
  must(in_unit_, "a unit ended that had not begun");
  in_unit_ = false;
  if (unit_is_lost_) return Error::deadlock;
  return mode_ == store::PassMode::together ? Outcome() : commit();
}

Outcome FaultyStore::undo_unit() {
  must(in_unit_, "a unit was undone that had not begun");
  in_unit_ = false;
  if (mode_ != store::PassMode::together) {
    roll_back();
    return {};
  }
  if (World::current().chance(faults_.broken)) return Verdict::broken;
  changed_ = before_unit_;
  writes_wait_ = waited_before_unit_;
  transaction_.roll_back_to_savepoint();
  return {};
}

// All that was changed, or nothing.
Outcome FaultyStore::commit() {
  if (has_changed() && World::current().chance(faults_.commit_fails)) {
    roll_back();
    return commit_failed;
  }
  for (const auto& [key, value] : changed_) counters_[key] = value;
  changed_.clear();
  writes_wait_ = false;
  transaction_.commit();
  return {};
}

void FaultyStore::roll_back() {
  changed_.clear();
  writes_wait_ = false;
  transaction_.roll_back();
}

std::uint64_t FaultyStore::value(std::uint64_t key) const {
  if (const auto mine = changed_.find(key); mine != changed_.end()) return mine->second;
  const auto found = counters_.find(key);
  return found == counters_.end() ? 0 : found->second;
}

// Of a request to a table that may be on another server. That server takes its time.
Verdict FaultyStore::ask_other_server(bool is_there, bool may_move) {
  World& world = World::current();
  if (role_ != net::Role::remote) {
    const bool moves = may_move && world.chance(faults_.moves);
    return is_there || moves ? Verdict::remote : Verdict::answered;
  }
  const bool is_slow = is_there && world.chance(10);
  if (is_slow) net::kernel::poll(nullptr, 0, static_cast<int>(world.below(longest_answer_ms)));
  return Verdict::answered;
}

// Decides before a request does anything whether it fails. Only a pass that writes can be rolled back, and
// if its writes are alone, the deadlock is the answer of the write that has met it.
Outcome FaultyStore::go_wrong(bool writes) {
  if (in_unit_ && unit_is_lost_) return Error::deadlock;
  World& world = World::current();
  net::kernel::yield();
  if (world.chance(faults_.no_memory)) throw std::bad_alloc();
  if (world.chance(faults_.blocked)) return Verdict::blocked;
  const bool can_break = writes || has_changed();
  if (can_break && world.chance(faults_.broken)) {
    if (mode_ == store::PassMode::together) return Verdict::broken;
    return lose_to_deadlock();
  }
  return {};
}

Outcome FaultyStore::lose_to_deadlock() {
  roll_back();
  unit_is_lost_ = in_unit_;
  return Error::deadlock;
}

// The same for a write, of which a row may be locked, or which may be too much for a worker.
Outcome FaultyStore::meet_locks() {
  World& world = World::current();
  if (mode_ != store::PassMode::aside) {
    if (world.chance(faults_.row_locked)) return Outcome::by_row(Verdict::blocked, row_locked);
    if (world.chance(faults_.row_locked)) return Outcome::by_row(Verdict::oversized, row_locked);
    if (world.chance(faults_.long_write)) return Verdict::oversized;
  } else if (world.chance(faults_.row_locked)) {
    // The write has waited for a while.
    const bool may_ask = world.chance(50);
    return Outcome::by_row(may_ask ? Verdict::blocked : Verdict::oversized, row_locked);
  }
  return {};
}

Outcome FaultyStore::open_index(const store::IndexNames& names,
                                const std::shared_ptr<const store::Caller>& caller,
                                store::IndexUse& use) {
  const bool is_there = names.table == "there";
  // A reply that has begun cannot go on there, and a streamer may open the index for such a one.
  const bool may_move = role_ != net::Role::streamer;
  const Verdict asked = ask_other_server(is_there, may_move);
  if (asked != Verdict::answered) return asked;
  if (const Outcome wrong = go_wrong(false); !wrong.ok()) return wrong;
  auto index = std::make_shared<FaultyIndex>();
  index->is_there = is_there;
  if (Table* const table = tables_.find(names.table); table != nullptr) {
    if (!open_table(*table, names, *index)) return Error::no_column;
  } else if (names.table == Tables::counters || is_there) {
    index->readers.assign(columns.begin(), columns.end());
  } else {
    return Error::no_table;
  }
  use = {std::move(index), caller};
  return {};
}

Outcome FaultyStore::list_names(std::optional<std::string_view> database,
                                const std::shared_ptr<const store::Caller>& /*caller*/,
                                store::Sink* sink, std::vector<std::string>& names) {
  must(database.has_value(), "the databases were listed");
  if (sink == nullptr) return Verdict::oversized;
  if (const Outcome wrong = go_wrong(false); !wrong.ok()) return wrong;
  if (sink->must_end()) return Error::killed;
  names = {"h", std::string(Tables::counters), "there"};
  return {};
}

Outcome FaultyStore::find(store::IndexUse& use, const store::Selection& selection,
                          store::Rows& rows, Buffer& out, store::Sink* sink, store::Found& found) {
  must(selection.is_valid(), "a find is not valid");
  if (table_of(use) != nullptr) return find_records(use, selection, rows, out, sink, found);
  must(rows.is_sent_in_pieces(), "nobody asks here for rows as a whole");
  found = {};
  const bool is_there = static_cast<const FaultyIndex&>(use.index()).is_there;
  must(role_ == net::Role::remote || !is_there, "a find waits for another server");
  const bool has_begun = sink != nullptr && sink->position != nullptr;
  const Verdict asked = ask_other_server(is_there, !has_begun);
  if (asked != Verdict::answered) return asked;
  if (const Outcome wrong = go_wrong(false); !wrong.ok()) return wrong;
  const Asked asked_for(selection);
  const bool is_bounded = sink == nullptr && mode_ != store::PassMode::aside;
  if (is_bounded && asked_for.rows > most_rows_of_worker) return Verdict::oversized;
  std::uint64_t next = 0;
  if (sink != nullptr && sink->position != nullptr)
    next = static_cast<const RowPosition&>(*sink->position).next;
  const std::uint64_t began = net::kernel::monotonic_now();
  while (next < asked_for.rows) {
    budget_->spend();
    const std::uint64_t key = asked_for.key(next);
    const CounterRow row(key, value(key));
    if (!rows.take(columns, row, 0, out)) throw std::bad_alloc();
    ++next;
    ++found.rows;
    if (sink != nullptr && next % rows_a_flush == 0) {
      const store::Sink::Flushed flushed = sink->flush(out, true);
      must(role_ == net::Role::remote || net::kernel::monotonic_now() - began < longest_find_ns,
           "a find holds its table while its client does not read");
      if (flushed == store::Sink::Flushed::ended) return Error::killed;
      if (flushed == store::Sink::Flushed::stalled) {
        sink->position = std::make_unique<RowPosition>(next);
        return Verdict::parked;
      }
    }
    net::kernel::yield();
  }
  return {};
}

Outcome FaultyStore::count(store::IndexUse& use, const store::Selection& selection,
                           std::uint64_t& rows, store::Sink* sink) {
  must(selection.is_valid(), "a count is not valid");
  if (table_of(use) != nullptr) return count_records(use, selection, rows, sink);
  const bool is_there = static_cast<const FaultyIndex&>(use.index()).is_there;
  must(role_ == net::Role::remote || !is_there, "a count waits for another server");
  const bool has_begun = sink != nullptr && sink->position != nullptr;
  const Verdict asked = ask_other_server(is_there, !has_begun);
  if (asked != Verdict::answered) return asked;
  if (const Outcome wrong = go_wrong(false); !wrong.ok()) return wrong;
  const Asked asked_for(selection);
  const bool is_bounded = sink == nullptr && mode_ != store::PassMode::aside;
  if (is_bounded && asked_for.rows > most_rows_of_worker) return Verdict::oversized;
  std::uint64_t counted = has_begun ? static_cast<const RowPosition&>(*sink->position).next : 0;
  while (counted < asked_for.rows) {
    budget_->spend();
    ++counted;
    if (sink != nullptr && counted % rows_a_flush == 0) {
      if (sink->must_end()) return Error::killed;
      if (sink->must_give_way()) {
        sink->position = std::make_unique<RowPosition>(counted);
        sink->position->reply_begun = false;
        return Verdict::parked;
      }
    }
    net::kernel::yield();
  }
  rows = counted;
  return {};
}

// A write that stands alone is committed at once.
Outcome FaultyStore::end_write() {
  if (mode_ != store::PassMode::together && !in_unit_) return commit();
  writes_wait_ = true;
  return {};
}

Outcome FaultyStore::add(store::IndexUse& use, std::uint64_t key, std::uint64_t by) {
  const bool is_there = static_cast<const FaultyIndex&>(use.index()).is_there;
  must(role_ == net::Role::remote || !is_there, "a write waits for another server");
  const Verdict asked = ask_other_server(is_there, true);
  if (asked != Verdict::answered) return asked;
  if (const Outcome wrong = go_wrong(true); !wrong.ok()) return wrong;
  if (const Outcome locked = meet_locks(); !locked.ok()) return locked;
  const bool for_good = cannot_be_undone(key);
  if (for_good && in_unit_) return store::cannot_be_undone;
  if (for_good && writes_wait_) return Verdict::not_yet;
  budget_->spend(store::Budget::steps_of_a_change);
  if (for_good) {
    counters_[key] = value(key) + by;
    return Outcome{}.for_good();
  }
  changed_[key] = value(key) + by;
  return end_write();
}

Outcome FaultyStore::modify(store::IndexUse& use, const store::Selection& selection,
                            const store::Change& change, store::Rows* rows, Buffer& out,
                            store::Changed& changed) {
  must(selection.is_valid(), "a modification is not valid");
  if (table_of(use) != nullptr) return modify_records(use, selection, change, rows, out, changed);
  changed.rows = 1;
  if (change.only_locks()) return add(use, number_of(selection.key[0].bytes), 0);
  const store::Value& by = change.assigns() ? change.assignments[0].value : change.values[0];
  return add(use, number_of(selection.key[0].bytes), number_of(by.bytes));
}

Outcome FaultyStore::insert(store::IndexUse& use, const store::Insert& row,
                            store::Changed& changed) {
  return table_of(use) != nullptr ? insert_record(use, row, changed) : Error::not_supported;
}

// Every row is there.
Outcome FaultyStore::insert_rows(store::IndexUse& use, const store::InsertRows& rows,
                                 std::vector<store::InsertedRow>& inserted) {
  must(rows.is_valid() && rows.updates() && rows.rows() == 1, "an insert is not valid");
  inserted = {{.fate = store::RowFate::updated}};
  return add(use, number_of(rows.values[0].bytes), number_of(rows.assignments[0].value.bytes));
}

}  // namespace hs::simulator
