#include "passes/pass_runner.h"

#include <cassert>
#include <utility>

#include "passes/late_answer.h"
#include "passes/requests.h"
#include "passes/waiting.h"

namespace hs::passes {
namespace {

using net::Next;
using net::Turn;
using store::Outcome;
using store::PassMode;
using store::Verdict;

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

PassRunner::PassRunner(const RunnerConfig& config, std::unique_ptr<store::Store> store,
                       std::span<const MakeProtocol> protocols,
                       std::span<CounterBlock* const> counters, Duty duty)
    : config_(config),
      store_(std::move(store)),
      ports_(*store_, protocols, counters),
      pass_(config, *store_, ports_, duty == Duty::all) {}

bool PassRunner::read_first(std::span<Turn> turns, Buffer& out) try {
  // The pass before was not ended: the caller has thrown.
  if (std::exchange(in_pass_, true)) fail_pass();
  failed_turn_ = no_turn;
  pass_.begin(out);
  pass_.begin_transaction(PassMode::together);
  set_mark(out);
  if (!execute_reads(turns, out)) {
    rewind(out);
    execute_reads(turns, out);
  }
  pass_.end_reads();
  // What has been read is final.
  set_mark(out);
  if (!pass_.executes_writes()) hand_on_writes(turns);
  return !rests_.empty();
} catch (...) {
  fail_pass();
  throw;
}

void PassRunner::execute(std::span<Turn> turns, std::size_t first, Buffer& out) try {
  const std::size_t executed = first == 0 ? 0 : rests_.size();
  const std::size_t writes = pass_.writes().size();
  if (first == 0) {
    pass_.begin_writes();
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
  pass_bytes_ = pass_.bytes(out);
  joins_help_ = first == 0 || pass_.writes().size() != writes;
} catch (...) {
  fail_pass();
  throw;
}

// Only writes that wait for a commit count. In `writes_alone` they are committed already. If those
// that came last brought no write, it does not help to wait for more.
bool PassRunner::takes_more() {
  return !pass_.writes().empty() && joins_help_ && pass_.has_room(pass_bytes_);
}

void PassRunner::end_pass(std::span<Turn> turns, Buffer& out) try {
  in_pass_ = false;
  Outcome ended = store_->end_pass();
  if (ended.verdict() == Verdict::broken) {
    replay(turns, out);
    ended = store_->end_pass();
  }
  if (!ended.ok() && !pass_.writes().empty()) answer_writes(ended.status(), turns, out);
  pass_.changes().keep();
  pass_.publish();
} catch (...) {
  fail_pass();
  throw;
}

// Something has thrown: the pass is over, and its connections end.
void PassRunner::fail_pass() {
  pass_.end_reads();
  store_->abandon_pass();
  pass_.changes().forget();
}

// Those that were put off come to a write next, which another worker has to execute.
void PassRunner::hand_on_writes(std::span<Turn> turns) {
  for (const Rest& rest : rests_) {
    turns[rest.turn].put_off = false;
    turns[rest.turn].next = Next::write;
  }
  rests_.clear();
}

// Executes each turn up to its first write. False if the pass was broken.
bool PassRunner::execute_reads(std::span<Turn> turns, Buffer& out) {
  rests_.clear();
  pass_.begin_reads(turns);
  for (std::size_t number = 0; number < turns.size(); ++number) {
    Turn& turn = turns[number];
    turn.reply_begin = turn.reply_end = out.size();
    if (number == failed_turn_) continue;
    turn.consumed = 0;
    turn.answered = {};
    turn.next = Next::wait;
    turn.put_off = turn.has_part = false;
    pass_.begin_turn(Runs::all_but_writes, turns.size() - number);
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
bool PassRunner::execute_rests(std::size_t first, std::span<Turn> turns, Buffer& out) {
  for (std::size_t i = first; i < rests_.size(); ++i) {
    const Rest& rest = rests_[i];
    if (rest.turn < mark_.turn) continue;
    Turn& turn = turns[rest.turn];
    if (mark_.in_turn && rest.turn == mark_.turn) {
      turn.consumed = mark_.consumed;
      turn.answered = mark_.answered;
    } else {
      turn.reply_begin = move_to_end(out, rest.reply_begin, rest.reply_end);
      if (turn.reply_begin != rest.reply_begin)
        pass_.add_moved_bytes(rest.reply_end - rest.reply_begin);
      if (rest.turn != failed_turn_) turn.consumed = rest.consumed;
      turn.answered = rest.answered;
    }
    turn.reply_end = out.size();
    if (rest.turn == failed_turn_) continue;
    turn.next = Next::wait;
    pass_.begin_turn(rest.runs, rests_.size() - i);
    if (!go_on(rest.turn, turns, out)) return false;
  }
  return true;
}

// Executes a broken pass again from its mark, each write alone.
void PassRunner::replay(std::span<Turn> turns, Buffer& out) {
  rewind(out);
  execute_rests(0, turns, out);
}

// Takes back what a broken pass has done since its mark. What follows executes each write alone.
void PassRunner::rewind(Buffer& out) {
  store_->abandon_pass();
  pass_.go_back_to_mark();
  out.truncate(mark_.out);
  pass_.begin_transaction(PassMode::writes_alone);
  ports_.tally_own(Counter::passes_replayed);
}

// Goes on with a turn. If a request throws (there is no memory for it), only its own connection
// ends: the pass is executed again without it. False if the pass was broken.
bool PassRunner::go_on(std::size_t number, std::span<Turn> turns, Buffer& out) {
  pass_.begin_request(out);
  try {
    return execute_turn(number, turns, out);
  } catch (const std::exception&) {
    Turn& turn = turns[number];
    turn.consumed = turn.input.size();
    turn.next = Next::close;
    failed_turn_ = number;
    if (pass_.mode() == PassMode::together) return false;
    // The other writes are committed already: only what this request has begun is undone.
    store_->abandon_pass();
    out.truncate(pass_.request_begin());
    turn.reply_end = out.size();
    pass_.begin_transaction(PassMode::writes_alone);
    return true;
  }
}

bool PassRunner::execute_turn(std::size_t number, std::span<Turn> turns, Buffer& out) {
  Turn& turn = turns[number];
  ports_.attend(turn);
  auto& dialogue = static_cast<Dialogue&>(*turn.dialogue);
  // Only a streamer can go on with a parked find. The find comes here after it met a lock.
  if (dialogue.position() != nullptr) [[unlikely]] {
    turn.next = Next::stream;
    turn.reply_end = out.size();
    return true;
  }
  const bool is_in_line = turn.in_line && turn.consumed == 0;
  if (is_in_line && time_blocked(turn) < config_.lock_wait_timeout.get() && !is_over(turn.deadline))
      [[unlikely]] {
    turn.next = Next::in_line;
    turn.reply_end = out.size();
    return true;
  }
  Requests requests(pass_, number, turn, out, is_in_line);
  while (true) {
    turn.deadline = 0;
    dialogue.execute(requests);
    turn.reply_end = out.size();
    switch (requests.take_stop()) {
      case Requests::Stop::none: return true;
      case Requests::Stop::broken: return false;
      case Requests::Stop::committed: set_mark_in(number, turn, out); break;
      case Requests::Stop::before_commit:
        if (!commit_so_far(number, turns, out)) return false;
        break;
    }
  }
}

// Ends the store's pass and begins another in its place. So a write that cannot be undone comes
// behind a commit, and is never executed twice. False if the pass was broken by that.
bool PassRunner::commit_so_far(std::size_t number, std::span<Turn> turns, Buffer& out) {
  assert(pass_.mode() == PassMode::together);
  const Outcome ended = store_->end_pass();
  if (ended.verdict() == Verdict::broken) return false;
  if (!ended.ok()) {
    answer_writes(ended.status(), turns.first(number + 1), out);
    ports_.attend(turns[number]);
  }
  store_->release();
  pass_.begin_transaction(PassMode::together);
  set_mark_in(number, turns[number], out);
  return true;
}

// Within a turn, behind what it has consumed.
void PassRunner::set_mark_in(std::size_t number, const Turn& turn, const Buffer& out) {
  set_mark(out);
  mark_.turn = number;
  mark_.in_turn = true;
  mark_.consumed = turn.consumed;
  mark_.answered = turn.answered;
}

// Before the first turn that is left.
void PassRunner::set_mark(const Buffer& out) {
  mark_ = {.out = out.size()};
  pass_.set_mark();
}

// Nothing that the pass did since its mark is in the tables: replaces replies that say otherwise by
// `status`.
void PassRunner::answer_writes(Status status, std::span<Turn> turns, Buffer& out) {
  const std::size_t begin = mark_.out;
  patched_.clear();
  const std::vector<Pass::WriteReply>& writes = pass_.writes();
  auto write = writes.begin();
  for (const Rest& rest : rests_) {
    const std::size_t number = rest.turn;
    if (number < mark_.turn) continue;
    if (number >= turns.size()) break;
    Turn& turn = turns[number];
    ports_.attend(turn);
    // it has replies before the mark, which stay
    const bool before = mark_.in_turn && number == mark_.turn;
    const std::size_t new_begin = before ? turn.reply_begin : begin + patched_.size();
    std::size_t copied = before ? begin : turn.reply_begin;
    for (; write != writes.end() && write->turn == number; ++write) {
      patched_.append(out.view(copied, write->begin));
      static_cast<Dialogue&>(*turn.dialogue)
          .replace_reply(turn.input.substr(write->request), status, write->replies, patched_);
      if (write->ok) pass_.tally().add(Counter::errors);
      copied = write->end;
    }
    patched_.append(out.view(copied, turn.reply_end));
    turn.reply_begin = new_begin;
    turn.reply_end = begin + patched_.size();
  }
  assert(write == writes.end());
  out.truncate(begin);
  out.append(patched_.view());
  patched_.free_memory();
}

void PassRunner::answer_late(Turn& turn, Buffer& out) { passes::answer_late(turn, ports_, out); }

}  // namespace hs::passes
