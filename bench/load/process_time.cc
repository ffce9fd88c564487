#include "load/process_time.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <string>

namespace hs::bench {

std::optional<CpuTime> cpu_time_of(int pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  // The name in brackets may contain anything, also blanks. The fields behind it are counted from
  // 3.
  stat.ignore(std::numeric_limits<std::streamsize>::max(), ')');
  std::string field;
  for (int number = 3; number < 14; ++number) stat >> field;
  double user = 0;
  double system = 0;
  if (!(stat >> user >> system)) return std::nullopt;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  return CpuTime{.user = user / ticks, .system = system / ticks};
}

CpuTime own_cpu_time() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return {.user = seconds(usage.ru_utime), .system = seconds(usage.ru_stime)};
}

}  // namespace hs::bench
