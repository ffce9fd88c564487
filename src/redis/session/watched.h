// Watched: the rows that WATCH has seen.
//
// A connection has them until EXEC, DISCARD, UNWATCH or RESET. Of each it keeps the key, and a number that
// stands for all that the row held. EXEC reads the rows again while it locks them, so it sees whatever
// has changed them, a command or SQL. Used by the thread that has the connection's turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "redis/session/work.h"
#include "store/store.h"

namespace hs::redis {

class Watched {
 public:
  // Reads the rows and adds them. If that fails, nothing is added.
  store::Outcome add(Work& work, Words keys);
  // Within a unit: locks the rows, and says whether they are as they were. If not, the answer is
  // Mistake::watched_has_changed.
  store::Outcome check(Work& work) const;

  bool empty() const { return rows_.empty(); }
  std::size_t size() const { return rows_.size(); }

 private:
  static constexpr std::size_t most_rows = 1024;
  static constexpr std::size_t most_bytes = std::size_t{64} << 10;

  struct Row {
    std::string key;
    std::uint64_t digest;
  };
  std::vector<Row> rows_;
  std::size_t bytes_ = 0;  // of the keys
};

}  // namespace hs::redis
