#include "session/pass_runner.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <optional>
#include <utility>

#include "protocol/reply.h"

namespace hs::session {
namespace {

using net::Next;
using net::Turn;
using protocol::ReplyWriter;
using store::Outcome;
using store::PassMode;
using store::Verdict;

constexpr Status lock_wait_timed_out = Status::server(1205);
constexpr Status deadlock = Status::server(149);
constexpr std::size_t max_opened_for_streams = 64;

struct Line {
  std::string_view text;   // without its LF, and without a CR before that
  std::size_t end_offset;  // behind the LF
};

// The line that begins at `begin`; its LF is not before `from`.
std::optional<Line> line_at(std::string_view input, std::size_t begin, std::size_t from) {
  assert(begin <= from && from <= input.size());
  if (from == input.size()) return std::nullopt;
  const void* const lf = std::memchr(input.data() + from, '\n', input.size() - from);
  if (lf == nullptr) return std::nullopt;
  const std::size_t end = static_cast<std::size_t>(static_cast<const char*>(lf) - input.data());
  std::string_view text = input.substr(begin, end - begin);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return Line{text, end + 1};
}

// Hands a long find's bytes on to the connection.
class StreamSink final : public store::Sink {
 public:
  explicit StreamSink(net::Stream& stream) : stream_(stream) {}
  bool flush(Buffer& out) override {
    sent_ = true;
    alive_ = alive_ && stream_.send(out);
    return alive_;
  }
  bool has_sent() const { return sent_; }
  bool alive() const { return alive_; }

 private:
  net::Stream& stream_;
  bool sent_ = false;
  bool alive_ = true;
};

}  // namespace

PassRunner::PassRunner(const RunnerConfig& config, std::unique_ptr<store::Store> store,
                       CounterBlock& counters)
    : config_(config), store_(std::move(store)), counters_(counters), workspace_(*store_) {}

std::unique_ptr<net::Dialogue> PassRunner::open_dialogue() {
  return std::make_unique<Session>(config_.session);
}

void PassRunner::execute(std::span<Turn> turns, std::size_t first, Buffer& out) {
  if (first == 0) {
    pass_begin_ = out.size();
    begin_pass(PassMode::together);
  }
  if (!execute_turns(turns, first, out)) replay(turns, out);
  pass_end_ = out.size();
}

// Writes that stand alone are committed already.
bool PassRunner::takes_more() {
  return !writes_.empty() && requests_ < config_.max_pass_requests &&
         pass_end_ - pass_begin_ < config_.max_pass_bytes;
}

void PassRunner::end_pass(std::span<Turn> turns, Buffer& out) {
  Outcome ended = store_->end_pass();
  if (ended.verdict() == Verdict::broken) {
    replay(turns, out);
    ended = store_->end_pass();
  }
  if (!ended.ok() && !writes_.empty()) answer_writes(ended.status(), turns, pass_begin_, out);
  workspace_.changes.clear();
  count();
}

void PassRunner::begin_pass(PassMode mode) {
  mode_ = mode;
  requests_ = 0;
  writes_.clear();
  tally_.fill(0);
  workspace_.changes.clear();
  store_->begin_pass(mode);
}

// False if the pass was broken.
bool PassRunner::execute_turns(std::span<Turn> turns, std::size_t first, Buffer& out) {
  for (std::size_t number = first; number < turns.size(); ++number) {
    if (!execute_turn(number, turns[number], out)) return false;
  }
  return true;
}

// Executes a broken pass again from its beginning, each write alone.
void PassRunner::replay(std::span<Turn> turns, Buffer& out) {
  store_->abandon_pass();
  // A request before a P or an A has to find the session as it was.
  std::ranges::for_each(workspace_.changes.rbegin(), workspace_.changes.rend(),
                        [](SessionChange& change) { change.session->undo(change); });
  out.truncate(pass_begin_);
  begin_pass(PassMode::writes_alone);
  execute_turns(turns, 0, out);
  tally(Counter::passes_replayed);
}

// False if the pass was broken.
bool PassRunner::execute_turn(std::size_t number, Turn& turn, Buffer& out) {
  turn.consumed = 0;
  turn.reply_begin = out.size();
  turn.next = Next::wait;
  Step step = Step::done;
  while (step == Step::done) {
    const std::optional<Line> line =
        line_at(turn.input, turn.consumed, std::max(turn.consumed, turn.scanned));
    const bool too_long =
        line ? line->text.size() > config_.max_request_size : turn.oversized && turn.consumed == 0;
    if (too_long) [[unlikely]] {
      ReplyWriter(out).error(Error::request_size);
      tally(Counter::requests_malformed);
      tally(Counter::errors);
      ++requests_;
      turn.consumed = turn.input.size();
      turn.next = Next::close;
      break;
    }
    if (!line) break;
    if (requests_ >= config_.max_pass_requests ||
        out.size() - pass_begin_ >= config_.max_pass_bytes) {
      turn.next = Next::again;
      break;
    }
    step = execute_line(number, turn, line->text, out);
    if (step == Step::done) turn.consumed = line->end_offset;
  }
  turn.reply_end = out.size();
  return step != Step::broken;
}

PassRunner::Step PassRunner::execute_line(std::size_t number, Turn& turn, std::string_view line,
                                          Buffer& out) {
  Session& session = static_cast<Session&>(*turn.dialogue);
  const std::size_t begin = out.size();
  Answer answer = session.execute(line, workspace_, out);
  switch (answer.verdict) {
    case Verdict::answered: break;
    case Verdict::oversized: turn.next = Next::stream; return Step::stop;
    case Verdict::blocked:
      if (turn.blocked_since == 0 || turn.consumed != 0) tally(Counter::requests_blocked);
      if (!has_waited_enough(turn)) {
        turn.next = Next::retry;
        return Step::stop;
      }
      ReplyWriter(out).error(lock_wait_timed_out);
      answer.ok = false;
      break;
    case Verdict::broken:
      if (mode_ == PassMode::together) return Step::broken;
      // Each write stands alone by now: the store should have said so itself.
      ReplyWriter(out).error(deadlock);
      answer.ok = false;
      break;
  }
  ++requests_;
  tally(answer.counter);
  if (!answer.ok) tally(Counter::errors);
  if (answer.ok && answer.write && mode_ == PassMode::together) {
    writes_.push_back({number, begin, out.size()});
  }
  return Step::done;
}

// Only the first request of a turn can be the one that was blocked before.
bool PassRunner::has_waited_enough(const Turn& turn) const {
  std::chrono::nanoseconds waited{0};
  if (turn.blocked_since != 0 && turn.consumed == 0) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    waited = now - std::chrono::nanoseconds{turn.blocked_since};
  }
  return waited >= config_.lock_wait_timeout;
}

