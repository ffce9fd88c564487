// Plans: the plans that the connections of one worker have opened, each under its names.
//
// Each worker's store has one, on its own thread. It finds the plan of names that were opened
// before, and drops plans that nobody uses. It opens no table and resolves nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "mysqld/reading/index_plan.h"
#include "store/operation.h"

namespace hs::mysqld {

// An index that connections have open.
struct OpenedIndex {
  std::string names;  // as P gave them, each with a TAB behind it, and what tells them from others
  std::uint64_t opened;
  std::uint64_t requests;
};

class Plans {
 public:
  // The plan of these names; null: there is none. add() keeps one under the names that were asked
  // for last.
  std::shared_ptr<IndexPlan> find(const store::IndexNames& names);
  void add(const std::shared_ptr<IndexPlan>& plan);

  // Drops plans that no connection uses, if all plans together have become large. Only between
  // passes, because an open table may point to a plan.
  void sweep_if_large() {
    if (bytes_ > sweep_at_) [[unlikely]]
      sweep();
  }

  // At most so many. Between passes.
  std::vector<OpenedIndex> opened(std::size_t most) const;

 private:
  void sweep();

  // A sweep begins when all plans together take about so much.
  static constexpr std::size_t bytes_before_sweep = std::size_t{256} << 10;

  std::unordered_map<std::string, std::shared_ptr<IndexPlan>> plans_;
  std::string asked_for_;
  std::size_t bytes_ = 0;  // of all plans, approximately
  std::size_t sweep_at_ = bytes_before_sweep;
};

}  // namespace hs::mysqld
