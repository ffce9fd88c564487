// A session's turns: framing, admission, and which errors wait before they are answered.
#include <algorithm>
#include <cassert>
#include <cstring>
#include <optional>
#include <utility>

#include "handlersocket/protocol/errors.h"
#include "handlersocket/protocol/reply.h"
#include "handlersocket/protocol/row_codec.h"
#include "handlersocket/session/handlersocket.h"
#include "handlersocket/session/line.h"
#include "net/peer.h"
#include "passes/requests.h"
#include "passes/waiting.h"

namespace hs::session {
namespace {

using net::Next;
using net::Turn;
using protocol::Kind;
using protocol::Mistake;
using protocol::ReplyWriter;
using protocol::status_of;
using store::Outcome;

std::string_view described(const protocol::Request& request) {
  if (request.kind == Kind::insert) return "insert";
  if (request.kind == Kind::find) return "find";
  return request.change.erases() ? "delete" : "update";
}

}  // namespace

void Session::execute(passes::Requests& requests) {
  Turn& turn = requests.turn();
  auto& front = static_cast<HandlerSocket&>(requests.protocol());
  if (requests.gives_up_first()) [[unlikely]]
    give_up_first(requests, front.workspace());
  while (true) {
    const std::optional<Line> line =
        line_at(turn.input, turn.consumed, std::max(turn.consumed, turn.scanned));
    const bool too_long =
        line ? line->text.size() > std::min(front.config().max_request_size.get(), most_waiting)
             : turn.oversized && turn.consumed == 0;
    if (too_long) [[unlikely]] {
      ReplyWriter(requests.out()).error(status_of(Mistake::request_size));
      requests.refused(Counter::requests_malformed, turn.input.size());
      turn.next = Next::close;
      return;
    }
    if (!line || !requests.may_begin() || !execute_line(*line, requests, front)) return;
  }
}

// Whether the turn goes on.
bool Session::execute_line(const Line& line, passes::Requests& requests, HandlerSocket& front) {
  Buffer& out = requests.out();
  const std::size_t begin = out.size();
  Workspace& workspace = front.workspace();
  if (line.text.starts_with("A\t") && !may_try(line.text, requests, front)) [[unlikely]]
    return false;
  const Answer answer = execute(line.text, requests.runs(), workspace, requests.changes(), out);
  if (answer.logs_in) [[unlikely]] {
    requests.turn().next = Next::log_in;
    note_password(requests.turn(), line.text);
    return false;
  }
  if (answer.counter == Counter::requests_auth && answer.verdict == store::Verdict::answered)
      [[unlikely]] {
    if (answer.ok) {
      end_try(requests.turn(), front, true);
    } else if (holds_back(requests, front)) {
      out.truncate(begin);
      return false;
    } else {
      forget_refusal(requests.changes());
    }
  }
  if (answer.has_no_place) [[unlikely]]
    requests.tally(Counter::open_indexes_refused);
  return requests.end(answer, line.end_offset);
}

void Session::give_up_first(passes::Requests& requests, Workspace& workspace) {
  const std::optional<Line> line = line_at(requests.turn().input, 0, 0);
  assert(line);
  NamedIndex* index = nullptr;
  const Status admitted = admit(line->text, workspace, index);
  assert(admitted.ok());
  ReplyWriter(requests.out()).error(admitted.ok() ? passes::row_wait_timed_out : admitted);
  requests.refused(counter_of(workspace.request), line->end_offset);
}

// Whether the secret or the password of the line may be tried now. If its address has sent too many
// wrong ones, the request is executed again later. A log-in is counted when a log-in thread begins
// it, as its connection may be gone before.
bool Session::may_try(std::string_view line, passes::Requests& requests, HandlerSocket& front) {
  FailedTries* const tries = front.config().tries;
  Turn& turn = requests.turn();
  if (tries == nullptr || turn.peer == nullptr || has_tried()) return true;
  const bool of_account = line.starts_with("A\t2");
  if (of_account ? config_.authenticator == nullptr : config_.secret.empty()) return true;
  const net::PeerAddress::Network address = turn.peer->network();
  const std::uint64_t now = passes::monotonic_now();
  if (of_account ? tries->has_room(address, now) : tries->take(address, now)) {
    note_secret_tried(!of_account);
    return true;
  }
  if (turn.blocked_since == 0 || turn.consumed != 0) requests.tally(Counter::log_ins_slowed);
  turn.next = Next::retry;
  return false;
}

// A secret or a password is about to be answered.
void Session::end_try(const Turn& turn, HandlerSocket& front, bool was_right) {
  const RunnerConfig& config = front.config();
  if (config.tries == nullptr || turn.peer == nullptr) return;
  const net::PeerAddress::Network address = turn.peer->network();
  const bool was_secret = has_tried_secret();
  note_secret_tried(false);
  if (was_right) {
    if (was_secret) config.tries->give_back(address);
    return;
  }
  const std::uint64_t count = config.tries->to_be_logged(address, passes::monotonic_now());
  if (count != 0 && config.note_wrong_tries != nullptr) config.note_wrong_tries(*turn.peer, count);
}

// Whether the answer is that a secret or a password was wrong, and it is too soon to say so. The
// request is then executed again later. A client that has logged in knows the secret, but not the
// passwords of others. One that has gone must not keep its place among the connections.
bool Session::holds_back(passes::Requests& requests, HandlerSocket& front) {
  Turn& turn = requests.turn();
  const Workspace& workspace = front.workspace();
  const bool of_account = workspace.parsed.ok() && is_log_in(workspace.request);
  if (of_account ? config_.authenticator == nullptr : config_.secret.empty()) return false;
  const bool knows_it = is_logged_in_ && !of_account;
  if (!knows_it && !turn.peer_done &&
      passes::time_blocked(turn) < front.config().wrong_secret_delay) {
    turn.next = Next::retry;
    return true;
  }
  requests.tally(Counter::log_ins_failed);
  end_try(turn, front, false);
  return false;
}

passes::FirstRequest Session::first_request(Turn& turn, passes::Protocol& protocol) {
  using enum passes::FirstRequest::Kind;
  auto& front = static_cast<HandlerSocket&>(protocol);
  Workspace& workspace = front.workspace();
  const protocol::Request& request = workspace.request;
  const std::optional<Line> line = line_at(turn.input, 0, 0);
  if (!line) return {.kind = incomplete};
  NamedIndex* index = nullptr;
  const Status admitted = admit(line->text, workspace, index);
  if (turn.endpoint != nullptr && admitted.ok() && is_log_in(request)) {
    run_log_in(turn, line->text, front);
    return {.kind = done};
  }
  if (turn.on_remote_thread && admitted.ok() && request.kind == Kind::open_index) {
    return {
        .kind = open, .names = request.names, .caller = &caller_, .codec = &protocol::row_codec};
  }
  if (!admitted.ok() || index == nullptr) return {.kind = quick};
  return {.kind = is_write(request) ? write : find,
          .end_offset = line->end_offset,
          .counter = counter_of(request),
          .described = described(request),
          .index_key = index->names,
          .names = split_names(index->names),
          .caller = &caller_,
          .codec = &protocol::row_codec};
}

Outcome Session::execute_first(passes::Alone& alone) {
  protocol::Request& request = static_cast<HandlerSocket&>(alone.protocol).workspace().request;
  if (is_write(request))
    return execute_write(alone.store, alone.use, request, alone.out, alone.values_ignored);
  ReplyWriter reply(alone.out);
  if (alone.reply_begins) reply.begin_rows(alone.use.index().column_count());
  const Outcome outcome = alone.store.find(alone.use, request.selection, alone.out, alone.sink);
  if (outcome.ok()) reply.end_rows();
  return outcome;
}

// On a log-in thread. The request is executed again by the worker, which answers it.
void Session::run_log_in(Turn& turn, std::string_view line, HandlerSocket& front) {
  const protocol::Auth& auth = front.workspace().request.auth;
  const net::Endpoint& client = *turn.endpoint;
  const bool can_be_read = client.tls == nullptr && !client.is_unix_socket && !client.is_loopback;
  store::LogIn log_in;
  FailedTries* const tries = turn.peer != nullptr ? front.config().tries : nullptr;
  if (tries != nullptr && !tries->take(turn.peer->network(), passes::monotonic_now())) {
    if (turn.blocked_since == 0) front.counters().add(Counter::log_ins_slowed);
    turn.next = Next::retry;
    return;
  }
  note_password(turn, line);  // only now, as what waits is asked again
  if (can_be_read && !auth.secret.empty()) {
    log_in.status = status_of(Mistake::tls);
  } else {
    log_in = config_.authenticator->log_in({.user = auth.user,
                                            .password = auth.secret,
                                            .socket = client.socket,
                                            .is_unix_socket = client.is_unix_socket,
                                            .tls = client.tls});
  }
  // It may have been unescaped into the parser's memory.
  if (!auth.secret.empty())
    ::explicit_bzero(const_cast<char*>(auth.secret.data()), auth.secret.size());
  if (tries != nullptr && !log_in.may_be_guess) tries->give_back(turn.peer->network());
  turn.next = log_in.status.ok() ? Next::again : Next::retry;
  end_log_in(std::move(log_in));
}

}  // namespace hs::session
