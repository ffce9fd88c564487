// MemoryMatches: the rows of a selection, one after the other.
//
// It applies the key, IN, the filters, the offset and the limit. It owns no row. It lives for one
// request, on the stack, while the database's lock is held.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>

#include "base/status.h"
#include "store/memory_table.h"
#include "store/operation.h"
#include "store/store.h"

namespace hs::store {

// Where a find was left: before `next`, or, if there is no `next`, before the rows of an IN value.
struct MemoryPosition final : Position {
  std::size_t in_taken = 0;
  std::uint64_t to_skip = 0;
  std::uint64_t to_give = 0;
  std::optional<Row> next;

  std::size_t bytes() const override;
};

class MemoryMatches {
 public:
  // `filter_columns` are the columns that filters may name. The caller calls check() first, and it
  // has to succeed. Gives up after it has looked at more than `most_examined` rows.
  MemoryMatches(const MemoryTable& table, std::size_t key,
                std::span<const std::uint32_t> filter_columns, const Selection& selection,
                std::uint64_t most_examined);
  MemoryMatches(const MemoryMatches&) = delete;
  MemoryMatches& operator=(const MemoryMatches&) = delete;

  // Whether the table has the key parts and columns that the selection names.
  static Status check(const MemoryTable& table, std::size_t key,
                      std::span<const std::uint32_t> filter_columns, const Selection& selection);

  static Status check_filters(std::span<const std::uint32_t> filter_columns,
                              std::span<const Filter> filters);
  // Whether the row fulfils all conditions.
  static bool meets(const MemoryTable& table, std::span<const std::uint32_t> filter_columns,
                    std::span<const Filter> filters, const Row& row);

  // The next row; null at the end.
  const Row* next();
  // Which value of IN that row has met; 0 without IN.
  std::size_t in_number() const { return in_taken_ - 1; }
  // Whether the row that next() gave last was the last one of the limit.
  bool is_at_limit() const { return at_limit_; }
  bool gave_up() const { return examined_ > most_examined_; }
  std::uint64_t examined() const { return examined_; }

  // leave() and resume() enclose a time without the lock, or carry a find from one object to
  // another for the same selection. The row that next() gave last must not be used after leave().
  std::unique_ptr<MemoryPosition> leave();
  // The same behind the last row that the limit allows. Null: there is no other one.
  std::unique_ptr<MemoryPosition> leave_at_limit();
  void resume(const MemoryPosition& from);
  // Goes on behind the end of an earlier find: the limit counts anew.
  void go_on_behind(const MemoryPosition& from) {
    resume(from);
    if (to_give_ != 0) to_give_ = selection_.limit;
  }

 private:
  enum class Passing : std::uint8_t { yes, no, stop };

  using Cells = std::array<Cell, max_key_parts>;

  bool aim();
  bool aim_end(const End& end, Cells& cells) const;
  bool aim_prefix();
  void place_cursor();
  bool is_new_value(std::size_t number);
  bool seek();
  void step();
  Passing filter(const Row& row) const;

  const MemoryTable& table_;
  const std::size_t key_;
  const std::span<const std::uint32_t> filter_columns_;
  const Selection& selection_;
  Cells cells_;  // of the key; of Bound::within, of the lower end
  Cells upper_cells_;
  std::string prefix_end_;  // the first text behind those with the prefix; empty: there is none
  KeyTree::Cursor cursor_;
  std::size_t in_taken_ = 0;
  std::unordered_set<std::string> seen_;  // values of IN: one that comes twice counts once
  std::uint64_t to_skip_;
  std::uint64_t to_give_;
  const std::uint64_t most_examined_;
  std::uint64_t examined_ = 0;
  bool given_ = false;     // the cursor is still on the row that next() gave
  bool at_limit_ = false;  // that row was the last one of the limit
};

}  // namespace hs::store
