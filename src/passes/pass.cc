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

// A turn is looked at behind another one only if that one ends with its finds. What comes behind a
// request of another kind is looked at when that request has been executed.
void Pass::name_next(std::size_t number) {
  if (store_.passes_over(1)) return;
  const bool has_told = !ahead_.lookups().empty();
  ahead_.clear();
  const std::size_t first = turns_[number].consumed;
  for (std::size_t i = number; i < turns_.size() && !ahead_.is_full(); ++i) {
    const net::Turn& turn = turns_[i];
    const std::size_t begin = i == number ? first : 0;
    const std::size_t taken =
        static_cast<Dialogue&>(*turn.dialogue).look_ahead(turn.input.substr(begin), store_, ahead_);
    if (taken == 0) break;
    looked_at_ = {.turn = i, .offset = begin + taken};
    if (begin + taken != turn.input.size()) break;
  }
  // Of one find alone nothing can be fetched while another one is executed.
  if (ahead_.lookups().size() < 2) ahead_.clear();
  if (has_told || !ahead_.lookups().empty()) store_.expect(ahead_.lookups());
}

void Pass::set_mark() {
  at_mark_ = {.moved_bytes = moved_bytes_, .requests = requests_, .spent = budget_.spent()};
  ports_.set_mark();
  changes_.keep();
  writes_.clear();
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
