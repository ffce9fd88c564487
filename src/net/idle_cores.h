// IdleCores: how many of the cores that this process may use were idle for a time.
//
// It reads /proc/stat, which counts a core's time in hundredths of a second. One thread at a time.
// The simulator does not call it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "net/descriptor.h"

namespace hs::net {

class IdleCores {
 public:
  // How many were idle on average since the last call; none at the first call. As many as there are
  // where the system does not say.
  std::optional<double> since_last(std::uint64_t now);
  // The next call is a first one.
  void forget() { at_ = 0; }

 private:
  bool is_open();

  Descriptor file_;
  bool was_tried_ = false;  // a system that refuses it may log each attempt
  std::vector<char> text_;
  std::uint64_t idle_ = 0;  // in all, in the system's unit
  std::uint64_t at_ = 0;    // when that was read, ns; 0: never
};

}  // namespace hs::net
