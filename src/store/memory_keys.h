// The two ways to find rows of a table in memory: KeyTree has the rows in a key's order, and
// KeyHash finds the one row with given values for all parts of a unique key.
//
// They own no rows: they point at rows whose address does not change. The hash exists because most
// lookups want one row by its primary key. A search in a tree of a million nodes would cost more
// than the whole front end, which is what this store helps to measure. MemoryStore holds the
// database's lock while it calls.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <unordered_set>

#include "store/memory_row.h"
#include "store/operation.h"

namespace hs::store {

class KeyTree {
  // `head` is the start of the first key part as an ordered number. It decides most comparisons, so
  // a search seldom reads more than the nodes of the tree.
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
    Entry entry(const Row& row) const;

   private:
    const MemoryColumn& column(std::size_t part) const;
    Cell cell(const Row& row, std::size_t part) const;
    const MemoryTableSpec* spec_;
    std::size_t key_;
  };
  using Set = std::set<Entry, Order>;

 public:
  // Goes from a key up or down.
  class Cursor {
   public:
    Cursor() = default;
    // For one row only.
    explicit Cursor(const Row* row) : row_(row) {}

    // Null at the end.
    const Row* row() const { return row_; }
    bool is_single() const { return set_ == nullptr; }
    void next();
    // leave() and resume() enclose a time without the lock, in which rows may come and go. They are
    // not for a single row. leave() returns where to go on: at the current row, or behind its place
    // if it is gone.
    Row leave();
    void resume(const Row& left_at);

   private:
    friend class KeyTree;
    void settle();
    bool is_met(const Entry& entry) const;

    const Set* set_ = nullptr;   // null: there is only one row
    Set::const_iterator place_;  // when going down: behind the current row
    Probe bound_;
    bool down_ = false;
    bool ends_ = false;  // rows on the far side of bound_ are not met
    const Row* row_ = nullptr;
  };

  KeyTree(const MemoryTableSpec& spec, std::size_t key)
      : spec_(spec), key_(key), set_(Order(spec, key)) {}

  void insert(const Row& row) { set_.insert(set_.key_comp().entry(row)); }
  void erase(const Row& row) { set_.erase(set_.key_comp().entry(row)); }
  // `parts` has to stay valid as long as the cursor exists.
  Cursor seek(Range range, std::span<const Cell> parts) const;
  // An edge of the rows that a cursor meets, with values from the first key part on.
  struct Edge {
    std::span<const Cell> parts;  // empty: there is none
    bool open = false;            // the rows that have these values are not met
  };
  // The same is true for the parts of the edges.
  Cursor walk(Direction direction, Edge lower, Edge upper) const;

 private:
  Probe probe(std::span<const Cell> parts, bool after) const;

  const MemoryTableSpec& spec_;
  const std::size_t key_;
  Set set_;
};

class KeyHash {
 public:
  KeyHash(const MemoryTableSpec& spec, std::size_t key)
      : rows_(0, Hash{&spec, key}, Equal{&spec, key}) {}

  // Rows with a NULL in the key are left out, because none of them equals another.
  void insert(const Row& row);
  void erase(const Row& row);
  // `parts` are all parts of the key, and none is NULL.
  const Row* find(std::span<const Cell> parts) const;
  // The row that has the same key; it may be `row` itself.
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
