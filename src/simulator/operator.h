// Operator: somebody outside the server who looks at its connections, closes some of them, and has
// the workers give them to one another.
//
// It has a simulated thread of its own, because it waits for the workers' answers. It checks that
// no id is seen twice, that every worker answers, and that a connection which has to end is gone
// soon.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "net/shared.h"
#include "simulator/faults.h"
#include "simulator/world.h"

namespace hs::simulator {

class Operator {
 public:
  Operator(World& world, const Faults& faults, net::Shared& shared)
      : world_(world), faults_(faults), shared_(shared) {}

  // The whole life of its thread.
  void run();
  // The thread ends soon, and asks nothing more.
  void leave() { leaves_ = true; }
  std::uint64_t closed() const { return closed_; }

 private:
  void look();
  void spread();
  void close(std::uint64_t id);

  World& world_;
  const Faults& faults_;
  net::Shared& shared_;
  bool leaves_ = false;
  std::uint64_t closed_ = 0;
  std::set<std::uint64_t> gone_;                       // ids that were seen once
  std::set<std::uint64_t> seen_;                       // at the last look
  std::map<std::uint64_t, std::uint64_t> has_to_end_;  // by then
};

}  // namespace hs::simulator
