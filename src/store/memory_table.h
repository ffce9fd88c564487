// MemoryTable: the rows and keys of one table in memory.
//
// It owns its rows. It takes no lock: MemoryStore holds the database's lock while it calls. It is
// for tests and for measuring the front end, so it has no types, no character sets and no
// persistence.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "store/memory_keys.h"
#include "store/memory_row.h"
#include "store/operation.h"

namespace hs::store {

class MemoryTable;

// The changes of a transaction. The latest ones can be undone.
class UndoLog {
 public:
  struct Change {
    MemoryTable* table = nullptr;
    Row* row = nullptr;                                        // of an insert or an update
    std::vector<Field> before;                                 // of an update
    std::unordered_map<std::uint64_t, Row>::node_type erased;  // of an erase: the row itself
  };

  void add(Change change) { changes_.push_back(std::move(change)); }
  std::size_t size() const { return changes_.size(); }
  void rollback_to(std::size_t size);
  void clear() { changes_.clear(); }

 private:
  std::vector<Change> changes_;
};

class MemoryTable {
 public:
  explicit MemoryTable(MemoryTableSpec spec);
  MemoryTable(const MemoryTable&) = delete;
  MemoryTable& operator=(const MemoryTable&) = delete;

  const MemoryTableSpec& spec() const { return spec_; }
  std::size_t size() const { return rows_.size(); }
  bool has_auto_increment() const { return auto_increment_ < spec_.columns.size(); }
  // Whether a row with these values would get an id in place of a 0.
  bool asks_for_id(std::span<const std::uint32_t> columns, std::span<const Value> values) const;

  // `parts` has to stay valid as long as the cursor exists.
  KeyTree::Cursor seek(std::size_t key, Range range, std::span<const Cell> parts) const;
  // The same with two edges, see KeyTree::walk().
  KeyTree::Cursor walk(std::size_t key, Direction direction, KeyTree::Edge lower,
                       KeyTree::Edge upper) const;

  // insert() and update() change nothing if they fail. They fail for a duplicate key, or for a
  // value that its column cannot hold.
  Status insert(std::span<const std::uint32_t> columns, std::span<const Value> values,
                UndoLog& undo, std::uint64_t& insert_id);
  Status update(const Row& row, std::vector<Field> fields, UndoLog& undo);
  // The two steps of an insert. A value that its column cannot hold is an error, or its column takes
  // the default. What is added has no duplicate.
  Status make_row(std::span<const std::uint32_t> columns, std::span<const Value> values,
                  bool ignores_mistakes, Row& row) const;
  void add(Row row, UndoLog& undo);
  // Another row with the same values for a unique key: of the first such key; null if there is none.
  const Row* duplicate_of(const Row& row) const;
  // What the row's AUTO_INCREMENT column holds.
  std::int64_t number_of(const Row& row) const { return row.fields[auto_increment_].number; }
  void erase(const Row& row, UndoLog& undo);

  // As if another session were changing the table. Any thread may call it.
  void set_blocked(bool blocked) { blocked_.store(blocked, std::memory_order_relaxed); }
  bool blocked() const { return blocked_.load(std::memory_order_relaxed); }

 private:
  friend class UndoLog;
  struct Key {
    KeyTree tree;
    std::optional<KeyHash> hash;  // only of a unique key
  };

  void undo(UndoLog::Change& change);
  void take_default(std::size_t column, Field& field) const;
  void index(const Row& row);
  void unindex(const Row& row);

  const MemoryTableSpec spec_;
  std::size_t auto_increment_;
  std::int64_t next_number_ = 1;
  std::uint64_t next_row_ = 1;
  std::unordered_map<std::uint64_t, Row> rows_;
  std::vector<Key> keys_;
  std::atomic<bool> blocked_ = false;
};

}  // namespace hs::store
