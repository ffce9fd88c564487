#include "mysqld/plugin/worker_count.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/usable_cores.h"
#include "mysqld/plugin/system_variables.h"

namespace hs::mysqld {
namespace {

// With more workers, they contend for the server's locks, and each pass serves fewer connections.
constexpr std::uint64_t most_workers = 16;

// A worker uses one core at a time. More workers than cores wait for one another's time slices.
// With fewer, the requests get too little where SQL sessions keep all cores busy, because the
// kernel gives each busy thread the same share.
constexpr std::uint64_t workers_for(std::uint64_t cores) {
  return std::clamp<std::uint64_t>(cores, 1, most_workers);
}

static_assert(workers_for(0) == 1);
static_assert(workers_for(2) == 2);
static_assert(workers_for(16) == 16);
static_assert(workers_for(128) == 16);

}  // namespace

void fit_threads_to_cores() {
  for (std::size_t port = 0; port < port_count; ++port) {
    if (!has_option(port, PortOption::threads)) continue;
    const Option threads = option_of(port, PortOption::threads);
    if (number_option(threads) == 0) set_number_option(threads, workers_for(usable_cores()));
  }
}

}  // namespace hs::mysqld
