// MemoryDatabase: the tables that the MemoryStores of a process share, and their lock.
//
// Tables are added before the first store is made and live as long as the database. A store holds
// the lock during its pass: several readers, or one writer. Any thread may call it.
#pragma once

#include <algorithm>
#include <deque>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <utility>

#include "store/memory_table.h"

namespace hs::store {

enum class Access : std::uint8_t { read, write };

class MemoryDatabase {
 public:
  MemoryTable& add_table(MemoryTableSpec spec) { return tables_.emplace_back(std::move(spec)); }

  MemoryTable* find_table(std::string_view database, std::string_view name) {
    const auto table = std::ranges::find_if(tables_, [&](const MemoryTable& candidate) {
      return candidate.spec().database == database && candidate.spec().name == name;
    });
    return table == tables_.end() ? nullptr : &*table;
  }

  const std::deque<MemoryTable>& tables() const { return tables_; }

  void lock(Access access) {
    // A writer that waits holds the gate, so new readers cannot delay it for ever.
    const std::lock_guard gate(gate_);
    if (access == Access::write) {
      lock_.lock();
    } else {
      lock_.lock_shared();
    }
  }
  void unlock(Access access) {
    if (access == Access::write) {
      lock_.unlock();
    } else {
      lock_.unlock_shared();
    }
  }

 private:
  std::deque<MemoryTable> tables_;
  std::mutex gate_;
  std::shared_mutex lock_;
};

}  // namespace hs::store
