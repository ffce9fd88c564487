// Beside: the bystander's run, alone and beside each greedy load that the options name.
//
// The main thread uses it, starts the other threads and waits for them.
#pragma once

#include <optional>
#include <ostream>
#include <vector>

#include "load/client.h"
#include "load/connect.h"
#include "load/greed.h"
#include "load/options.h"

namespace hs::bench {

// What was measured in one of the runs.
struct Stay {
  std::optional<Greed> beside;  // nothing: the light client was alone
  Outcome light;
  Outcome greedy;

  // The reason why its figures are worthless, or an empty text.
  std::string fault() const;
};

struct BesideResult {
  double rate = 0;
  std::vector<Stay> stays;

  bool clean() const;
};

void write_json(std::ostream& out, const BesideResult& result);
void write_text(std::ostream& out, const BesideResult& result);

// The program's exit code.
int run_beside(const Options& options, const Address& address);

}  // namespace hs::bench
