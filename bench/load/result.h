// Result: what a run has measured, for people and as JSON.
//
// A plain value, written once at the end by the main thread.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>

#include "load/histogram.h"
#include "load/process_time.h"
#include "load/wire.h"

namespace hs::bench {

struct Result {
  Tally tally;
  Histogram latency;
  std::uint64_t lost_connections = 0;
  double seconds = 0;
  CpuTime client_cpu;
  std::optional<CpuTime> server_cpu;

  // Adds the results of one more client.
  void add(const Tally& other) {
    tally.replies += other.replies;
    tally.rows += other.rows;
    tally.misses += other.misses;
    tally.errors += other.errors;
    if (tally.first_error.empty()) tally.first_error = other.first_error;
  }
  bool clean() const { return tally.errors == 0 && lost_connections == 0; }
};

void write_json(std::ostream& out, const Result& result);
void write_text(std::ostream& out, const Result& result);

}  // namespace hs::bench
