// FaultyMatches: which keys of a table with rows a selection means, and which of their rows it leaves out.
//
// For one request. A table has one key part, its first column.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulator/faulty_index.h"
#include "simulator/tables.h"
#include "store/operation.h"
#include "store/store.h"

namespace hs::simulator {

// Where a find or a count was left: behind this key.
struct RecordPosition final : store::Position {
  std::string key{};
  std::uint64_t to_skip = 0;  // of the offset
  std::uint64_t met = 0;      // so many rows were given or counted
};

class FaultyMatches {
 public:
  enum class Fate : std::uint8_t { taken, left_out, last };

  // As the transaction sees them. If the search was parked, it goes on from there.
  FaultyMatches(const FaultyIndex& index, const Transaction& transaction,
                const store::Selection& selection, const RecordPosition* parked);

  // The keys that are still to be looked at, in their order.
  const std::vector<std::string>& keys() const { return keys_; }
  // What becomes of the row that was met next. `last`: neither it nor any other one is selected.
  Fate meet(const Record& record);
  // Whether there are as many rows as the selection allows.
  bool is_full() const { return met_ == selection_.limit; }
  std::uint64_t met() const { return met_; }
  std::unique_ptr<RecordPosition> leave(const std::string& behind) const;

 private:
  void choose_keys(const Transaction& transaction);
  void go_on_behind(const RecordPosition& place);
  bool selects(const std::string& key) const;
  int compare(const std::string& key, const store::Value& value) const;

  const FaultyIndex& index_;
  const store::Selection& selection_;
  std::vector<std::string> keys_;
  std::uint64_t to_skip_;
  std::uint64_t met_ = 0;
};

}  // namespace hs::simulator
