// WrongTries: when wrong secrets and passwords were tried, and from which addresses.
//
// It checks what passes::FailedTries promises, and knows nothing of how that is done: so many a
// second from one address, and as many at once. It does not matter at which moment one looks.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace hs::simulator {

class WrongTries {
 public:
  // 0: as many as come.
  explicit WrongTries(std::uint64_t most_a_second) : most_a_second_(most_a_second) {}

  // One was made at `from` or later, and has been made by now. The run fails if it was one too many.
  void add(std::uint32_t address, std::uint64_t from, std::uint64_t now);

 private:
  const std::uint64_t most_a_second_;
  std::map<std::uint32_t, std::multiset<std::uint64_t>> begins_;
};

}  // namespace hs::simulator
