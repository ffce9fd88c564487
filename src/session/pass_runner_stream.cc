// What a streamer executes: long finds, and writes that take long or wait for a row.
#include <cassert>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "net/peer.h"
#include "protocol/errors.h"
#include "protocol/reply.h"
#include "protocol/row_codec.h"
#include "session/pass_runner.h"
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

constexpr std::size_t max_opened_for_streams = 64;

using Clock = std::chrono::steady_clock;

// When a request has to end that has been worked on for some time already.
Clock::time_point end_of_request(std::chrono::nanoseconds most, std::chrono::nanoseconds worked) {
  return most.count() == 0 ? store::Budget::never : Clock::now() + (most - worked);
}

// Passes a long find's bytes on to the connection, and ends the find when its time is over.
class StreamSink final : public store::Sink {
 public:
  StreamSink(net::Stream& stream, std::unique_ptr<store::Position> from,
             std::chrono::nanoseconds most_time)
      : stream_(stream),
        sent_(from != nullptr && from->reply_begun),
        worked_(from != nullptr ? from->worked : std::chrono::nanoseconds{0}),
        rows_(from != nullptr ? from->rows_examined : 0),
        began_(Clock::now()),
        ends_(end_of_request(most_time, worked_)) {
    position = std::move(from);
  }
  Flushed flush(Buffer& out, bool can_park) override {
    if (!alive_ || is_over_time()) return Flushed::ended;
    sent_ = true;
    switch (stream_.send(out, can_park)) {
      case net::Stream::Sent::all: return Flushed::sent;
      case net::Stream::Sent::stalled: return Flushed::stalled;
      case net::Stream::Sent::ended: break;
    }
    alive_ = false;
    return Flushed::ended;
  }
  bool must_give_way() override { return stream_.must_give_way(); }
  bool must_end() override {
    if (stream_.must_end()) alive_ = false;
    return !alive_ || is_over_time();
  }
  bool has_sent() const { return sent_; }
  bool alive() const { return alive_; }
  bool was_late() const { return was_late_; }
  // The find's, in all its pieces.
  std::chrono::nanoseconds worked() const { return worked_ + (Clock::now() - began_); }
  std::uint64_t rows_before() const { return rows_; }

 private:
  bool is_over_time() {
    was_late_ = was_late_ || (ends_ != store::Budget::never && Clock::now() >= ends_);
    return was_late_;
  }

  net::Stream& stream_;
  bool sent_;
  bool alive_ = true;
  bool was_late_ = false;
  const std::chrono::nanoseconds worked_;  // before
  const std::uint64_t rows_;               // looked at before
  const Clock::time_point began_;
  const Clock::time_point ends_;
};

std::string_view kind_of(const protocol::Request& request) {
  if (request.kind == protocol::Kind::insert) return "insert";
  if (request.kind == protocol::Kind::find) return "find";
  return request.change.erases() ? "delete" : "update";
}

// Frees the memory of a large request when it has been executed.
struct GivesBack {
  protocol::Parser& parser;
  ~GivesBack() { parser.give_back(); }
};

}  // namespace

// A pass of one request: opens the index for the session's caller and calls execute(use). If
// something throws, nothing is left open.
template <class Execute>
Outcome PassRunner::run_alone(PassMode mode, const Session& session, const std::string& names,
                              Execute execute) {
  try {
    budget_.begin(config_.max_pass_steps);
    // A find ends by its sink.
    if (mode == PassMode::aside)
      budget_.end_time_at(end_of_request(config_.max_request_time.get(), {}));
    store_->begin_pass(mode, budget_);
    store::IndexUse use;
    Outcome outcome = open_for_stream(session, names, use);
    if (use) outcome = execute(use);
    const Outcome ended = store_->end_pass();
    store_->release();
    return outcome.ok() && !ended.ok() ? ended : outcome;
  } catch (...) {
    store_->abandon_pass();
    throw;
  }
}

