// The two ways into a table in memory: KeyTree, rows in a key's order, and
// KeyHash, the one row that has the whole of a unique key.
//
// They own no rows: they point at rows whose address does not change. The hash
// is there because most lookups want one row by its primary key, and a tree of a
// million nodes would cost more than all of the front end that is to be measured.
// MemoryStore holds the database's lock while it calls.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <unordered_set>

#include "protocol/request.h"
#include "store/memory_row.h"

namespace hs::store {

class KeyTree {
  // Most comparisons end at `head`, the start of the first key part as an
  // ordered number, so that a search seldom leaves the tree's own nodes.
  struct Entry {
    std::uint64_t head;
    const Row* row;
  };
  // A place before or after all entries that begin with `parts`.
  struct Probe {
    std::uint64_t head = 0;
    std::span<const Cell> parts;
    bool after = false;
  };
  class Order {
   public:
    using is_transparent = void;
    Order(const MemoryTableSpec& spec, std::size_t key) : spec_(&spec), key_(key) {}
    bool operator()(const Entry& left, const Entry& right) const;
    bool operator()(const Entry& entry, const Probe& probe) const;
    bool operator()(const Probe& probe, const Entry& entry) const;
    int compare_prefix(const Entry& entry, const Probe& probe) const;

   private:
    const MemoryColumn& column(std::size_t part) const;
    Cell cell(const Row& row, std::size_t part) const;
    const MemoryTableSpec* spec_;
    std::size_t key_;
  };
  using Set = std::set<Entry, Order>;

 public:
  // Walks from a key, up or down.
  class Cursor {
   public:
    Cursor() = default;
    // One row and no more.
    explicit Cursor(const Row* row) : row_(row) {}

    // Null at the end.
    const Row* row() const { return row_; }
    bool is_single() const { return set_ == nullptr; }
    void next();
    // Around a time without the lock, in which rows may come and go. Not for a single row.
    void leave();
    void resume();

   private:
    friend class KeyTree;
    void settle();

    const Set* set_ = nullptr;   // null: there is only one row
    Set::const_iterator place_;  // going down: behind the current row
    Probe bound_;
    bool down_ = false;
    bool equal_ = false;
    const Row* row_ = nullptr;
    Row left_at_;
  };

  KeyTree(const MemoryTableSpec& spec, std::size_t key)
      : spec_(spec), key_(key), set_(Order(spec, key)) {}

  void insert(const Row& row) { set_.insert(entry(row)); }
  void erase(const Row& row) { set_.erase(entry(row)); }
  // `parts` has to stay valid as long as the cursor.
  Cursor seek(protocol::Comparison comparison, std::span<const Cell> parts) const;

 private:
  Entry entry(const Row& row) const;

  const MemoryTableSpec& spec_;
  const std::size_t key_;
  Set set_;
};

class KeyHash {
 public:
  KeyHash(const MemoryTableSpec& spec, std::size_t key)
      : rows_(0, Hash{&spec, key}, Equal{&spec, key}) {}

  // Rows with a NULL in the key are left out: none of them equals another.
  void insert(const Row& row);
  void erase(const Row& row);
  // `parts` is all of the key, and nothing in it is NULL.
  const Row* find(std::span<const Cell> parts) const;
  // The row that has the same key, perhaps `row` itself.
  const Row* find_same(const Row& row) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const Row* row) const;
    std::size_t operator()(std::span<const Cell> parts) const;
    const MemoryTableSpec* spec;
    std::size_t key;
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Row* left, const Row* right) const;
    bool operator()(std::span<const Cell> parts, const Row* row) const;
    bool operator()(const Row* row, std::span<const Cell> parts) const {
      return (*this)(parts, row);
    }
    const MemoryTableSpec* spec;
    std::size_t key;
  };
  bool has_null(const Row& row) const;

  std::unordered_set<const Row*, Hash, Equal> rows_;
};

}  // namespace hs::store
