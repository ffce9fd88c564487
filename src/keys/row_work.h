// RowWork: what the rows that keys name are read and changed with, wherever that is: in a worker's pass,
// alone on another thread, or as a part of a transaction.
//
// It lives for one request, on the thread that executes it, and owns nothing. It knows no protocol: what
// becomes of rows is for the taker of rows that a command gives.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "keys/clock.h"
#include "keys/containers.h"
#include "keys/open_rows.h"
#include "store/store.h"

namespace hs::keys {

// Memory that requests use one after the other. Each thread has one for its port.
struct Scratch {
  std::string key;                   // the parts of a key without their escapes
  std::vector<store::Value> parts;   // of a key
  std::vector<store::Value> values;  // of columns
  std::vector<std::string_view> fields;
  std::vector<std::string_view> words;  // of a command that was queued
  std::string joined;                   // an item's value, of several columns

  void give_back();
};

using Words = std::span<const std::string_view>;

struct RowWork {
  store::Store& store;
  const std::shared_ptr<const store::Caller>& caller;
  OpenRows& rows;
  RememberedRows* remembered;  // null: not on the connection's worker
  store::Sink* sink;           // as the store wants it
  bool is_in_unit;             // somebody else undoes what was done if it fails
  Buffer& buffer;              // of the reply
  std::string_view default_database;
  Containers& containers;
  Clock& clock;
  Scratch& scratch;
  // Not 0: all requests of this number on this thread ask for the same fields, of whatever name they open.
  std::uint64_t repeated = 0;
  // The reads of a unit that writes lock what they read. Otherwise they would see an older state of the table than
  // the one that its writes change.
  bool locks_reads = false;

  Buffer& out() const { return buffer; }
};

// A row that a key names, as a command has opened it.
struct KeyedRow {
  const RowAccess* access = nullptr;
  store::IndexUse* use = nullptr;

  store::Selection selection(const RowWork& work) const { return {.key = work.scratch.parts}; }
};

// The index that the name in front of a key names. What is behind the name is not read. What `row`
// points at belongs to the connection if it remembers it, until it has opened as much else as it can remember.
// Otherwise it belongs to `access`.
store::Outcome open_named(RowWork& work, std::string_view key, Asks asks, Words fields,
                          std::shared_ptr<const RowAccess>& access, store::IndexUse& own,
                          KeyedRow& row);
// The index that a search names, without a key: no container has it.
store::Outcome open_search(RowWork& work, std::string_view name, Words names,
                           std::shared_ptr<const RowAccess>& access, store::IndexUse& own,
                           KeyedRow& row);
store::Outcome open_row(RowWork& work, std::string_view key, Asks asks, Words fields,
                        std::shared_ptr<const RowAccess>& access, store::IndexUse& own,
                        KeyedRow& row);
// The same for the items of a container, without a key.
store::Outcome open_container(RowWork& work, const Container& container, Asks asks,
                              std::shared_ptr<const RowAccess>& access, store::IndexUse& own,
                              KeyedRow& row);
// The same for an item, by the key within its container.
store::Outcome open_item(RowWork& work, const ItemKey& key, Asks asks,
                         std::shared_ptr<const RowAccess>& access, store::IndexUse& own,
                         KeyedRow& row);
void forget_row(RowWork& work, const RowAccess& access);

// The same as find_row() and count_row() where reads lock. A row that the caller may not lock, or that is in a
// table without transactions, is read as it is.
store::Outcome find_locked(RowWork& work, const KeyedRow& row, store::Rows& rows,
                           store::Found& found);
store::Outcome count_locked(RowWork& work, const KeyedRow& row, std::uint64_t& rows);

// Has `rows` take the row, if there is one.
inline store::Outcome find_row(RowWork& work, const KeyedRow& row, store::Rows& rows,
                               store::Found& found) {
  if (work.locks_reads) [[unlikely]]
    return find_locked(work, row, rows, found);
  return work.store.find(*row.use, row.selection(work), rows, work.out(), work.sink, found);
}
inline store::Outcome count_row(RowWork& work, const KeyedRow& row, std::uint64_t& rows) {
  if (work.locks_reads) [[unlikely]]
    return count_locked(work, row, rows);
  return work.store.count(*row.use, row.selection(work), rows, work.sink);
}

// A new row: the values of the columns of its index, the last ones of which are those of the key.
store::Outcome insert_row(RowWork& work, const KeyedRow& row, std::span<const store::Value> values);

// Whether the table is as it was when the row was opened. It stays so for the rest of the pass, because the
// pass has it open. Not ok, too, if the caller must not know of the table.
store::Outcome check_current(RowWork& work, const KeyedRow& row,
                             const std::shared_ptr<const store::Caller>& caller);

// Calls `execute(row)` with the row that `open(access, own, row)` has opened. If the table's definition has
// changed since the row was opened, what was read is thrown away, and it is called again. A change is
// asked for once only. A mistake of the request counts if it is one by what the table is now, and only its
// callers are told of it who may know of the table: another connection may have opened the row.
template <class Open, class Execute>
store::Outcome with_opened(RowWork& work, bool changes, Open open, Execute execute) {
  constexpr int most_tries = 3;
  const std::size_t begin = work.out().size();
  store::Outcome outcome;
  for (int tries = 0; tries < most_tries; ++tries) {
    std::shared_ptr<const RowAccess> access;
    store::IndexUse own;
    KeyedRow row;
    outcome = open(access, own, row);
    if (row.access == nullptr) return outcome;
    bool is_old = false;
    if (changes && outcome.ok()) {
      // What the caller may do is asked by the change itself.
      outcome = check_current(work, row, store::Caller::unlimited());
      is_old = !outcome.ok();
    }
    if (outcome.ok()) [[likely]]
      outcome = execute(row);
    if (!changes && !row.access->is_current()) is_old = true;
    if (outcome.status().kind() == Error::protocol) [[unlikely]] {
      if (const store::Outcome current = check_current(work, row, work.caller); !current.ok()) {
        outcome = current;
        is_old = true;
      }
    }
    const bool has_changed = is_old || outcome.status().kind() == Error::no_column;
    if (!has_changed || !outcome.answered()) [[likely]]
      return outcome;
    forget_row(work, *row.access);
    work.out().truncate(begin);
    if (outcome.ok()) outcome = Error::table_changed;
  }
  return outcome;
}

template <class Execute>
store::Outcome with_row(RowWork& work, std::string_view key, Asks asks, Words fields,
                        Execute execute) {
  const auto open = [&](std::shared_ptr<const RowAccess>& access, store::IndexUse& own,
                        KeyedRow& row) {
    return open_row(work, key, asks, fields, access, own, row);
  };
  return with_opened(work, asks == Asks::changes || asks == Asks::erases, open, execute);
}

}  // namespace hs::keys