void PassRunner::run_stream(Turn& turn, Buffer& out, net::Stream& stream) {
  assert(out.empty());
  const GivesBack at_the_end{workspace_.parser};
  turn.consumed = turn.reply_begin = turn.reply_end = 0;
  turn.next = Next::wait;
  const std::optional<Line> line = line_at(turn.input, 0, 0);
  if (!line) return;

  Session& session = static_cast<Session&>(*turn.dialogue);
  const protocol::Request& request = workspace_.request;
  NamedIndex* open = nullptr;
  const Status admitted = session.admit(line->text, workspace_, open);
  if (turn.endpoint != nullptr && admitted.ok() && is_log_in(request)) {
    note_password(turn, line->text);
    return run_log_in(turn, session);
  }
  if (!admitted.ok() || open == nullptr) {
    turn.next = Next::again;  // it does not take long, so a worker executes it
    return;
  }

  tally_.fill(0);
  requests_ = 1;
  if (is_write(request)) {
    run_write(turn, session, open->names, out);
    if (requests_ != 0) end_request(turn, line->end_offset, true);
    return count();
  }
  StreamSink sink(stream, std::move(session.position()), config_.max_request_time.get());
  Outcome outcome = run_alone(PassMode::together, session, open->names, [&](store::IndexUse& use) {
    ReplyWriter reply(out);
    if (!sink.has_sent()) reply.begin_rows(open->column_count);
    const Outcome found = store_->find(use, request.selection, out, &sink);
    if (found.ok()) reply.end_rows();
    return found;
  });

  if (outcome.verdict() == Verdict::parked) {
    assert(sink.position != nullptr);
    if (!sink.position->reply_begun) out.clear();
    sink.position->worked = sink.worked();
    sink.position->rows_examined = sink.rows_before() + budget_.rows();
    session.position() = std::move(sink.position);
    requests_ = 0;  // it is counted when it ends
    tally(Counter::finds_parked);
    turn.next = Next::stream;
    count();
    return;
  }
  if (sink.was_late()) {
    outcome = Error::max_request_time;
    tally(Counter::requests_timed_out);
  }
  if (!outcome.ok()) out.clear();
  const bool is_untouched = !sink.has_sent() || sink.position != nullptr;
  if (outcome.verdict() == Verdict::blocked && is_untouched) {
    if (turn.blocked_since == 0) tally(Counter::requests_blocked);
    if (time_blocked(turn) < config_.lock_wait_timeout.get()) {
      requests_ = 0;
      session.position() = std::move(sink.position);
      turn.next = Next::retry;
      count();
      return;
    }
    outcome = lock_wait_timed_out;
  }
  if (!outcome.answered()) outcome = deadlock;  // nothing else can end a find with a sink

  if (!outcome.status().ok()) {
    tally(Counter::errors);
    if (!sink.has_sent()) ReplyWriter(out).error(outcome.status());
  }
  // A reply that has begun cannot become an error, so its connection is closed.
  const bool whole = outcome.status().ok() || !sink.has_sent();
  const bool goes_on = whole && sink.alive();
  if (!goes_on) out.clear();
  note_answered(turn, Counter::requests_find);
  tally(Counter::long_finds);
  note_time(turn, session, open->names, sink.worked(), sink.rows_before() + budget_.rows());
  end_request(turn, line->end_offset, goes_on);
  count();
}

// Whether the secret or the password of the line may be tried now. If its address has sent too many
// wrong ones, the request is executed again later. A log-in is counted when a log-in thread begins
// it, as its connection may be gone before.
bool PassRunner::may_try(Turn& turn, Session& session, std::string_view line) {
  if (config_.tries == nullptr || turn.peer == nullptr || session.has_tried()) return true;
  const bool of_account = line.starts_with("A\t2");
  if (of_account ? config_.session.authenticator == nullptr : config_.session.secret.empty())
    return true;
  const net::PeerAddress::Network address = turn.peer->network();
  if (of_account ? config_.tries->has_room(address, monotonic_now())
                 : config_.tries->take(address, monotonic_now())) {
    session.note_secret_tried(!of_account);
    return true;
  }
  if (turn.blocked_since == 0 || turn.consumed != 0) tally(Counter::log_ins_slowed);
  turn.next = Next::retry;
  return false;
}

// A secret or a password is about to be answered.
void PassRunner::end_try(const Turn& turn, Session& session, bool was_right) {
  if (config_.tries == nullptr || turn.peer == nullptr) return;
  const net::PeerAddress::Network address = turn.peer->network();
  const bool was_secret = session.has_tried_secret();
  session.note_secret_tried(false);
  if (was_right) {
    if (was_secret) config_.tries->give_back(address);
    return;
  }
  const std::uint64_t count = config_.tries->to_be_logged(address, monotonic_now());
  if (count != 0 && config_.note_wrong_tries != nullptr)
    config_.note_wrong_tries(*turn.peer, count);
}

