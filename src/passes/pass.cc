#include "passes/pass.h"

namespace hs::passes {

void Pass::begin(const Buffer& out) {
  begin_ = out.size();
  moved_bytes_ = 0;
  requests_ = 0;
  tally_.clear();
  const bool writes = protocol_.writes();
  budget_.begin(writes ? (config_.max_pass_steps + 1) / 2 : config_.max_pass_steps);
  most_bytes_ = writes ? (config_.max_pass_bytes + 1) / 2 : config_.max_pass_bytes;
}

void Pass::begin_writes() {
  budget_.begin(config_.max_pass_steps, budget_.spent());
  most_bytes_ = config_.max_pass_bytes;
}

void Pass::begin_transaction(store::PassMode mode) {
  mode_ = mode;
  writes_.clear();
  changes_.keep();
  store_.begin_pass(mode, budget_);
}

void Pass::go_back_to(const Progress& progress) {
  moved_bytes_ = progress.moved_bytes;
  requests_ = progress.requests;
  tally_ = progress.tally;
  budget_.begin(budget_.limit(), progress.spent);
}

void Pass::publish(CounterBlock& counters) {
  if (requests_ != 0) tally_.add(Counter::passes);
  tally_.publish(counters);
}

}  // namespace hs::passes
