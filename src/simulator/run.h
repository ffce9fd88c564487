// One simulated run: a server, its clients and what goes wrong, all from one seed.
#pragma once

#include <cstdint>

namespace hs::simulator {

// What happened in the run, for a summary.
struct Summary {
  std::uint64_t requests = 0;
  std::uint64_t connections = 0;
  std::uint64_t long_finds = 0;
  std::uint64_t parked = 0;
  std::uint64_t writes_aside = 0;
  std::uint64_t remote = 0;           // by remote threads
  std::uint64_t waited_too_long = 0;  // for a remote thread
  std::uint64_t timed_out = 0;        // requests whose own time was over
  std::uint64_t replays = 0;
  std::uint64_t handshakes = 0;
  std::uint64_t log_ins = 0;
  std::uint64_t failed_log_ins = 0;
  std::uint64_t slowed_log_ins = 0;
  std::uint64_t late = 0;     // clients that did not log in in time
  std::uint64_t refused = 0;  // there were too many that had not logged in
  std::uint64_t shed = 0;
  std::uint64_t closed = 0;
};

// Throws a Failure if something that must be true is not.
Summary run_seed(std::uint64_t seed);

}  // namespace hs::simulator
