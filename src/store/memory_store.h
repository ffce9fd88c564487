// MemoryStore: the store interface over tables in memory.
//
// For tests, fuzzing and measuring the front end without a server. One object a
// worker thread, over a database that all workers share. A pass holds the
// database's lock from its first request on; only a find with a sink lets go of
// it while it sends. Faults can be injected, so that everything a real engine
// may do to a pass can be tried.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/counters.h"
#include "store/memory_database.h"
#include "store/memory_matches.h"
#include "store/store.h"

namespace hs::store {

// What is to go wrong; each but the bounds happens once.
struct MemoryFaults {
  Status next_commit;  // the next commit of writes fails with it
  std::uint64_t broken_in =
      0;  // the n-th find, modify or insert from now on breaks its pass; 0: none
};

struct MemoryBounds {
  std::uint64_t rows = 10'000;                      // examined by a find without a sink
  std::size_t bytes = std::size_t{1} << 20;         // written by a find without a sink
  std::size_t flush_bytes = std::size_t{64} << 10;  // written by a find between two flushes
};

class MemoryStore final : public Store {
 public:
  MemoryStore(MemoryDatabase& database, Access access, CounterBlock& counters,
              MemoryBounds bounds = {});
  ~MemoryStore() override;

  void begin_pass(PassMode mode) override;
  Outcome end_pass() override;
  void abandon_pass() override;
  void release() override {}
  Outcome open_index(const protocol::OpenIndex& request, std::shared_ptr<Index>& index) override;
  Outcome find(Index& index, const protocol::Find& request, Buffer& out, Sink* sink) override;
  Outcome modify(Index& index, const protocol::Find& request, Buffer& out) override;
  Outcome insert(Index& index, const protocol::Insert& request, Buffer& out) override;

  MemoryFaults& faults() { return faults_; }

 private:
  enum class Change : std::uint8_t { none, done, refused };
  struct Changed {
    Change change = Change::done;
    Status status;
  };

  Verdict enter(const MemoryTable& table);
  void lock();
  void unlock();
  Status commit();
  Outcome finish_write(Status status, std::size_t undo_size, std::uint64_t changed, Buffer& out,
                       std::size_t out_size);
  Changed change_row(MemoryTable& table, std::span<const std::uint32_t> columns,
                     const protocol::Find& request, const Row& row);

  MemoryDatabase& database_;
  const Access access_;
  CounterBlock& counters_;
  const MemoryBounds bounds_;
  MemoryFaults faults_;
  PassMode mode_ = PassMode::together;
  bool locked_ = false;
  UndoLog undo_;
  std::vector<const Row*> matched_;  // of the find_modify at work
};

}  // namespace hs::store
