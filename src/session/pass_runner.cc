#include "session/pass_runner.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "protocol/errors.h"
#include "protocol/reply.h"
#include "session/turn_input.h"

namespace hs::session {
namespace {

using net::Next;
using net::Turn;
using protocol::Mistake;
using protocol::ReplyWriter;
using protocol::status_of;
using store::Outcome;
using store::PassMode;
using store::Verdict;

// A request that asks for a row now and then never gets it while others queue for it. So after this
// time a streamer queues for it, too.
constexpr std::chrono::milliseconds queue_after{50};
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

PassRunner::PassRunner(const RunnerConfig& config, std::unique_ptr<store::Store> store,
                       CounterBlock& counters)
    : config_(config), store_(std::move(store)), counters_(counters), workspace_(*store_) {}

std::unique_ptr<net::Dialogue> PassRunner::open_dialogue() {
  return std::make_unique<Session>(config_.session);
}

bool PassRunner::read_first(std::span<Turn> turns, Buffer& out) try {
  // The pass before was not ended: the caller has thrown.
  if (std::exchange(in_pass_, true)) store_->abandon_pass();
  pass_begin_ = out.size();
  failed_turn_ = no_turn;
  tally_.fill(0);
  requests_ = 0;
  // Where there can be writes, half of the pass is theirs.
  budget_.begin(config_.session.writable ? (config_.max_pass_steps + 1) / 2
                                         : config_.max_pass_steps);
  most_bytes_ =
      config_.session.writable ? (config_.max_pass_bytes + 1) / 2 : config_.max_pass_bytes;
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

void PassRunner::execute(std::span<Turn> turns, std::size_t first, Buffer& out) try {
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
bool PassRunner::takes_more() {
  return !writes_.empty() && joins_help_ && budget_.left() != 0 &&
         pass_bytes_ < config_.max_pass_bytes;
}

void PassRunner::end_pass(std::span<Turn> turns, Buffer& out) try {
  in_pass_ = false;
  Outcome ended = store_->end_pass();
  if (ended.verdict() == Verdict::broken) {
    replay(turns, out);
    ended = store_->end_pass();
  }
  if (!ended.ok() && !writes_.empty()) answer_writes(ended.status(), turns, out);
  workspace_.changes.clear();
  count();
} catch (...) {
  store_->abandon_pass();
  throw;
}

void PassRunner::begin_pass(PassMode mode) {
  mode_ = mode;
  writes_.clear();
  workspace_.changes.clear();
  store_->begin_pass(mode, budget_);
}

// What a turn leaves of its share goes to the turns behind it.
void PassRunner::begin_share(std::size_t turns_left) {
  const std::uint64_t left = budget_.left();
  share_ends_at_ = budget_.spent() + std::max(left / turns_left, std::min(left, smallest_share));
}

// Whether the present turn has to go on in the next pass.
bool PassRunner::is_full(const Buffer& out) const {
  return budget_.spent() >= share_ends_at_ || bytes_of_pass(out) >= most_bytes_;
}

// What was moved is not counted twice.
std::size_t PassRunner::bytes_of_pass(const Buffer& out) const {
  return out.size() - pass_begin_ - moved_bytes_;
}

// Executes each turn up to its first write. False if the pass was broken.
bool PassRunner::execute_reads(std::span<Turn> turns, Buffer& out) {
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
void PassRunner::replay(std::span<Turn> turns, Buffer& out) {
  rewind(out);
  execute_rests(0, turns, out);
}

// Takes back what a broken pass has done since its mark. What follows executes each write alone.
void PassRunner::rewind(Buffer& out) {
  store_->abandon_pass();
  // A request before a P or an A must find the session as it was then.
  std::ranges::for_each(workspace_.changes.rbegin(), workspace_.changes.rend(),
                        [](SessionChange& change) { change.session->undo(change); });
  out.truncate(mark_.out);
  tally_ = mark_.tally;
  requests_ = mark_.requests;
  moved_bytes_ = mark_.moved_bytes;
  budget_.begin(budget_.limit(), mark_.spent);
  begin_pass(PassMode::writes_alone);
  tally(Counter::passes_replayed);
}

// Goes on with a turn. If a request throws (there is no memory for it), only its own connection
// ends: the pass is executed again without it. False if the pass was broken.
bool PassRunner::go_on(std::size_t number, std::span<Turn> turns, Buffer& out) {
  request_begin_ = out.size();
  try {
    return execute_lines(number, turns, out);
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

bool PassRunner::execute_lines(std::size_t number, std::span<Turn> turns, Buffer& out) {
  Turn& turn = turns[number];
  // Only a streamer can go on with a parked find. The find comes here after it met a lock.
  if (static_cast<Session&>(*turn.dialogue).position() != nullptr) [[unlikely]] {
    turn.next = Next::stream;
    turn.reply_end = out.size();
    return true;
  }
  if (turn.in_line && turn.consumed == 0) [[unlikely]] {
    if (time_blocked(turn) < config_.lock_wait_timeout.get()) {
      turn.next = Next::in_line;
      turn.reply_end = out.size();
      return true;
    }
    give_up(turn, out);
  }
  Step step = Step::done;
  while (step == Step::done || step == Step::again) {
    const std::optional<Line> line =
        line_at(turn.input, turn.consumed, std::max(turn.consumed, turn.scanned));
    const bool too_long = line ? line->text.size() > std::min(config_.max_request_size.get(),
                                                              turn.dialogue->most_waiting)
                               : turn.oversized && turn.consumed == 0;
    if (too_long) [[unlikely]] {
      ReplyWriter(out).error(status_of(Mistake::request_size));
      tally(Counter::requests_malformed);
      tally(Counter::errors);
      ++requests_;
      budget_.spend();
      turn.consumed = turn.input.size();
      turn.next = Next::close;
      break;
    }
    if (!line) break;
    if (is_full(out)) {
      // Nobody knows yet whether it reads or writes, and there is room kept for writes.
      turn.put_off =
          runs_ == Runs::all_but_writes && config_.session.writable && turn.consumed == 0;
      if (!turn.put_off) turn.next = Next::again;
      break;
    }
    step = execute_line(number, turns, line->text, out);
    if (step == Step::done) turn.consumed = line->end_offset;
  }
  turn.reply_end = out.size();
  return step != Step::broken;
}

// Answers the first request of a turn, which has waited too long for a row.
void PassRunner::give_up(Turn& turn, Buffer& out) {
  const std::optional<Line> line = line_at(turn.input, 0, 0);
  assert(line);
  NamedIndex* index = nullptr;
  const Status admitted =
      static_cast<Session&>(*turn.dialogue).admit(line->text, workspace_, index);
  assert(admitted.ok());
  ReplyWriter(out).error(admitted.ok() ? row_wait_timed_out : admitted);
  turn.consumed = line->end_offset;
  note_answered(turn, counter_of(workspace_.request));
  tally(Counter::errors);
  ++requests_;
  budget_.spend();
}

// Whether the answer is that a secret or a password was wrong, and it is too soon to say so. The
// request is then executed again later. A client that has logged in knows the secret, but not the
// passwords of others. One that has gone must not keep its place among the connections.
bool PassRunner::holds_back(Turn& turn, Session& session, const Answer& answer) {
  const bool is_wrong = !answer.ok && answer.counter == Counter::requests_auth;
  if (!is_wrong) return false;
  const bool of_account = workspace_.parsed.ok() && is_log_in(workspace_.request);
  if (of_account ? config_.session.authenticator == nullptr : config_.session.secret.empty())
    return false;
  const bool knows_it = session.is_logged_in() && !of_account;
  if (!knows_it && !turn.peer_done && time_blocked(turn) < config_.wrong_secret_delay) {
    turn.next = Next::retry;
    return true;
  }
  tally(Counter::log_ins_failed);
  end_try(turn, session, false);
  return false;
}

PassRunner::Step PassRunner::execute_line(std::size_t number, std::span<Turn> turns,
                                          std::string_view line, Buffer& out) {
  Turn& turn = turns[number];
  Session& session = static_cast<Session&>(*turn.dialogue);
  const std::size_t begin = request_begin_ = out.size();
  if (line.starts_with("A\t") && !may_try(turn, session, line)) [[unlikely]]
    return Step::stop;
  Answer answer = session.execute(line, runs_, workspace_, out);
  if (answer.logs_in) [[unlikely]] {
    turn.next = Next::log_in;
    note_password(turn, line);
    return Step::stop;
  }
  if (answer.put_off) {
    turn.put_off = runs_ == Runs::all_but_writes;
    if (!turn.put_off) {
      turn.next = Next::again;
      budget_.spend();
    }
    return Step::stop;
  }
  switch (answer.verdict) {
    case Verdict::answered:
      if (holds_back(turn, session, answer)) [[unlikely]] {
        out.truncate(begin);
        return Step::stop;
      }
      if (answer.counter == Counter::requests_auth) [[unlikely]] {
        if (answer.ok) end_try(turn, session, true);
        if (!answer.ok) session.forget_refusal(workspace_);
      }
      break;
    case Verdict::parked: assert(false); [[fallthrough]];  // a find is parked only if it has a sink
    case Verdict::oversized:
      turn.next = answer.status.ok() ? Next::stream : Next::in_line;
      if (!answer.status.ok()) tally(Counter::requests_blocked);
      return Step::stop;
    case Verdict::not_yet: return commit_so_far(number, turns, out) ? Step::again : Step::broken;
    case Verdict::blocked:
      if (turn.blocked_since == 0 || turn.consumed != 0) tally(Counter::requests_blocked);
      if (const auto blocked = time_blocked(turn); blocked < config_.lock_wait_timeout.get()) {
        turn.next = !answer.status.ok() && blocked >= queue_after ? Next::queue : Next::retry;
        return Step::stop;
      }
      ReplyWriter(out).error(answer.status.ok() ? lock_wait_timed_out : answer.status);
      answer.ok = false;
      break;
    case Verdict::broken:
      if (mode_ == PassMode::together) return Step::broken;
      // Each write commits alone now, so the store should have given this answer itself.
      ReplyWriter(out).error(deadlock);
      answer.ok = false;
      break;
  }
  ++requests_;
  budget_.spend();
  note_answered(turn, answer.counter);
  tally(Counter::values_ignored, answer.values_ignored);
  if (!answer.ok) tally(Counter::errors);
  if (answer.has_no_place) [[unlikely]]
    tally(Counter::open_indexes_refused);
  if (mode_ == PassMode::writes_alone) return Step::done;
  if (answer.for_good) {
    assert(writes_.empty());
    const auto size = static_cast<std::size_t>(line.data() + line.size() - turn.input.data());
    set_mark_in(number, turn, turn.input.find('\n', size) + 1, out);
    return Step::done;
  }
  // A request behind a write may have seen that write: a find its row, an insert its key. So its
  // reply, even an error, is true only if the commit succeeds.
  const bool is_behind_write = (answer.write || answer.read) && !writes_.empty();
  if (is_behind_write || (answer.ok && answer.write)) {
    writes_.push_back({number, begin, out.size(), answer.ok});
  }
  return Step::done;
}

// Ends the pass and begins another in its place. So a write that cannot be undone comes behind a
// commit, and is never executed twice. False if the pass was broken by that.
bool PassRunner::commit_so_far(std::size_t number, std::span<Turn> turns, Buffer& out) {
  assert(mode_ == PassMode::together);
  Turn& turn = turns[number];
  turn.reply_end = out.size();
  const Outcome ended = store_->end_pass();
  if (ended.verdict() == Verdict::broken) return false;
  if (!ended.ok()) answer_writes(ended.status(), turns.first(number + 1), out);
  store_->release();
  begin_pass(PassMode::together);
  set_mark_in(number, turn, turn.consumed, out);
  return true;
}

// Within a turn.
void PassRunner::set_mark_in(std::size_t number, const Turn& turn, std::size_t consumed,
                             const Buffer& out) {
  set_mark(out);
  mark_.turn = number;
  mark_.in_turn = true;
  mark_.consumed = consumed;
  mark_.answered = turn.answered;
}

// Before the first turn that is left.
void PassRunner::set_mark(const Buffer& out) {
  mark_ = {.out = out.size(),
           .moved_bytes = moved_bytes_,
           .requests = requests_,
           .spent = budget_.spent(),
           .tally = tally_};
  workspace_.changes.clear();
}

// Nothing that the pass did since its mark is in the tables: replaces replies that say otherwise by
// `status`.
void PassRunner::answer_writes(Status status, std::span<Turn> turns, Buffer& out) {
  const std::size_t begin = mark_.out;
  patched_.clear();
  auto write = writes_.begin();
  for (const Rest& rest : rests_) {
    const std::size_t number = rest.turn;
    if (number < mark_.turn) continue;
    if (number >= turns.size()) break;
    Turn& turn = turns[number];
    // it has replies before the mark, which stay
    const bool before = mark_.in_turn && number == mark_.turn;
    const std::size_t new_begin = before ? turn.reply_begin : begin + patched_.size();
    std::size_t copied = before ? begin : turn.reply_begin;
    for (; write != writes_.end() && write->turn == number; ++write) {
      patched_.append(out.view(copied, write->begin));
      ReplyWriter(patched_).error(status);
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

void PassRunner::refuse(net::Refusal why, Buffer& out) {
  ReplyWriter(out).error(
      status_of(why == net::Refusal::no_room ? Mistake::max_waiting_bytes : Mistake::tls));
  counters_.add(Counter::errors);
}

// A request of the turn has been answered.
void PassRunner::note_answered(Turn& turn, Counter counter) {
  tally(counter);
  count_request(turn.answered, counter);
  if (turn.blocked_since == 0 || counter == Counter::requests_auth) [[likely]]
    return;
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(time_blocked(turn));
  tally(Counter::lock_wait_ms, static_cast<std::uint32_t>(waited.count()));
}

void PassRunner::count() {
  if (requests_ != 0) tally(Counter::passes);
  for (std::size_t i = 0; i < counter_count; ++i) {
    if (tally_[i] != 0) counters_.add(static_cast<Counter>(i), tally_[i]);
  }
}

}  // namespace hs::session
