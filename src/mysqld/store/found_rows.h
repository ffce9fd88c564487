// FoundRows: the positions of the rows that a modification has found and not modified yet.
//
// Each worker's store has one, on its own thread, and uses it again for each request. A position is
// a number of bytes that the engine chooses, the same for all rows of a table. It reads no row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/buffer.h"

namespace hs::mysqld {

class FoundRows {
 public:
  // Forgets what it has; `length` is that of the positions that follow.
  void begin(std::size_t length) {
    positions_.clear();
    length_ = length;
  }
  // False if there are too many rows.
  bool add(const unsigned char* position);
  // Keeps the first position of each row, in the order in which the rows were found.
  void drop_repeated();
  std::size_t size() const { return positions_.size() / length_; }
  unsigned char* at(std::size_t number) {
    return reinterpret_cast<unsigned char*>(positions_.data() + number * length_);
  }
  // The request is over: frees its memory if that is large.
  void give_back();

 private:
  Buffer positions_;
  std::vector<std::uint32_t> order_;  // of positions, while repeated ones are removed
  std::size_t length_ = 1;
};

}  // namespace hs::mysqld
