#include "passes/pass.h"

namespace hs::passes {

void Pass::begin(const Buffer& out) {
  begin_ = out.size();
  moved_bytes_ = 0;
  requests_ = 0;
  ports_.clear_tallies();
  const bool writes = executes_writes_ && ports_.writes();
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

void Pass::set_mark() {
  at_mark_ = {.moved_bytes = moved_bytes_, .requests = requests_, .spent = budget_.spent()};
  writes_.clear();
  ports_.set_mark();
  changes_.keep();
}

void Pass::go_back_to_mark() {
  changes_.undo();
  ports_.go_back_to_mark();
  moved_bytes_ = at_mark_.moved_bytes;
  requests_ = at_mark_.requests;
  budget_.begin(budget_.limit(), at_mark_.spent);
}

void Pass::publish() {
  if (requests_ != 0) ports_.tally_own(Counter::passes);
  ports_.publish();
}

}  // namespace hs::passes
