// A session's groups: several lines that are executed as one unit of the store.
#include "handlersocket/session/session_groups.h"

#include <cassert>
#include <optional>

#include "handlersocket/protocol/errors.h"
#include "handlersocket/protocol/group.h"
#include "handlersocket/protocol/reply.h"
#include "handlersocket/session/execution.h"
#include "handlersocket/session/handlersocket.h"
#include "passes/requests.h"
#include "passes/waiting.h"

namespace hs::handlersocket {
namespace {

using store::Outcome;
using store::Verdict;

// The replies to a group in a worker, which keeps no large ones, and elsewhere.
constexpr std::size_t most_bytes_in_worker = std::size_t{1} << 18;
constexpr std::size_t most_bytes_aside = std::size_t{64} << 20;

// Whether a unit that has ended so was undone because of that line.
bool is_because_of(const GroupFailure& failure, Outcome outcome) {
  return failure.line != 0 && outcome.answered() && outcome.status() == failure.status;
}

}  // namespace

Status Session::admit_in_group(std::string_view line, Workspace& workspace, Meets& meets) {
  return admit_parsed(workspace.parser.parse_in_group(line, workspace.request, meets), workspace);
}

// What a group answers whose line has failed: the first reply names it, it has its own error, and the
// others say that they are undone.
void Session::append_failure(const Group& group, const GroupFailure& failure, Buffer& out) const {
  ReplyWriter reply(out);
  hello_.wants_texts ? reply.undone_with_text(failure.line) : reply.undone(failure.line);
  for (std::uint64_t line = 1; line <= group.lines; ++line)
    append_error(line == failure.line ? failure.status : status_of(Mistake::undone), out);
}

// Executes the lines of a group as a unit, and appends their replies if all of them succeed.
// `execute` executes the admitted line that has this number, counted from 0.
template <class Execute>
Outcome Session::execute_unit(const Group& group, passes::Place& place, Workspace& workspace,
                              GroupFailure& failure, Execute execute) {
  failure = {};
  const Outcome ended = store::run_unit(place.store, place.out, [&]() -> Outcome {
    ReplyWriter(place.out).ok();
    std::string_view body = group.body;
    for (std::uint64_t line = 0; line < group.lines; ++line) {
      Meets meets{};
      Outcome outcome = admit_in_group(take_line(body), workspace, meets);
      if (outcome.ok()) outcome = execute(line);
      if (outcome.ok() && !is_met(meets, workspace.changed.rows))
        outcome = status_of(Mistake::unmet);
      if (outcome.ok()) continue;
      failure = {.line = line + 1, .status = outcome.status()};
      return outcome;
    }
    return {};
  });
  if (!ended.ok()) forget_warnings();
  return ended;
}

// In a worker. Whether the turn goes on.
bool Session::execute_group(const Line& first, bool is_out_of_time, passes::Requests& requests,
                            HandlerSocket& front) {
  net::Turn& turn = requests.turn();
  const std::optional<std::uint64_t> lines = group_lines(first.text);
  if (!lines) {
    refuse_and_close(Mistake::cmd, requests);
    return false;
  }
  const std::optional<Group> group = group_at(turn, first, *lines);
  const std::size_t most = std::min(front.config().max_request_size.get(), most_waiting);
  const bool too_long =
      group ? group->end_offset - turn.consumed > most : turn.oversized && turn.consumed == 0;
  if (too_long) {
    refuse_and_close(Mistake::request_size, requests);
    return false;
  }
  if (!group || !requests.may_begin()) return false;
  passes::Answer answer;
  answer.counter = Counter::requests_group;
  answer.replies = replies_to(*group);
  const Mistake mistake = caller() == nullptr ? Mistake::unauth : Mistake::readonly;
  const bool may_not = caller() == nullptr || !config_.writable;
  if (may_not || is_out_of_time) {
    refuse_group(*group, may_not ? status_of(mistake) : passes::out_of_time, requests);
    return true;
  }
  answer.write = true;
  if (!answer.may_run(requests.runs())) return requests.end(answer, group->end_offset);

  Workspace& workspace = front.workspace();
  use_store(workspace.store);
  begin_write(requests.changes());
  const std::size_t begin = requests.out().size();
  passes::Place place{.store = workspace.store, .uses = {}, .out = requests.out()};
  GroupFailure failure;
  Outcome outcome;
  {
    const Listening listening(*this, workspace.store, outcome, true);
    outcome =
        execute_unit(*group, place, workspace, failure, [&](std::uint64_t /*line*/) -> Outcome {
          NamedIndex& index = *workspace.index;
          if (!index.use) {
            if (const Outcome opened = open_again(workspace, index); !opened.ok()) return opened;
          }
          place.uses = {&index.use, 1};
          place.values_ignored = 0;
          const Outcome executed = execute_admitted(place, workspace);
          answer.values_ignored += place.values_ignored;
          const bool is_long =
              requests.is_long() || place.out.size() - begin > most_bytes_in_worker;
          return executed.ok() && is_long ? Outcome(Verdict::oversized) : executed;
        });
  }
  if (answer.note_outcome(outcome)) {
    if (is_because_of(failure, outcome)) {
      append_failure(*group, failure, requests.out());
    } else {
      append_errors(outcome.status(), answer.replies, requests.out());
    }
  }
  return requests.end(answer, group->end_offset);
}

// On another thread. It has its indexes from the plan.
Outcome Session::execute_planned_group(passes::Place& place, Workspace& workspace) {
  const Group group = workspace.group;
  const std::span<store::IndexUse> uses = place.uses;
  std::uint32_t values_ignored = 0;
  GroupFailure failure;
  const Outcome outcome =
      execute_unit(group, place, workspace, failure, [&](std::uint64_t line) -> Outcome {
        // A group may take as long as many requests. Nothing of it is done yet.
        if (place.client != nullptr && place.client->must_end()) return Status(Error::killed);
        if (passes::is_over(place.deadline)) return passes::out_of_time;
        // As in a worker, the lines before it come first.
        if (line >= uses.size()) {
          assert(!place.not_opened.ok());
          return place.not_opened;
        }
        place.uses = uses.subspan(line, 1);
        place.values_ignored = 0;
        const Outcome executed = execute_admitted(place, workspace);
        values_ignored += place.values_ignored;
        const bool is_large = place.out.size() > most_bytes_aside;
        return executed.ok() && is_large ? Outcome(Error::too_large) : executed;
      });
  place.values_ignored = values_ignored;
  // Whoever waits may try these again, or has words of its own for them.
  const Error kind = outcome.status().kind();
  const bool is_callers = kind == Error::deadlock || kind == Error::max_request_time;
  if (outcome.ok() || is_callers || !is_because_of(failure, outcome)) return outcome;
  if (last_said_ != nullptr) last_said_->status = failure.status;
  append_failure(group, failure, place.out);
  place.failed = true;
  return {};
}

// Its indexes are those of its lines, up to the first line that nobody can execute.
passes::Plan Session::plan_group(const Line& first, net::Turn& turn, Workspace& workspace) {
  const std::optional<std::uint64_t> lines = group_lines(first.text);
  if (!lines) return {.kind = passes::Plan::Kind::quick};
  const std::optional<Group> group = group_at(turn, first, *lines);
  if (!group) return {.kind = passes::Plan::Kind::incomplete};
  workspace.needed.clear();
  std::string_view body = group->body;
  for (std::uint64_t line = 0; line < group->lines && config_.writable; ++line) {
    Meets meets{};
    if (!admit_in_group(take_line(body), workspace, meets).ok()) break;
    const std::string& names = workspace.index->names;
    workspace.needed.push_back({.key = names, .names = split_names(names)});
  }
  if (workspace.needed.empty()) return {.kind = passes::Plan::Kind::quick};
  workspace.group = *group;
  return {.kind = passes::Plan::Kind::write,
          .end_offset = group->end_offset,
          .counter = Counter::requests_group,
          .described = "group",
          .replies = replies_to(*group),
          .caller = &caller(),
          .indexes = workspace.needed};
}

}  // namespace hs::handlersocket
