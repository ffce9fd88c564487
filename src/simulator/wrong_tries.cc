#include "simulator/wrong_tries.h"

#include <string>

#include "simulator/world.h"

namespace hs::simulator {

// All that were made in a span of time, for each span that ends now.
void WrongTries::add(std::uint32_t address, std::uint64_t from, std::uint64_t now) {
  if (most_a_second_ == 0) return;
  constexpr std::uint64_t second = 1'000'000'000;
  const std::uint64_t cost = second / most_a_second_;
  std::multiset<std::uint64_t>& begins = begins_[address];
  begins.insert(from);
  std::uint64_t count = begins.size();
  for (const std::uint64_t begin : begins) {
    if (count * cost > second + (now - begin)) {
      World::current().fail(std::to_string(count) + " wrong tries of one address in " +
                            std::to_string(now - begin) + " ns, and " +
                            std::to_string(most_a_second_) + " a second are allowed");
    }
    --count;
  }
}

}  // namespace hs::simulator
