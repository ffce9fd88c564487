// A session's turns: framing, admission, and which errors wait before they are answered.
#include <algorithm>
#include <cassert>
#include <cstring>
#include <optional>
#include <utility>

#include "handlersocket/protocol/errors.h"
#include "handlersocket/protocol/group.h"
#include "handlersocket/protocol/lookup.h"
#include "handlersocket/protocol/reply.h"
#include "handlersocket/protocol/within.h"
#include "handlersocket/session/framing.h"
#include "handlersocket/session/handlersocket.h"
#include "handlersocket/session/line.h"
#include "handlersocket/session/session_groups.h"
#include "passes/requests.h"
#include "passes/waiting.h"

namespace hs::handlersocket {
namespace {

using net::Next;
using net::Turn;
using passes::LogIn;

std::string_view described(const Request& request) {
  if (request.kind == Kind::insert || request.kind == Kind::insert_rows) return "insert";
  if (request.kind == Kind::find) return "find";
  if (request.kind == Kind::count) return "count";
  if (request.kind == Kind::list) return "list";
  return request.change.erases() ? "delete" : "update";
}

// Without the call of memcmp into which starts_with() is compiled: each line is asked this.
bool begins_log_in(std::string_view line) {
  return line.size() >= 2 && line[0] == 'A' && line[1] == '\t';
}

}  // namespace

void Session::execute(passes::Requests& requests) {
  Turn& turn = requests.turn();
  auto& front = static_cast<HandlerSocket&>(requests.protocol());
  if (requests.gives_up_first()) [[unlikely]]
    give_up_first(requests, front.workspace());
  while (true) {
    const std::optional<Line> line = line_at(turn.input, turn.consumed, search_from(turn));
    const bool too_long =
        line ? line->text.size() > std::min(front.config().max_request_size.get(), most_waiting)
             : turn.oversized && turn.consumed == 0;
    if (too_long) [[unlikely]]
      return refuse_and_close(Mistake::request_size, requests);
    if (!line) return;
    if (may_begin_within(line->text)) [[unlikely]] {
      if (!execute_within(*line, requests, front)) return;
    } else if (begins_group(line->text)) [[unlikely]] {
      if (!execute_group(*line, false, requests, front)) return;
    } else if (!requests.may_begin() || !execute_line(*line, requests, front)) {
      return;
    }
  }
}

std::size_t Session::look_ahead(std::string_view input, const store::Store& store,
                                store::LookAhead& ahead) {
  if (caller() == nullptr || owner_ != &store) return 0;
  std::size_t taken = 0;
  while (!ahead.is_full()) {
    const auto lookup = plain_lookup(input.substr(taken), ahead.next_key());
    if (lookup.parts == 0) break;
    const NamedIndex* const named = indexes_.find(lookup.id);
    if (named == nullptr || !named->use || lookup.parts > named->key_parts) break;
    ahead.add(named->use.index(), lookup.parts);
    taken += lookup.end;
  }
  return taken;
}

// Nobody can tell where the next request begins.
void Session::refuse_and_close(Mistake mistake, passes::Requests& requests) const {
  append_error(status_of(mistake), requests.out());
  requests.refused(Counter::requests_malformed, requests.turn().input.size());
  requests.turn().next = Next::close;
}

// A request that may have a time of its own. Whether the turn goes on.
bool Session::execute_within(Line line, passes::Requests& requests, HandlerSocket& front) {
  const Within within = within_of(line.text);
  if (within.hides_group) {
    refuse_and_close(Mistake::cmd, requests);
    return false;
  }
  line.text = within.request;
  const bool is_out_of_time = requests.begin_within(within.ms);
  if (begins_group(line.text)) {
    if (!execute_group(line, is_out_of_time, requests, front)) return false;
  } else {
    if (!requests.may_begin()) return false;
    if (is_out_of_time) {
      refuse(line, passes::out_of_time, requests, front.workspace());
    } else if (!execute_line(line, requests, front)) {
      return false;
    }
  }
  requests.end_within();
  return true;
}

// Whether the turn goes on.
bool Session::execute_line(const Line& line, passes::Requests& requests, HandlerSocket& front) {
  Buffer& out = requests.out();
  const std::size_t begin = out.size();
  Workspace& workspace = front.workspace();
  if (begins_log_in(line.text)) [[unlikely]] {
    const bool of_account = line.text.starts_with("A\t2");
    if (!log_in_.may_try(of_account ? LogIn::Way::account : LogIn::Way::secret, requests))
      return false;
  }
  const Answer answer = execute(line.text, requests.runs(), workspace, requests.changes(), out);
  if (answer.logs_in) [[unlikely]] {
    requests.turn().next = Next::log_in;
    note_password(requests.turn(), line.text);
    return false;
  }
  if (answer.counter == Counter::requests_log_in && answer.verdict == store::Verdict::answered)
      [[unlikely]] {
    if (hold_back(workspace.request.auth, answer.ok, requests)) {
      out.truncate(begin);
      return false;
    }
  }
  if (answer.has_no_place) [[unlikely]]
    requests.tally(Counter::open_indexes_refused);
  return requests.end(answer, line.end_offset);
}

void Session::give_up_first(passes::Requests& requests, Workspace& workspace) {
  std::optional<Line> line = line_at(requests.turn().input, 0, 0);
  assert(line);
  const Within within = within_of(line->text);
  line->text = within.request;
  const bool is_out_of_time = requests.begin_within(within.ms);
  requests.end_within();
  const Status why = is_out_of_time ? passes::out_of_time : passes::row_wait_timed_out;
  if (const auto lines = group_lines(line->text)) {
    const std::optional<Group> group = group_at(requests.turn(), *line, *lines);
    assert(group);
    return refuse_group(*group, why, requests);
  }
  refuse(*line, why, requests, workspace);
}

// Answers a request that is not executed with `why`, or if it has a mistake with that.
void Session::refuse(const Line& line, Status why, passes::Requests& requests,
                     Workspace& workspace) {
  const Status admitted = admit(line.text, workspace);
  if (workspace.parser.is_modification()) begin_write(requests.changes());
  append_error(admitted.ok() ? why : admitted, requests.out());
  if (admitted.ok() && why == passes::out_of_time) requests.tally(Counter::requests_timed_out);
  const Counter counter =
      workspace.parsed.ok() ? counter_of(workspace.request) : Counter::requests_malformed;
  requests.refused(counter, line.end_offset);
}

void Session::refuse_group(const Group& group, Status why, passes::Requests& requests) {
  if (last_said_ != nullptr) last_said_->status = {};
  begin_write(requests.changes());
  append_errors(why, replies_to(group), requests.out());
  if (why == passes::out_of_time) requests.tally(Counter::requests_timed_out);
  requests.refused(Counter::requests_group, group.end_offset);
}

// A log-in is about to be answered: whether that is not to be done yet.
bool Session::hold_back(const Auth& auth, bool was_right, passes::Requests& requests) {
  if (was_right) {
    log_in_.end_right_try(requests.turn());
    return false;
  }
  if (log_in_.holds_back(way_of(auth), requests)) return true;
  if (log_in_.has_ended()) {
    begin_change(requests.changes());
    become({.caller = caller(), .is_logged_in = is_logged_in()});
  }
  return false;
}

passes::Plan Session::plan(Turn& turn, passes::Protocol& protocol) {
  using enum passes::Plan::Kind;
  auto& front = static_cast<HandlerSocket&>(protocol);
  Workspace& workspace = front.workspace();
  const Request& request = workspace.request;
  std::optional<Line> line = line_at(turn.input, 0, 0);
  if (!line) return {.kind = incomplete};
  const Within within = within_of(line->text);
  line->text = within.request;
  workspace.group = {};
  if (begins_group(line->text)) {
    passes::Plan plan = plan_group(*line, turn, workspace);
    plan.within_ms = within.ms;
    return plan;
  }
  const Status admitted = admit(line->text, workspace);
  if (turn.endpoint != nullptr && admitted.ok() && is_log_in(request)) {
    const Auth& auth = request.auth;
    // Only now, as what waits is asked again.
    if (log_in_.run(turn, auth.user, auth.secret, status_of(Mistake::tls), front.counters()))
      note_password(turn, line->text);
    return {.kind = done};
  }
  std::vector<passes::NeededIndex>& needed = workspace.needed;
  if (turn.on_remote_thread && admitted.ok() && request.kind == Kind::open_index) {
    workspace.opens = join_names(request.names);
    needed.assign(1, {.key = workspace.opens, .names = request.names});
    return {.kind = open, .caller = &caller(), .indexes = needed};
  }
  if (admitted.ok() && is_long_list(request)) {
    return {.kind = find,
            .end_offset = line->end_offset,
            .counter = counter_of(request),
            .described = described(request),
            .caller = &caller(),
            .about = request.names};
  }
  if (!admitted.ok() || workspace.index == nullptr || request.kind == Kind::describe)
    return {.kind = quick};
  const std::string& names = workspace.index->names;
  needed.assign(1, {.key = names, .names = split_names(names)});
  return {.kind = is_write(request) ? write : find,
          .end_offset = line->end_offset,
          .counter = counter_of(request),
          .described = described(request),
          .within_ms = within.ms,
          .caller = &caller(),
          .indexes = needed};
}

}  // namespace hs::handlersocket
