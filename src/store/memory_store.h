// MemoryStore: the store interface over tables in memory.
//
// It is for tests, for fuzzing, and for measuring the front end without a server. Each worker
// thread has one object; all use the same database. A pass holds the database's lock from its first
// request on. Only a find with a sink unlocks it while it sends. Tests can inject faults for
// everything that a real engine may do to a pass. It fetches nothing of what it is told to expect: it reads the
// keys at each find, so that a sanitizer notices those whose bytes are gone, and counts what came.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/counters.h"
#include "store/memory_caller.h"
#include "store/memory_database.h"
#include "store/memory_matches.h"
#include "store/store.h"

namespace hs::store {

// What has to go wrong, or to be otherwise. Each happens once.
struct MemoryFaults {
  Status next_commit;  // the next commit of writes fails with this
  std::uint64_t broken_in =
      0;  // the n-th find, modify or insert from now on breaks its pass; 0: none
  std::uint32_t passed_over = 0;  // of so many finds it does not want to know before they come
};

struct MemoryBounds {
  // Limits the steps of a find without a sink, and of a modification that is not `aside`.
  std::uint64_t rows = 10'000;
  std::size_t bytes = std::size_t{1} << 20;         // written by a find without a sink
  std::size_t flush_bytes = std::size_t{64} << 10;  // written by a find between two flushes
};

class MemoryIndex;

class MemoryStore final : public Store {
 public:
  MemoryStore(MemoryDatabase& database, Access access, CounterBlock& counters,
              MemoryBounds bounds = {});
  ~MemoryStore() override;

  void begin_pass(PassMode mode, Budget& budget) override;
  Outcome end_pass() override;
  void abandon_pass() override;
  void forget_permissions() override { asked_.clear(); }
  void release() override {}
  Outcome begin_unit() override;
  Outcome end_unit() override;
  Outcome undo_unit() override;
  Outcome open_index(const IndexNames& names, const std::shared_ptr<const Caller>& caller,
                     IndexUse& use) override;
  Outcome describe_table(const IndexNames& names, const std::shared_ptr<const Caller>& caller,
                         TableDescription& description) override;
  Outcome list_names(std::optional<std::string_view> database,
                     const std::shared_ptr<const Caller>& caller, Sink* sink,
                     std::vector<std::string>& names) override;
  void look_ahead(bool on) override { looks_ahead_ = on; }
  void expect(std::span<const Lookup> lookups) override {
    expected_ = lookups;
    told_ += lookups.size();
  }
  bool passes_over(std::uint32_t finds) override {
    const bool passes = !looks_ahead_ || faults_.passed_over != 0;
    faults_.passed_over -= std::min(faults_.passed_over, finds);
    return passes;
  }
  Outcome find(IndexUse& use, const Selection& selection, Rows& rows, Buffer& out, Sink* sink,
               Found& found) override;
  Outcome count(IndexUse& use, const Selection& selection, std::uint64_t& rows,
                Sink* sink) override;
  Outcome modify(IndexUse& use, const Selection& selection, const Change& change, Rows* rows,
                 Buffer& out, Changed& changed) override;
  Outcome insert(IndexUse& use, const Insert& row, Changed& changed) override;
  Outcome insert_rows(IndexUse& use, const InsertRows& rows,
                      std::vector<InsertedRow>& inserted) override;
  void explain_to(Said* said) override { said_ = said; }

  MemoryFaults& faults() { return faults_; }
  // So many finds it was told to expect, and so many were made while it was told of them.
  std::uint64_t told() const { return told_; }
  std::uint64_t expected_finds() const { return expected_finds_; }

 private:
  struct Matched {
    const Row* row;
    std::size_t in_number;
  };
  struct RowChange {
    bool counts = true;
    bool differs = true;
    Status status{};
  };

  bool may(const IndexUse& use, Rights needed);
  void note_expected(const IndexUse& use, std::span<const Value> key);
  Verdict enter(const MemoryTable& table);
  void lock();
  void unlock();
  Status commit();
  Outcome finish_write(Status status, std::size_t undo_size);
  RowChange change_row(MemoryTable& table, std::span<const std::uint32_t> columns,
                       const Change& change, const Row& row);
  RowChange assign_row(MemoryTable& table, std::span<const std::uint32_t> columns,
                       std::span<const Assignment> assignments, const Row& row,
                       const Row* inserted);
  Status insert_row(const MemoryIndex& on, const InsertRows& rows, std::span<const Value> values,
                    InsertedRow& inserted);
  void warn_of_duplicate();

  MemoryDatabase& database_;
  const Access access_;
  CounterBlock& counters_;
  const MemoryBounds bounds_;
  Budget* budget_ = nullptr;  // of the pass
  MemoryFaults faults_;
  PassMode mode_ = PassMode::together;
  // What callers may do with tables, as it was asked in this pass.
  std::map<std::pair<const Caller*, const MemoryTable*>, Rights> asked_;
  bool locked_ = false;
  UndoLog undo_;
  bool in_unit_ = false;
  std::size_t unit_begin_ = 0;    // the size of the undo log before the unit
  std::vector<Matched> matched_;  // of the modification at work
  Said* said_ = nullptr;
  bool looks_ahead_ = false;
  std::span<const Lookup> expected_;
  std::uint64_t told_ = 0;
  std::uint64_t expected_finds_ = 0;
  char read_of_expected_ = 0;
};

}  // namespace hs::store
