#include "handlersocket/session/session.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "handlersocket/protocol/errors.h"
#include "handlersocket/protocol/reply.h"
#include "handlersocket/session/description.h"
#include "handlersocket/session/execution.h"
#include "handlersocket/session/framing.h"
#include "handlersocket/session/handlersocket.h"

namespace hs::handlersocket {
namespace {

using passes::Runs;
using store::Outcome;

constexpr std::string_view plugin_version = "2.0.0";
constexpr std::string_view protocol_version = "2";
// What the original does not know.
constexpr std::string_view request_words =
    "up down ^ C E set insert else G some none lock within H D * L W echo";

// Whether the open index has the columns that a request names by their numbers.
bool has_columns(const NamedIndex& index, const Request& request) {
  const auto has_all = [&](std::span<const store::Assignment> assignments) {
    return std::ranges::all_of(assignments, [&](const store::Assignment& assignment) {
      return assignment.column < index.column_count;
    });
  };
  if (request.kind == Kind::modify) return has_all(request.change.assignments);
  return request.kind != Kind::insert_rows || (request.insert_rows.columns <= index.column_count &&
                                               has_all(request.insert_rows.assignments));
}

}  // namespace

bool is_write(const Request& request) {
  return request.kind == Kind::modify || request.kind == Kind::insert ||
         request.kind == Kind::insert_rows;
}

bool is_long_list(const Request& request) {
  return request.kind == Kind::list && request.listed != Listed::indexes;
}

bool is_log_in(const Request& request) {
  return request.kind == Kind::auth && request.auth.way == AuthWay::account;
}

passes::LogIn::Way way_of(const Auth& auth) {
  return auth.way == AuthWay::account ? passes::LogIn::Way::account : passes::LogIn::Way::secret;
}

Counter counter_of(const Request& request) {
  switch (request.kind) {
    case Kind::open_index: return Counter::requests_open;
    case Kind::find: return Counter::requests_find;
    case Kind::count: return Counter::requests_count;
    case Kind::modify:
      return request.change.erases() ? Counter::requests_erase : Counter::requests_update;
    case Kind::insert:
    case Kind::insert_rows: return Counter::requests_insert;
    case Kind::auth: return Counter::requests_log_in;
    case Kind::hello:
    case Kind::describe:
    case Kind::list:
    case Kind::warnings:
    case Kind::echo: return Counter::requests_other;
  }
  return Counter::requests_malformed;
}

Status Session::admit(std::string_view line, Workspace& workspace) {
  workspace.parser.escape_names(hello_.escapes_names);
  return admit_parsed(workspace.parser.parse(line, workspace.request), workspace);
}

Status Session::admit_parsed(Status parsed, Workspace& workspace) {
  NamedIndex*& index = workspace.index;
  index = nullptr;
  if (last_said_ != nullptr) [[unlikely]]
    last_said_->status = {};
  workspace.parsed = parsed;
  if (parsed == status_of(Mistake::cmd) || parsed == status_of(Mistake::authtype)) return parsed;
  const bool is_auth = parsed.ok() && workspace.request.kind == Kind::auth;
  if (caller() == nullptr && !is_auth) return status_of(Mistake::unauth);
  if (parsed.ok() && workspace.request.kind == Kind::warnings && !hello_.wants_warnings)
    return status_of(Mistake::cmd);
  if (workspace.parser.has_index_id()) {
    index = indexes_.find(workspace.request.index_id);
    if (index == nullptr) return status_of(Mistake::stmtnum);
    if (!config_.writable && workspace.parser.is_modification())
      return status_of(Mistake::readonly);
    if (parsed == status_of(Mistake::klen) && !workspace.parser.is_modification() &&
        workspace.parser.key_count() > index->key_parts) {
      return Error::too_many_key_parts;
    }
  }
  if (parsed.ok() && index != nullptr && !has_columns(*index, workspace.request))
    return Error::no_column;
  return parsed;
}

Answer Session::execute(std::string_view line, Runs runs, Workspace& workspace,
                        passes::Changes& changes, Buffer& out) {
  use_store(workspace.store);
  Request& request = workspace.request;
  Answer answer;
  Outcome outcome = admit(line, workspace);
  NamedIndex* const index = workspace.index;
  const bool admitted = outcome.status().ok();
  if (workspace.parsed.ok()) answer.counter = counter_of(request);
  if (admitted) {
    answer.write = is_write(request);
    // Warnings are those of a write that may still be undone, so they wait for the commit, too.
    answer.read = request.kind == Kind::find || request.kind == Kind::count ||
                  request.kind == Kind::warnings || is_long_list(request);
    if (!answer.may_run(runs)) return answer;
  }
  if (workspace.parser.is_modification()) begin_write(changes);
  if (admitted && index != nullptr && !index->use) [[unlikely]]
    outcome = open_again(workspace, *index);
  if (admitted && outcome.ok()) {
    const Listening listening(*this, workspace.store, outcome, answer.write);
    switch (request.kind) {
      case Kind::find:
      case Kind::count:
      case Kind::modify:
      case Kind::insert:
      case Kind::insert_rows: {
        passes::Place place{.store = workspace.store, .uses = {&index->use, 1}, .out = out};
        outcome = execute_admitted(place, workspace);
        answer.values_ignored = place.values_ignored;
        break;
      }
      case Kind::open_index:
        outcome = open_index(workspace, changes, answer.has_no_place);
        if (outcome.ok()) ReplyWriter(out).ok();
        break;
      case Kind::auth:
        answer.logs_in = is_log_in(request) && log_in_.has_accounts() && !log_in_.has_ended();
        if (answer.logs_in) return answer;
        outcome = log_in(request.auth, changes);
        if (outcome.status().ok()) ReplyWriter(out).ok();
        break;
      case Kind::hello: greet(request.hello, changes, out); break;
      case Kind::describe: outcome = describe(*index, workspace.store, out); break;
      case Kind::list: outcome = list(request, workspace.store, nullptr, out); break;
      case Kind::warnings: outcome = tell_warnings(out); break;
      case Kind::echo: ReplyWriter(out).echo(request.echoed); break;
    }
  }
  if (answer.note_outcome(outcome)) append_error(outcome.status(), out);
  return answer;
}

Outcome Session::open_index(Workspace& workspace, passes::Changes& changes, bool& has_no_place) {
  const Request& request = workspace.request;
  store::IndexNames asked = request.names;
  std::string columns;
  if (asked.every_column) {
    const Outcome outcome = open_every_column(workspace, columns);
    if (!outcome.ok()) return outcome;
    asked.every_column = false;
    asked.columns = columns;
  }
  std::string names = join_names(asked);
  has_no_place = !indexes_.has_room(request.index_id, names.size(), config_.max_open_indexes.get());
  if (has_no_place) return status_of(Mistake::stmtnum);
  NamedIndex opened{.names = std::move(names)};
  const Outcome outcome = workspace.store.open_index(asked, caller(), opened.use);
  const bool is_remote = outcome.verdict() == store::Verdict::remote && remote_open() &&
                         remote_open()->key == opened.names;
  if (!outcome.ok() && !is_remote) {
    if (outcome.answered()) remote_open().reset();
    return outcome;
  }
  Before& before = begin_change(changes);
  if (is_remote) {
    const passes::RemoteOpen there = *std::exchange(remote_open(), std::nullopt);
    if (!there.status.ok()) return there.status;
    opened.key_parts = there.key_parts;
    opened.column_count = there.column_count;
  } else {
    opened.key_parts = opened.use.index().key_parts();
    opened.column_count = opened.use.index().column_count();
    remote_open().reset();
  }
  before.indexes.emplace_back(request.index_id, indexes_.set(request.index_id, std::move(opened)));
  return {};
}

// The columns are those of now, so that rows keep their width when the table gets another column.
Outcome Session::open_every_column(Workspace& workspace, std::string& columns) {
  store::IndexUse use;
  const Outcome outcome = workspace.store.open_index(workspace.request.names, caller(), use);
  // Its columns are known to a thread that may wait for the other server, and not to this one.
  if (outcome.verdict() == store::Verdict::remote) return Error::no_column;
  if (!outcome.ok()) return outcome;
  const bool sees_all = caller()->may_do_everything();
  store::TableDescription seen;
  if (!sees_all) {
    const Outcome told = workspace.store.describe_table(workspace.request.names, caller(), seen);
    if (!told.ok()) return told;
  }
  for (const store::ShapedColumn& column : use.index().shape()->columns) {
    if (column.is_invisible) continue;
    // A client that has not named it must not learn that there is such a column.
    if (!sees_all && std::ranges::find(seen.columns, column.name, &store::DescribedColumn::name) ==
                         seen.columns.end())
      return store::access_denied;
    if (column.name.find(store::IndexNames().separator) != std::string::npos)
      return Error::no_column;
    if (!columns.empty()) columns += store::IndexNames().separator;
    columns += column.name;
  }
  return {};
}

Outcome Session::execute_planned(passes::Place& place, passes::Protocol& protocol) {
  Workspace& workspace = static_cast<HandlerSocket&>(protocol).workspace();
  Outcome outcome;
  if (workspace.group.lines == 0 && is_long_list(workspace.request))
    return list(workspace.request, place.store, place.sink, place.out);
  const bool is_group = workspace.group.lines != 0;
  const Listening listening(*this, place.store, outcome, is_group || is_write(workspace.request));
  outcome = is_group ? execute_planned_group(place, workspace) : execute_admitted(place, workspace);
  return outcome;
}

void Session::end_planned(Status ended, passes::Protocol& protocol) {
  const Workspace& workspace = static_cast<HandlerSocket&>(protocol).workspace();
  const bool has_written = workspace.group.lines != 0 || is_write(workspace.request);
  if (has_written && !ended.ok()) forget_warnings();
}

Session::Before& Session::begin_change(passes::Changes& changes) {
  if (before_ == nullptr) {
    changes.note(*this);
    before_ = std::make_unique<Before>(
        Before{.log_in = log_in_.state(), .remote_open = remote_open(), .hello = hello_});
    if (hello_.wants_warnings) before_->warnings = last_said_->said.warnings;
  }
  return *before_;
}

// An index that was replaced may have been opened for another caller than the one from now on, so
// the indexes come first.
void Session::undo_changes() {
  if (before_ == nullptr) return;
  const std::unique_ptr<Before> before = std::move(before_);
  // The last one first, so that an id that was replaced twice has its first index again.
  for (auto it = before->indexes.rbegin(); it != before->indexes.rend(); ++it)
    indexes_.set(it->first, std::move(it->second));
  if (before->has_changed_caller) indexes_.forget_indexes();
  become(std::move(before->log_in));
  remote_open() = std::move(before->remote_open);
  take(before->hello);
  if (hello_.wants_warnings) last_said_->said.warnings = std::move(before->warnings);
}

Outcome Session::open_again(Workspace& workspace, NamedIndex& index) {
  return workspace.store.open_index(split_names(index.names), caller(), index.use);
}

Status Session::log_in(const Auth& auth, passes::Changes& changes) {
  passes::LogIn::State next;
  if (auth.way == AuthWay::account) {
    if (!log_in_.has_accounts()) return status_of(Mistake::authtype);
    if (const Status ended = log_in_.end_account(next); !ended.ok()) return ended;
  } else if (!log_in_.try_secret(auth.secret, next)) {
    return status_of(Mistake::unauth);
  }
  begin_change(changes);
  become(std::move(next));
  return {};
}

void Session::greet(const Hello& hello, passes::Changes& changes, Buffer& out) {
  begin_change(changes);
  take(hello);
  ReplyWriter reply(out);
  reply.begin_rows(2);
  reply.greeting("plugin", plugin_version);
  reply.greeting("server", config_.server);
  reply.greeting("protocol", protocol_version);
  reply.greeting("requests", request_words);
  if (hello.wants_texts) reply.greeting(Hello::texts, "1");
  if (hello.escapes_names) reply.greeting(Hello::names, "1");
  if (hello.wants_warnings) reply.greeting(Hello::warnings, "1");
  reply.end_rows();
}

Outcome Session::describe(const NamedIndex& index, store::Store& store, Buffer& out) const {
  const store::IndexNames names = split_names(index.names);
  store::TableDescription table;
  const Outcome outcome = store.describe_table(names, caller(), table);
  // This thread must not wait for the other server.
  if (outcome.verdict() == store::Verdict::remote) return Error::not_supported;
  return outcome.ok() ? append_description(names, table, out) : outcome;
}

Outcome Session::list(const Request& request, store::Store& store, store::Sink* sink,
                      Buffer& out) const {
  if (request.listed == Listed::indexes) {
    store::TableDescription table;
    const Outcome outcome = store.describe_table(request.names, caller(), table);
    // This thread must not wait for the other server.
    if (outcome.verdict() == store::Verdict::remote) return Error::not_supported;
    if (outcome.ok()) append_indexes(table, out);
    return outcome;
  }
  std::optional<std::string_view> database;
  if (request.listed == Listed::tables) database = request.names.database;
  std::vector<std::string> names;
  const Outcome outcome = store.list_names(database, caller(), sink, names);
  if (!outcome.ok()) return outcome;
  ReplyWriter reply(out);
  reply.begin_rows(1);
  for (const std::string& name : names) reply.listed_name(name);
  reply.end_rows();
  return {};
}

Status Session::tell_warnings(Buffer& out) const {
  ReplyWriter reply(out);
  reply.begin_rows(ReplyWriter::warning_columns);
  for (const store::Warning& warning : last_said_->said.warnings) reply.warning(warning);
  reply.end_rows();
  return {};
}

// The warnings stay if they are wanted on.
void Session::take(const Hello& hello) {
  hello_ = hello;
  if (!hello.wants_texts && !hello.wants_warnings) return last_said_.reset();
  if (last_said_ == nullptr) last_said_ = std::make_unique<LastSaid>();
  last_said_->said.wants_warnings = hello.wants_warnings;
  if (!hello.wants_warnings) forget_warnings();
}

void Session::become(passes::LogIn::State state) {
  assert(position() == nullptr);
  if (state.caller != caller()) {
    if (before_ != nullptr) before_->has_changed_caller = true;
    indexes_.forget_indexes();
  }
  log_in_.set_state(std::move(state));
  most_waiting = most_waiting_now();
}

void Session::append_error(Status status, Buffer& out) const {
  ReplyWriter reply(out);
  if (!hello_.wants_texts) return reply.error(status);
  static const store::Said nothing;
  reply.error_with_text(status, status == last_said_->status ? last_said_->said : nothing);
}

void Session::replace_reply(std::string_view /*input*/, Status status, std::uint32_t replies,
                            Buffer& out) {
  // What has failed may be a find behind a write of another connection.
  if (before_ != nullptr && before_->has_written) forget_warnings();
  append_errors(status, replies, out);
}

std::size_t Session::whole_requests(std::string_view input) const {
  return handlersocket::whole_requests(input);
}

void Session::refuse(net::Refusal why, Buffer& out) const {
  Mistake mistake = Mistake::max_waiting_bytes;
  if (why == net::Refusal::needs_tls) mistake = Mistake::tls;
  if (why == net::Refusal::foreign) mistake = Mistake::foreign;
  append_error(status_of(mistake), out);
}

}  // namespace hs::handlersocket
