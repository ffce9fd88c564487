// IdleCores: how many of the cores that this process may use were idle for a time.
//
// It reads /proc/stat, which counts a core's time in hundredths of a second. One thread at a time.
// The simulator does not call it.
#pragma once

#include <cstdint>
#include <vector>

#include "net/descriptor.h"

namespace hs::net {

class IdleCores {
 public:
  // How many were idle on average since the last call. As many as there are at the first call, and
  // where the system does not say.
  double since_last(std::uint64_t now);

 private:
  Descriptor file_;
  std::vector<char> text_;
  std::uint64_t idle_ = 0;  // in all, in the system's unit
  std::uint64_t at_ = 0;    // when that was read, ns; 0: never
};

}  // namespace hs::net
