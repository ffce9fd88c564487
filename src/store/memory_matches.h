// MemoryMatches: the rows that a find or find_modify means, one after the other.
//
// Key, IN, filters, offset and limit in one place. Owns no row; lives for one
// request, on the stack, with the database's lock held.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/status.h"
#include "protocol/request.h"
#include "store/memory_table.h"

namespace hs::store {

class MemoryMatches {
 public:
  // `filter_columns` are those that filters may name. check() has to be ok
  // first. Gives up once it has looked at more than `most_examined` rows.
  MemoryMatches(const MemoryTable& table, std::size_t key,
                std::span<const std::uint32_t> filter_columns, const protocol::Find& find,
                std::uint64_t most_examined);
  MemoryMatches(const MemoryMatches&) = delete;
  MemoryMatches& operator=(const MemoryMatches&) = delete;

  // Whether the table has the key parts and columns that the request names.
  static Status check(const MemoryTable& table, std::size_t key,
                      std::span<const std::uint32_t> filter_columns, const protocol::Find& find);

  // The next row; null at the end.
  const Row* next();
  bool gave_up() const { return examined_ > most_examined_; }

  // Around a time without the lock: the row that next() gave last is done with.
  void leave();
  void resume();

 private:
  enum class Passing : std::uint8_t { yes, no, stop };

  bool seek();
  void step();
  Passing filter(const Row& row) const;

  const MemoryTable& table_;
  const std::size_t key_;
  const std::span<const std::uint32_t> filter_columns_;
  const protocol::Find& find_;
  std::array<Cell, max_key_parts> cells_;
  KeyTree::Cursor cursor_;
  std::size_t in_taken_ = 0;
  std::uint64_t to_skip_;
  std::uint64_t to_give_;
  const std::uint64_t most_examined_;
  std::uint64_t examined_ = 0;
  bool given_ = false;  // the cursor is still on the row that next() gave
};

}  // namespace hs::store
