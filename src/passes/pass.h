// Pass: what the requests of one pass share.
//
// It stands between PassRunner, which leads the turns through a pass, and Requests, which reports
// what becomes of the requests of one turn. It owns the budget, the changed dialogues and the list of
// replies that are true only if the commit succeeds, and remembers how far a pass had come at its
// mark. A worker has one object for all its passes, on its own thread. It ends no transaction.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "passes/dialogue.h"
#include "passes/runner_config.h"
#include "passes/tally.h"
#include "passes/thread_ports.h"
#include "store/look_ahead.h"
#include "store/store.h"

namespace hs::passes {

class Pass {
 public:
  // A reply that is true only if the commit succeeds: of a write, or of a request behind a write.
  struct WriteReply {
    std::size_t turn;
    std::size_t begin;
    std::size_t end;
    std::size_t request;  // where the request begins in the turn's input
    bool ok;
    std::uint32_t replies;  // if it has failed, so many errors stand in its place
  };

  Pass(const RunnerConfig& config, store::Store& store, ThreadPorts& ports, bool executes_writes)
      : config_(config), store_(store), ports_(ports), executes_writes_(executes_writes) {}
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  const RunnerConfig& config() const { return config_; }
  store::Store& store() const { return store_; }
  // Those of the turn that the ports attend to.
  Protocol& protocol() const { return ports_.protocol(); }
  Tally& tally() { return ports_.tally(); }
  Changes& changes() { return changes_; }
  store::PassMode mode() const { return mode_; }
  // Whether writes are executed here. If not, another worker has to.
  bool executes_writes() const { return executes_writes_; }
  // Those of the turn at work.
  Runs runs() const { return runs_; }

  // A request begins, and ends. One that ends costs a step.
  void begin_request(const Buffer& out) {
    request_begin_ = out.size();
    spent_before_request_ = budget_.spent();
  }
  // So many steps it has taken until now.
  std::uint64_t steps_of_request() const { return budget_.spent() - spent_before_request_; }
  std::size_t request_begin() const { return request_begin_; }
  void end_request() {
    ++requests_;
    spend();
  }
  void spend(std::uint64_t steps = 1) { budget_.spend(steps); }

  // The reads of these turns are executed in their order. If the settings want it, the store is told
  // which finds come next.
  void begin_reads(std::span<const net::Turn> turns) {
    ahead_.clear();
    looked_at_ = {};
    turns_ = turns;
    looks_ahead_ = config_.looks_ahead.get();
    if (looks_ahead_ != store_looks_ahead_) [[unlikely]] {
      store_.look_ahead(looks_ahead_);
      store_looks_ahead_ = looks_ahead_;
    }
  }
  // What was named and has not come may be bytes of a turn that is over.
  void end_reads() {
    if (!ahead_.lookups().empty()) {
      ahead_.clear();
      store_.expect({});
    }
    looks_ahead_ = false;
    turns_ = {};
  }
  bool looks_ahead() const { return looks_ahead_; }
  // The next request of this turn begins.
  void look_ahead(std::size_t number) {
    if (!looked_at_.is_behind(number, turns_[number].consumed)) name_next(number);
  }
  // The reply to the request that began last is complete.
  void add_write_reply(std::size_t turn, std::size_t request, const Buffer& out, bool ok,
                       std::uint32_t replies) {
    writes_.push_back({turn, request_begin_, out.size(), request, ok, replies});
  }
  const std::vector<WriteReply>& writes() const { return writes_; }

  // The pass begins, and what it writes begins in `out`. Where there can be writes, half of the
  // pass is kept for them until begin_writes().
  void begin(const Buffer& out);
  void begin_writes();
  // The store's pass begins, or another one in its place.
  void begin_transaction(store::PassMode mode);
  // The next turn begins. What a turn leaves of its share goes to the turns behind it.
  void begin_turn(Runs runs, std::size_t turns_left) {
    runs_ = runs;
    const std::uint64_t left = budget_.left();
    share_ends_at_ = budget_.spent() + std::max(left / turns_left, std::min(left, smallest_share));
  }
  // Whether the present turn has to go on in the next pass.
  bool is_full(const Buffer& out) const {
    return budget_.spent() >= share_ends_at_ || bytes(out) >= most_bytes_;
  }
  // Whether there is room for more turns.
  bool has_room(std::size_t bytes_written) const {
    return budget_.left() != 0 && bytes_written < config_.max_pass_bytes;
  }
  // How many bytes it has written. What was moved is not counted twice.
  std::size_t bytes(const Buffer& out) const { return out.size() - begin_ - moved_bytes_; }
  void add_moved_bytes(std::size_t bytes) { moved_bytes_ += bytes; }

  // What was executed until now is final, and no reply to it waits for a commit. A pass that is executed
  // again goes back to its mark.
  void set_mark();
  void go_back_to_mark();
  // Tells the counters what there is to count.
  void publish();

 private:
  struct Progress {
    std::size_t moved_bytes = 0;
    std::size_t requests = 0;
    std::uint64_t spent = 0;
  };
  // What lies before this place of this turn was looked at for finds that come next.
  struct LookedAt {
    std::size_t turn = 0;
    std::size_t offset = 0;

    bool is_behind(std::size_t other_turn, std::size_t other_offset) const {
      return other_turn < turn || (other_turn == turn && other_offset < offset);
    }
  };

  void name_next(std::size_t number);

  // If a pass were divided evenly among very many turns, each reply would be sent in many pieces. So
  // a turn gets at least so many steps, if that many are left. Turns that get none come first in the
  // next pass.
  static constexpr std::uint64_t smallest_share = 400;

  const RunnerConfig& config_;
  store::Store& store_;
  ThreadPorts& ports_;
  const bool executes_writes_;
  Changes changes_;
  bool looks_ahead_ = false;
  bool store_looks_ahead_ = false;
  std::span<const net::Turn> turns_;  // those that it looks at
  LookedAt looked_at_;
  store::LookAhead ahead_;
  store::PassMode mode_ = store::PassMode::together;
  Runs runs_ = Runs::all;
  std::size_t begin_ = 0;        // its place in `out`
  std::size_t moved_bytes_ = 0;  // of its replies, which are in `out` twice
  std::size_t most_bytes_ = 0;
  std::size_t request_begin_ = 0;
  std::uint64_t spent_before_request_ = 0;
  std::size_t requests_ = 0;
  store::Budget budget_;
  // when so many steps are spent, the present turn has had its share
  std::uint64_t share_ends_at_ = 0;
  std::vector<WriteReply> writes_;
  Progress at_mark_;
};

}  // namespace hs::passes
