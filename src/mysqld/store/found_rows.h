// FoundRows: the positions of the rows that a modification has found and not modified yet.
//
// Each worker's store has one, on its own thread, and uses it again for each request. A position is
// a number of bytes that the engine chooses, the same for all rows of a table. If it is asked to, it
// keeps with each position which value of IN the row has met. It reads no row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/buffer.h"

namespace hs::mysqld {

class FoundRows {
 public:
  // Forgets what it has; `length` is that of the positions that follow.
  void begin(std::size_t length, bool with_in_numbers) {
    positions_.clear();
    length_ = length;
    stride_ = length + (with_in_numbers ? sizeof(InNumber) : 0);
  }
  // False if there are too many rows.
  bool add(const unsigned char* position, std::size_t in_number);
  // Keeps the first position of each row, in the order in which the rows were found.
  void drop_repeated();
  std::size_t size() const { return positions_.size() / stride_; }
  unsigned char* at(std::size_t number) {
    return reinterpret_cast<unsigned char*>(positions_.data() + number * stride_);
  }
  // 0 if it was not kept.
  std::size_t in_number(std::size_t number) const;
  // The request is over: frees its memory if that is large.
  void give_back();

 private:
  using InNumber = std::uint32_t;

  Buffer positions_;                  // and behind each the number, if they are kept
  std::vector<std::uint32_t> order_;  // of positions, while repeated ones are removed
  std::size_t length_ = 1;
  std::size_t stride_ = 1;  // from one position to the next
};

}  // namespace hs::mysqld