// Nothing of the pass is in the tables: puts `status` where a reply says otherwise.
void PassRunner::answer_writes(Status status, std::span<Turn> turns, std::size_t begin,
                               Buffer& out) {
  patched_.clear();
  auto write = writes_.begin();
  for (std::size_t number = 0; number < turns.size(); ++number) {
    Turn& turn = turns[number];
    const std::size_t new_begin = begin + patched_.size();
    std::size_t copied = turn.reply_begin;
    for (; write != writes_.end() && write->turn == number; ++write) {
      patched_.append(out.view(copied, write->begin));
      ReplyWriter(patched_).error(status);
      tally(Counter::errors);
      copied = write->end;
    }
    patched_.append(out.view(copied, turn.reply_end));
    turn.reply_begin = new_begin;
    turn.reply_end = begin + patched_.size();
  }
  assert(write == writes_.end());
  out.truncate(begin);
  out.append(patched_.view());
  patched_.release();
}

void PassRunner::run_stream(Turn& turn, Buffer& out, net::Stream& stream) {
  assert(out.empty());
  turn.consumed = turn.reply_begin = turn.reply_end = 0;
  turn.next = Next::wait;
  const std::optional<Line> line = line_at(turn.input, 0, 0);
  if (!line) return;

  Session& session = static_cast<Session&>(*turn.dialogue);
  const protocol::Request& request = workspace_.request;
  OpenIndex* open = nullptr;
  const Status admitted = session.admit(line->text, workspace_, open);
  if (!admitted.ok() || request.kind != protocol::Kind::find ||
      request.find.modification != protocol::Modification::none) {
    turn.next = Next::again;  // no long find: for a worker's pass
    return;
  }

  tally_.fill(0);
  requests_ = 1;
  StreamSink sink(stream);
  store_->begin_pass(PassMode::together);
  std::shared_ptr<store::Index> index;
  Outcome outcome = open_for_stream(open->names, index);
  if (index != nullptr) outcome = store_->find(*index, request.find, out, &sink);
  const Outcome ended = store_->end_pass();
  store_->release();
  if (outcome.ok() && !ended.ok()) outcome = ended;

  if (!outcome.ok()) out.clear();
  if (outcome.verdict() == Verdict::blocked && !sink.has_sent()) {
    if (turn.blocked_since == 0) tally(Counter::requests_blocked);
    if (!has_waited_enough(turn)) {
      requests_ = 0;
      turn.next = Next::retry;
      count();
      return;
    }
    outcome = lock_wait_timed_out;
  }
  if (!outcome.answered()) outcome = deadlock;  // nothing else can stop a find that has a sink

  if (!outcome.status().ok()) {
    tally(Counter::errors);
    if (!sink.has_sent()) ReplyWriter(out).error(outcome.status());
  }
  // A reply that has begun cannot be turned into an error: its connection is closed.
  const bool whole = outcome.status().ok() || !sink.has_sent();
  const bool sent = whole && sink.alive() && stream.send(out);
  out.clear();
  tally(Counter::requests_find);
  count();
  turn.consumed = line->end_offset;
  if (!sent) {
    turn.next = Next::close;
  } else if (line_at(turn.input, turn.consumed, turn.consumed)) {
    turn.next = Next::again;
  }
}

// Leaves `index` null unless it is open. What is open stays so: `P` and find of
// a streamer have nothing else to share.
Outcome PassRunner::open_for_stream(const std::string& names,
                                    std::shared_ptr<store::Index>& index) {
  if (const auto found = opened_.find(names); found != opened_.end()) {
    index = found->second;
    return {};
  }
  const Outcome outcome = store_->open_index(split_names(names), index);
  if (index == nullptr) return outcome;
  if (opened_.size() >= max_opened_for_streams) opened_.clear();
  opened_.emplace(names, index);
  return outcome;
}

void PassRunner::count() {
  if (requests_ != 0) tally(Counter::passes);
  for (std::size_t i = 0; i < counter_count; ++i) {
    if (tally_[i] != 0) counters_.add(static_cast<Counter>(i), tally_[i]);
  }
}

}  // namespace hs::session
