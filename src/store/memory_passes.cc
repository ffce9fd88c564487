// The in-memory store's passes and units: what is locked, committed and undone.
#include <cassert>
#include <utility>

#include "store/memory_store.h"

namespace hs::store {

void MemoryStore::lock() {
  database_.lock(access_);
  locked_ = true;
}

void MemoryStore::unlock() {
  if (!locked_) return;
  locked_ = false;
  database_.unlock(access_);
}

void MemoryStore::begin_pass(PassMode mode, Budget& budget) {
  assert(!locked_ && !in_unit_ && undo_.size() == 0);
  mode_ = mode;
  asked_.clear();
  budget_ = &budget;
}

Outcome MemoryStore::end_pass() {
  assert(!in_unit_);
  const Status status = commit();
  unlock();
  expected_ = {};
  return status;
}

void MemoryStore::abandon_pass() {
  in_unit_ = false;
  if (undo_.size() != 0) {
    undo_.rollback_to(0);
    counters_.add(Counter::rollbacks);
  }
  unlock();
  expected_ = {};
}

Outcome MemoryStore::begin_unit() {
  assert(!in_unit_);
  in_unit_ = true;
  unit_begin_ = undo_.size();
  return {};
}

Outcome MemoryStore::end_unit() {
  assert(in_unit_);
  in_unit_ = false;
  return mode_ == PassMode::together ? Status{} : commit();
}

Outcome MemoryStore::undo_unit() {
  assert(in_unit_);
  in_unit_ = false;
  undo_.rollback_to(unit_begin_);
  return {};
}

Status MemoryStore::commit() {
  if (undo_.size() == 0) return {};
  const Status status = std::exchange(faults_.next_commit, Status{});
  if (status.ok()) {
    undo_.clear();
    counters_.add(Counter::commits);
  } else {
    undo_.rollback_to(0);
    counters_.add(Counter::rollbacks);
  }
  return status;
}

}  // namespace hs::store
