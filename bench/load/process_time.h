// CPU time of processes: the server's and this program's.
//
// Plain reads of the kernel's figures, for any thread.
#pragma once

#include <optional>

namespace hs::bench {

struct CpuTime {
  double user = 0;  // seconds
  double system = 0;
};

// Nothing if there is no such process.
std::optional<CpuTime> cpu_time_of(int pid);
CpuTime own_cpu_time();

}  // namespace hs::bench
