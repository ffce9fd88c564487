// BlockSet: the blocks in which threads count, one block for each thread.
//
// It owns them, and they exist as long as the set. A thread takes a block when it starts and gives it
// back when it ends; any thread may look at all of them. It counts nothing, and does not know what a
// block holds: a block has one writer at a time, and its parts have to be readable by others meanwhile.
#pragma once

#include <deque>
#include <mutex>
#include <vector>

namespace hs {

template <class Block>
class BlockSet {
 public:
  Block& new_block() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      free_.reserve(blocks_.size() + 1);  // so that each block can be given back
      return blocks_.emplace_back();
    }
    Block& block = *free_.back();
    free_.pop_back();
    return block;
  }
  // Its thread has ended. What it has counted stays, and the next new block goes on from there.
  void give_back(Block& block) {
    const std::lock_guard lock(mutex_);
    free_.push_back(&block);
  }
  template <class Visit>
  void for_each(Visit visit) const {
    const std::lock_guard lock(mutex_);
    for (const Block& block : blocks_) visit(block);
  }

 private:
  mutable std::mutex mutex_;
  std::deque<Block> blocks_;
  std::vector<Block*> free_;
};

}  // namespace hs
