#include "passes/runner.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "passes/requests.h"
#include "passes/waiting.h"

namespace hs::passes {
namespace {

using net::Next;
using net::Turn;
using store::Outcome;
using store::PassMode;
using store::Verdict;

// If a pass were divided evenly among very many turns, each reply would be sent in many pieces. So
// a turn gets at least so many steps, if that many are left. Turns that get none come first in the
// next pass.
constexpr std::uint64_t smallest_share = 400;

// Appends a part of the buffer to it. Returns where it begins now.
std::size_t move_to_end(Buffer& buffer, std::size_t begin, std::size_t end) {
  const std::size_t size = end - begin;
  const std::size_t moved = buffer.size();
  if (size == 0) return moved;
  if (end == moved) return begin;
  buffer.reserve(size);  // so that the part does not move while it is copied
  buffer.append(buffer.view(begin, end));
  return moved;
}

}  // namespace

Runner::Runner(const RunnerConfig& config, std::unique_ptr<store::Store> store,
               std::span<const MakeProtocol> protocols, std::span<CounterBlock* const> counters)
    : config_(config), store_(std::move(store)) {
  assert(!protocols.empty() && protocols.size() == counters.size());
  for (std::size_t i = 0; i < protocols.size(); ++i) {
    ports_.push_back({.protocol = protocols[i](*store_, *counters[i]), .counters = counters[i]});
  }
  port_ = ports_.data();
}

bool Runner::read_first(std::span<Turn> turns, Buffer& out) try {
  // The pass before was not ended: the caller has thrown.
  if (std::exchange(in_pass_, true)) store_->abandon_pass();
  pass_begin_ = out.size();
  failed_turn_ = no_turn;
  begin_tally();
  requests_ = 0;
  // Where there can be writes, half of the pass is theirs.
  const bool writes =
      std::ranges::any_of(ports_, [](const Port& port) { return port.protocol->writes(); });
  budget_.begin(writes ? (config_.max_pass_steps + 1) / 2 : config_.max_pass_steps);
  most_bytes_ = writes ? (config_.max_pass_bytes + 1) / 2 : config_.max_pass_bytes;
  moved_bytes_ = 0;
  begin_pass(PassMode::together);
  set_mark(out);
  if (!execute_reads(turns, out)) {
    rewind(out);
    execute_reads(turns, out);
  }
  // What has been read is final.
  set_mark(out);
  return !rests_.empty();
} catch (...) {
  store_->abandon_pass();
  throw;
}

void Runner::execute(std::span<Turn> turns, std::size_t first, Buffer& out) try {
  const std::size_t executed = first == 0 ? 0 : rests_.size();
  const std::size_t writes = writes_.size();
  if (first == 0) {
    budget_.begin(config_.max_pass_steps, budget_.spent());
    most_bytes_ = config_.max_pass_bytes;
  } else {
    store_->forget_permissions();
    for (std::size_t number = first; number < turns.size(); ++number) {
      rests_.push_back({.turn = number,
                        .consumed = 0,
                        .answered = {},
                        .reply_begin = out.size(),
                        .reply_end = out.size(),
                        .runs = Runs::all_but_finds});
    }
  }
  if (!execute_rests(executed, turns, out)) replay(turns, out);
  pass_bytes_ = bytes_of_pass(out);
  joins_help_ = first == 0 || writes_.size() != writes;
} catch (...) {
  store_->abandon_pass();
  throw;
}

// Only writes that wait for a commit count. In `writes_alone` they are committed already. If those
// that came last brought no write, it does not help to wait for more.
bool Runner::takes_more() {
  return !writes_.empty() && joins_help_ && budget_.left() != 0 &&
         pass_bytes_ < config_.max_pass_bytes;
}

void Runner::end_pass(std::span<Turn> turns, Buffer& out) try {
  in_pass_ = false;
  Outcome ended = store_->end_pass();
  if (ended.verdict() == Verdict::broken) {
    replay(turns, out);
    ended = store_->end_pass();
  }
  if (!ended.ok() && !writes_.empty()) answer_writes(ended.status(), turns, out);
  keep_changes();
  count();
} catch (...) {
  store_->abandon_pass();
  throw;
}

void Runner::begin_pass(PassMode mode) {
  mode_ = mode;
  writes_.clear();
  keep_changes();
  store_->begin_pass(mode, budget_);
}

// What a turn leaves of its share goes to the turns behind it.
void Runner::begin_share(std::size_t turns_left) {
  const std::uint64_t left = budget_.left();
  share_ends_at_ = budget_.spent() + std::max(left / turns_left, std::min(left, smallest_share));
}

// Whether the present turn has to go on in the next pass.
bool Runner::is_full(const Buffer& out) const {
  return budget_.spent() >= share_ends_at_ || bytes_of_pass(out) >= most_bytes_;
}

// What was moved is not counted twice.
std::size_t Runner::bytes_of_pass(const Buffer& out) const {
  return out.size() - pass_begin_ - moved_bytes_;
}

// Executes each turn up to its first write. False if the pass was broken.
bool Runner::execute_reads(std::span<Turn> turns, Buffer& out) {
  rests_.clear();
  runs_ = Runs::all_but_writes;
  for (std::size_t number = 0; number < turns.size(); ++number) {
    Turn& turn = turns[number];
    turn.reply_begin = turn.reply_end = out.size();
    if (number == failed_turn_) continue;
    turn.consumed = 0;
    turn.answered = {};
    turn.next = Next::wait;
    turn.put_off = false;
    begin_share(turns.size() - number);
    if (!go_on(number, turns, out)) return false;
    if (turn.put_off) {
      rests_.push_back({.turn = number,
                        .consumed = turn.consumed,
                        .answered = turn.answered,
                        .reply_begin = turn.reply_begin,
                        .reply_end = turn.reply_end,
                        .runs = Runs::all});
    }
  }
  return true;
}

// Executes what is left of the turns, except what is before the mark. False if the pass was broken.
bool Runner::execute_rests(std::size_t first, std::span<Turn> turns, Buffer& out) {
  for (std::size_t i = first; i < rests_.size(); ++i) {
    const Rest& rest = rests_[i];
    if (rest.turn < mark_.turn) continue;
    Turn& turn = turns[rest.turn];
    if (mark_.in_turn && rest.turn == mark_.turn) {
      turn.consumed = mark_.consumed;
      turn.answered = mark_.answered;
    } else {
      turn.reply_begin = move_to_end(out, rest.reply_begin, rest.reply_end);
      if (turn.reply_begin != rest.reply_begin) moved_bytes_ += rest.reply_end - rest.reply_begin;
      if (rest.turn != failed_turn_) turn.consumed = rest.consumed;
      turn.answered = rest.answered;
    }
    turn.reply_end = out.size();
    if (rest.turn == failed_turn_) continue;
    turn.next = Next::wait;
    runs_ = rest.runs;
    begin_share(rests_.size() - i);
    if (!go_on(rest.turn, turns, out)) return false;
  }
  return true;
}

// Executes a broken pass again from its mark, each write alone.
void Runner::replay(std::span<Turn> turns, Buffer& out) {
  rewind(out);
  execute_rests(0, turns, out);
}

// Takes back what a broken pass has done since its mark. What follows executes each write alone.
void Runner::rewind(Buffer& out) {
  store_->abandon_pass();
  for (Port& port : ports_) {
    port.protocol->undo_changes();
    port.tally = port.tally_at_mark;
  }
  out.truncate(mark_.out);
  requests_ = mark_.requests;
  moved_bytes_ = mark_.moved_bytes;
  budget_.begin(budget_.limit(), mark_.spent);
  begin_pass(PassMode::writes_alone);
  tally_pass(Counter::passes_replayed);
}

// Goes on with a turn. If a request throws (there is no memory for it), only its own connection
// ends: the pass is executed again without it. False if the pass was broken.
bool Runner::go_on(std::size_t number, std::span<Turn> turns, Buffer& out) {
  request_begin_ = out.size();
  try {
    return execute_turn(number, turns, out);
  } catch (const std::exception&) {
    Turn& turn = turns[number];
    turn.consumed = turn.input.size();
    turn.next = Next::close;
    failed_turn_ = number;
    if (mode_ == PassMode::together) return false;
    // The other writes are committed already: only what this request has begun is undone.
    store_->abandon_pass();
    out.truncate(request_begin_);
    turn.reply_end = out.size();
    begin_pass(PassMode::writes_alone);
    return true;
  }
}

bool Runner::execute_turn(std::size_t number, std::span<Turn> turns, Buffer& out) {
  Turn& turn = turns[number];
  attend(turn);
  auto& dialogue = static_cast<Dialogue&>(*turn.dialogue);
  // Only a streamer can go on with a parked find. The find comes here after it met a lock.
  if (dialogue.position() != nullptr) [[unlikely]] {
    turn.next = Next::stream;
    turn.reply_end = out.size();
    return true;
  }
  Requests requests(*this, number, turns, out);
  if (turn.in_line && turn.consumed == 0) [[unlikely]] {
    if (time_blocked(turn) < config_.lock_wait_timeout.get()) {
      turn.next = Next::in_line;
      turn.reply_end = out.size();
      return true;
    }
    requests.gives_up_first_ = true;
  }
  dialogue.execute(requests);
  turn.reply_end = out.size();
  return !requests.broken_;
}

// Within a turn, behind what it has consumed.
void Runner::set_mark_in(std::size_t number, const Turn& turn, const Buffer& out) {
  set_mark(out);
  mark_.turn = number;
  mark_.in_turn = true;
  mark_.consumed = turn.consumed;
  mark_.answered = turn.answered;
}

// Before the first turn that is left.
void Runner::set_mark(const Buffer& out) {
  mark_ = {.out = out.size(),
           .moved_bytes = moved_bytes_,
           .requests = requests_,
           .spent = budget_.spent()};
  for (Port& port : ports_) port.tally_at_mark = port.tally;
  keep_changes();
}

// Nothing that the pass did since its mark is in the tables: replaces replies that say otherwise by
// `status`.
void Runner::answer_writes(Status status, std::span<Turn> turns, Buffer& out) {
  const std::size_t begin = mark_.out;
  patched_.clear();
  auto write = writes_.begin();
  for (const Rest& rest : rests_) {
    const std::size_t number = rest.turn;
    if (number < mark_.turn) continue;
    if (number >= turns.size()) break;
    Turn& turn = turns[number];
    attend(turn);
    // it has replies before the mark, which stay
    const bool before = mark_.in_turn && number == mark_.turn;
    const std::size_t new_begin = before ? turn.reply_begin : begin + patched_.size();
    std::size_t copied = before ? begin : turn.reply_begin;
    for (; write != writes_.end() && write->turn == number; ++write) {
      patched_.append(out.view(copied, write->begin));
      protocol().append_error(status, patched_);
      if (write->ok) tally(Counter::errors);
      copied = write->end;
    }
    patched_.append(out.view(copied, turn.reply_end));
    turn.reply_begin = new_begin;
    turn.reply_end = begin + patched_.size();
  }
  assert(write == writes_.end());
  out.truncate(begin);
  out.append(patched_.view());
  patched_.free_memory();
}

void Runner::refuse(std::size_t port, net::Refusal why, Buffer& out) {
  ports_[port].protocol->refuse(why, out);
  ports_[port].counters->add(Counter::errors);
}

// A request of the turn has been answered, and is not consumed yet.
void Runner::note_answered(Turn& turn, Counter counter) {
  tally(counter);
  count_request(turn.answered, counter);
  if (turn.blocked_since == 0 || counter == Counter::requests_auth) [[likely]]
    return;
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(time_blocked(turn));
  tally(Counter::lock_wait_ms, static_cast<std::uint32_t>(waited.count()));
}

void Runner::keep_changes() {
  for (const Port& port : ports_) port.protocol->keep_changes();
}

void Runner::begin_tally() {
  port_ = ports_.data();
  for (Port& port : ports_) port.tally.fill(0);
}

void Runner::count() {
  if (requests_ != 0) tally_pass(Counter::passes);
  for (const Port& port : ports_) {
    for (std::size_t i = 0; i < counter_count; ++i) {
      if (port.tally[i] != 0) port.counters->add(static_cast<Counter>(i), port.tally[i]);
    }
  }
}

}  // namespace hs::passes