// The request is executed again by the worker, which answers it.
void PassRunner::run_log_in(Turn& turn, Session& session) {
  const protocol::Auth& auth = workspace_.request.auth;
  const net::Endpoint& client = *turn.endpoint;
  const bool can_be_read = client.tls == nullptr && !client.is_unix_socket && !client.is_loopback;
  store::LogIn log_in;
  const bool is_limited = config_.tries != nullptr && turn.peer != nullptr;
  if (is_limited && !config_.tries->take(turn.peer->network(), monotonic_now())) {
    if (turn.blocked_since == 0) counters_.add(Counter::log_ins_slowed);
    turn.next = Next::retry;
    return;
  }
  if (can_be_read && !auth.secret.empty()) {
    log_in.status = status_of(Mistake::tls);
  } else {
    log_in = config_.session.authenticator->log_in({.user = auth.user,
                                                    .password = auth.secret,
                                                    .socket = client.socket,
                                                    .is_unix_socket = client.is_unix_socket,
                                                    .tls = client.tls});
  }
  // It may have been unescaped into the parser's memory.
  if (!auth.secret.empty())
    ::explicit_bzero(const_cast<char*>(auth.secret.data()), auth.secret.size());
  if (is_limited && !log_in.may_be_guess) config_.tries->give_back(turn.peer->network());
  turn.next = log_in.status.ok() ? Next::again : Next::retry;
  session.end_log_in(std::move(log_in));
}

// Tells of the streamer's request if it took long.
void PassRunner::note_time(const Turn& turn, const Session& session, const std::string& names,
                           std::chrono::nanoseconds worked, std::uint64_t rows) const {
  const std::chrono::nanoseconds is_long = config_.long_request_time.get();
  if (is_long.count() == 0 || worked < is_long) return;
  config_.note_long_request({.connection = turn.connection,
                             .peer = turn.peer,
                             .account = session.user(),
                             .kind = kind_of(workspace_.request),
                             .names = split_names(names),
                             .rows_examined = rows,
                             .time = worked});
}

// The streamer's request has been answered: sets what the turn does next.
void PassRunner::end_request(Turn& turn, std::size_t consumed, bool goes_on) {
  turn.consumed = consumed;
  if (!goes_on) {
    turn.next = Next::close;
  } else if (line_at(turn.input, consumed, consumed)) {
    turn.next = Next::again;
  }
}

// A write that takes long, or waits for a row that another session has locked. If nothing was done,
// it has to be executed again, and requests_ is set to 0.
void PassRunner::run_write(Turn& turn, const Session& session, const std::string& names,
                           Buffer& out) {
  std::uint32_t values_ignored = 0;
  const Clock::time_point began = Clock::now();
  const Outcome outcome = run_alone(PassMode::aside, session, names, [&](store::IndexUse& use) {
    return execute_write(*store_, use, workspace_.request, out, values_ignored);
  });
  Status status = outcome.status();
  // A deadlock: two sessions waited for each other, and this one was chosen to give way.
  const bool gave_way = outcome.verdict() == Verdict::broken || status == deadlock;
  if (!outcome.answered() || (gave_way && !outcome.is_for_good())) {
    if (turn.blocked_since == 0) tally(Counter::requests_blocked);
    if (time_blocked(turn) < config_.lock_wait_timeout.get()) {
      turn.next = outcome.verdict() == Verdict::oversized ? Next::in_line : Next::retry;
      requests_ = 0;
      return;
    }
    if (gave_way) status = deadlock;
    if (status.ok()) status = lock_wait_timed_out;
  }
  if (!status.ok()) {
    out.clear();
    tally(Counter::errors);
    ReplyWriter(out).error(status);
  }
  if (status == Error::max_request_time) tally(Counter::requests_timed_out);
  note_answered(turn, counter_of(workspace_.request));
  tally(Counter::values_ignored, values_ignored);
  tally(Counter::writes_aside);
  note_time(turn, session, names, Clock::now() - began, budget_.rows());
}

// Sets `use`, or leaves it null if the index cannot be opened. An index stays open for later
// requests, because a streamer gets no `P` requests of its own. Another connection may have opened
// it: what this session's caller may do is asked when the index is used.
Outcome PassRunner::open_for_stream(const Session& session, const std::string& names,
                                    store::IndexUse& use) {
  if (const auto found = opened_.find(names); found != opened_.end()) {
    use = {found->second, session.caller(), protocol::row_codec};
    return {};
  }
  const Outcome outcome =
      store_->open_index(split_names(names), session.caller(), protocol::row_codec, use);
  if (!use) return outcome;
  if (opened_.size() >= max_opened_for_streams) opened_.clear();
  opened_.emplace(names, use.shared());
  return outcome;
}

}  // namespace hs::session
