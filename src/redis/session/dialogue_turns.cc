// A dialogue's turns: framing, admission, and where a request is executed.
#include <algorithm>
#include <cassert>
#include <utility>

#include "base/give_back.h"
#include "passes/requests.h"
#include "passes/waiting.h"
#include "redis/protocol/errors.h"
#include "redis/session/client_list.h"
#include "redis/session/dialogue.h"
#include "redis/session/key_scan.h"
#include "redis/session/redis.h"
#include "redis/session/whole_reply.h"

namespace hs::redis {
namespace {

using net::Next;
using net::Turn;
using passes::Answer;
using store::Outcome;
using store::Verdict;

// So much memory for the words of a request stays with its connection.
constexpr std::size_t kept_words = 16;

Counter counter_of(Effect effect) {
  switch (effect) {
    case Effect::none: return Counter::requests_other;
    case Effect::find: return Counter::requests_find;
    case Effect::count: return Counter::requests_count;
    case Effect::update: return Counter::requests_update;
    case Effect::erase: return Counter::requests_erase;
  }
  return Counter::requests_other;
}

Counter counter_of(const CommandInfo& info) {
  return info.command == Command::auth ? Counter::requests_log_in : counter_of(info.effect);
}

std::string_view described(Effect effect) {
  switch (effect) {
    case Effect::none: break;
    case Effect::find: return "find";
    case Effect::count: return "count";
    case Effect::update: return "update";
    case Effect::erase: return "delete";
  }
  return "transaction";
}

// A worker reads so many items in one request, which is about a millisecond.
constexpr std::size_t most_items_of_worker = 1024;

// Whether a command has more keys than a worker may look at in one request.
bool is_too_much(const CommandInfo& info, Words words) {
  if (info.command == Command::mget) return words.size() > most_items_of_worker;
  return writes(info.effect) && keys_of(info, words.size()).count > most_keys_of_worker;
}

// Whether it keeps what it has found, and goes on when others have had their turn.
bool is_parked(Command command) {
  return command == Command::keys || command == Command::hs_find || command == Command::hs_count;
}

// What tells of the server, or of commands, names no rows, and is answered at once.
bool has_too_many_words(const CommandInfo& info, std::span<const std::string_view> words) {
  constexpr std::size_t most_words = 1024;
  return info.effect == Effect::none && words.size() > most_words;
}

bool is_about_many_keys(Command command) {
  return command == Command::exists || command == Command::touch;
}

}  // namespace

Work Dialogue::work_for(store::Store& store, Redis& front, Reply& reply, bool is_worker,
                        store::Sink* sink) {
  return {{.store = store,
           .caller = caller(),
           .rows = front.rows(),
           .remembered = is_worker ? &remembered_ : nullptr,
           .sink = sink,
           .is_in_unit = false,
           .buffer = reply.out(),
           .default_database = config_.default_database,
           .containers = front.containers(),
           .clock = front.clock(),
           .scratch = front.scratch(),
           .repeated = is_worker ? front.reader().repeated() : 0},
          reply,
          said_,
          config_.scans};
}

void Dialogue::execute(passes::Requests& requests) {
  using Found = RequestReader::Found;
  Turn& turn = requests.turn();
  auto& front = static_cast<Redis&>(requests.protocol());
  front.clock().forget();
  if (requests.gives_up_first()) [[unlikely]]
    give_up_first(requests, front);
  RequestReader& reader = front.reader();
  while (turn.next != Next::close) {
    const std::string_view input = turn.input.substr(turn.consumed);
    RequestProgress progress = state_.progress;
    const Found found = reader.read(input, limits(), progress);
    set_progress(progress, requests.changes());
    switch (found) {
      case Found::nothing: turn.consumed += reader.size(); continue;
      case Found::incomplete:
        if (!turn.oversized || turn.consumed != 0) return;
        answer(status_of(Mistake::request_size), requests.out());
        requests.refused(Counter::requests_malformed, turn.input.size());
        front.commands().note(requests.notes(), {.code = ErrorCode::general});
        turn.next = Next::close;
        return;
      case Found::mistake:
        answer(say("ERR " + reader.mistake()), requests.out());
        requests.refused(Counter::requests_malformed, turn.input.size());
        front.commands().note(requests.notes(), {.code = ErrorCode::general});
        turn.next = Next::close;
        return;
      case Found::request: break;
    }
    const std::size_t end = turn.consumed + reader.size();
    if (!requests.may_begin() || !execute_request(requests, front, reader.words(), end)) return;
  }
}

// What there is to say about a command before it is executed or queued.
Status Dialogue::admit(Redis& front, const CommandInfo*& info) {
  info = front.command();
  const Words words = front.reader().words();
  const bool is_usual = caller() != nullptr && info != nullptr && info->takes(words.size()) &&
                        !has_too_many_words(*info, words) &&
                        (config_.writable || !writes(info->effect));
  return is_usual ? Status{} : refusal_of(words, info);
}

// ok: there is nothing to say against it.
Status Dialogue::refusal_of(Words words, const CommandInfo* info) {
  if (caller() == nullptr && (info == nullptr || !info->has_flag(CommandFlags::before_log_in)))
    return status_of(Mistake::no_auth);
  if (info == nullptr) {
    constexpr std::size_t most_shown = 128;
    const std::string name(words[0].substr(0, most_shown));
    if (is_of_redis_only(words[0]))
      return say("ERR command '" + name + "' is not there, see docs/redis.md");
    std::string arguments;
    for (std::size_t i = 1; i < words.size() && arguments.size() < most_shown; ++i) {
      const std::size_t shown = most_shown - arguments.size();
      arguments += '\'';
      arguments += words[i].substr(0, shown);
      arguments += "' ";
    }
    return say("ERR unknown command '" + name + "', with args beginning with: " + arguments);
  }
  if (!info->takes(words.size())) {
    return say("ERR wrong number of arguments for '" + std::string(info->name) + "' command");
  }
  if (has_too_many_words(*info, words))
    return say("ERR too many arguments for '" + std::string(info->name) + "' command");
  if (writes(info->effect) && !config_.writable) return status_of(Mistake::read_only_port);
  return {};
}

// As it stands behind another code.
std::string Dialogue::reason_of(Status status) const {
  std::string text;
  append_text(status, said_, text);
  constexpr std::string_view general = "ERR ";
  return text.starts_with(general) ? text.substr(general.size()) : text;
}

ErrorCode Dialogue::code_of(Status status) const {
  std::string text;
  append_text(status, said_, text);
  return redis::code_of(text);
}

// The reply that begins at `begin` is complete. Whether the turn goes on.
bool Dialogue::end(passes::Requests& requests, const Answer& answer, std::size_t begin,
                   std::size_t end, CommandNote note) {
  Answer told = answer;
  const bool is_answered = answer.verdict == Verdict::answered && !answer.put_off;
  // An error's first byte is a minus.
  const auto note_error = [&] {
    if (note.end == CommandEnd::done) note.end = CommandEnd::failed;
    note.code = redis::code_of(requests.out().view().substr(begin + 1));
  };
  if (is_answered && !answer.ok) [[unlikely]]
    note_error();
  const bool is_silent = wants_no_reply();
  if (is_silent) [[unlikely]] {
    // It is never answered, not even with an error. But requests behind it may have seen what it has done.
    if (is_answered) requests.out().truncate(begin);
    told.replies = 0;
  }
  const bool goes_on = requests.end(told, end);
  if (requests.turn().consumed != end) return goes_on;
  if (!is_answered) [[unlikely]] {  // it has waited for too long
    if (!is_silent) {
      note_error();
    } else {
      note = {.command = note.command, .end = CommandEnd::failed, .code = ErrorCode::try_again};
    }
  }
  if (is_silent) skip_reply(requests.changes());
  static_cast<Redis&>(requests.protocol()).commands().note(requests.notes(), note);
  if (state_.many.next != 0) begin_change(requests.changes()).many = {};
  return goes_on;
}

// The request that is over had no reply, if that was to be so.
void Dialogue::skip_reply(passes::Changes& changes) {
  if (state_.skipped_replies != 0) --begin_change(changes).skipped_replies;
}

bool Dialogue::refuse_request(passes::Requests& requests, Status status, std::size_t end_offset,
                              const CommandNote& note) {
  const std::size_t begin = requests.out().size();
  answer(status, requests.out());
  return end(requests, {.ok = false, .counter = Counter::requests_other}, begin, end_offset, note);
}

bool Dialogue::execute_request(passes::Requests& requests, Redis& front, Words words,
                               std::size_t end_offset) {
  const CommandInfo* info = nullptr;
  const Status admitted = admit(front, info);
  const bool begins = info != nullptr && info->command == Command::multi;
  if (!admitted.ok()) {
    // What a browser sends, perhaps because of a page that means harm.
    if (is_word(words[0], "post") || is_word(words[0], "host:")) {
      requests.turn().next = Next::close;
      return false;
    }
    if (begins) {
      State& state = begin_change(requests.changes());
      state.transaction = std::make_shared<Transaction>(config_.queued);
      state.is_spoiled = state.was_refused = true;
    } else if (info != nullptr && info->command == Command::exec) {
      end_transaction(requests.changes());
      return refuse_request(
          requests, say("EXECABORT Transaction discarded because of: " + reason_of(admitted)),
          end_offset, {.command = info->command, .end = CommandEnd::refused});
    } else if (is_queueing()) {
      spoil(requests.changes());
    }
    const Command refused = info != nullptr ? info->command : Command::count_;
    return refuse_request(requests, admitted, end_offset,
                          {.command = refused, .end = CommandEnd::refused});
  }
  const bool is_queued = is_queueing() && !info->has_flag(CommandFlags::not_queued) &&
                         !(state_.was_refused && info->has_flag(CommandFlags::before_log_in));
  if (is_queued) return queue(requests, *info, words, end_offset);
  if (info->command == Command::exec) return execute_transaction(requests, front, end_offset);
  if (asks_for_clients(*info, words) && config_.connections != nullptr) {
    Answer aside{.read = true, .counter = Counter::requests_other};
    if (aside.may_run(requests.runs())) aside.verdict = Verdict::oversized;
    return end(requests, aside, requests.out().size(), end_offset, {.command = info->command});
  }
  if (info->effect != Effect::none) return execute_rows(requests, front, *info, words, end_offset);

  const std::size_t begin = requests.out().size();
  Answer answered{.counter = counter_of(*info)};
  Status status;
  const Done done = execute_connection(requests, *info, words, requests.out(), status);
  if (done == Done::later) {
    requests.out().truncate(begin);
    return false;
  }
  answered.ok = status.ok();
  if (!status.ok()) answer(status, requests.out());
  // About what it takes to put INFO together.
  constexpr std::uint64_t steps_of_a_slow_command = 64;
  if (!info->has_flag(CommandFlags::fast)) requests.spend(steps_of_a_slow_command);
  const bool goes_on = end(requests, answered, begin, end_offset, {.command = info->command});
  if (done == Done::closes) requests.turn().next = Next::close;
  return goes_on && done != Done::closes;
}

bool Dialogue::execute_rows(passes::Requests& requests, Redis& front, const CommandInfo& info,
                            Words words, std::size_t end_offset) {
  Answer answered{
      .write = writes(info.effect), .read = !writes(info.effect), .counter = counter_of(info)};
  const CommandNote note{.command = info.command};
  const std::size_t begin = requests.out().size();
  if (!answered.may_run(requests.runs())) return end(requests, answered, begin, end_offset, note);
  const Words keys = words.subspan(1);
  if (is_about_many_keys(info.command) && keys.size() > 1)
    return count_keys(requests, front, info.command, keys, end_offset);
  if (is_too_much(info, words)) {
    answered.verdict = Verdict::oversized;
    return end(requests, answered, begin, end_offset, note);
  }
  Reply reply = reply_to(requests.out());
  Work work = work_for(requests.store(), front, reply, true, nullptr);
  std::shared_ptr<const Watched> watched;
  const bool watches = info.command == Command::watch;
  Outcome outcome = front.look(requests.store());
  if (outcome.ok())
    outcome = watches ? watch(work, keys, watched) : execute_on_rows(work, info, words);
  if (watched != nullptr) note_watched(requests, std::move(watched));
  if (answered.note_outcome(outcome)) answer(outcome.status(), requests.out());
  return end(requests, answered, begin, end_offset, note);
}

// So that other clients do not wait behind a request of very many keys, it goes on in later turns.
bool Dialogue::count_keys(passes::Requests& requests, Redis& front, Command command, Words keys,
                          std::size_t end_offset) {
  Answer answered{.read = true, .counter = Counter::requests_count};
  const std::size_t begin = requests.out().size();
  ManyKeys many = state_.many;
  Reply reply = reply_to(requests.out());
  Work work = work_for(requests.store(), front, reply, true, nullptr);
  Outcome outcome = front.look(requests.store());
  while (outcome.ok() && many.next < keys.size()) {
    std::uint64_t rows = 0;
    outcome = count_key(work, keys[many.next], rows);
    if (!outcome.ok()) break;
    many.count += rows;
    if (++many.next < keys.size() && !requests.may_go_on()) {
      if (requests.is_part_final()) begin_change(requests.changes()).many = many;
      return false;
    }
  }
  if (outcome.ok()) reply.integer(static_cast<std::int64_t>(many.count));
  if (answered.note_outcome(outcome)) answer(outcome.status(), requests.out());
  return end(requests, answered, begin, end_offset, {.command = command});
}

void Dialogue::give_up_first(passes::Requests& requests, Redis& front) {
  RequestProgress progress;
  const auto found = front.reader().read(requests.turn().input, limits(), progress);
  assert(found == RequestReader::Found::request);
  static_cast<void>(found);
  const CommandInfo* info = nullptr;
  const Status admitted = admit(front, info);
  const Status status = admitted.ok() ? passes::row_wait_timed_out : admitted;
  if (!wants_no_reply()) answer(status, requests.out());
  requests.refused(info != nullptr ? counter_of(*info) : Counter::requests_other,
                   front.reader().size());
  front.commands().note(requests.notes(),
                        {.command = info != nullptr ? info->command : Command::count_,
                         .end = admitted.ok() ? CommandEnd::failed : CommandEnd::refused,
                         .code = code_of(status)});
  skip_reply(requests.changes());
  State& state = begin_change(requests.changes());
  state.many = {};
  if (info != nullptr && info->command == Command::exec) end_transaction(requests.changes());
}

passes::Plan Dialogue::plan(Turn& turn, passes::Protocol& protocol) {
  using enum passes::Plan::Kind;
  auto& front = static_cast<Redis&>(protocol);
  RequestReader& reader = front.reader();
  RequestProgress progress;
  const auto found = reader.read(turn.input, limits(), progress);
  if (found == RequestReader::Found::incomplete) return {.kind = incomplete};
  if (found != RequestReader::Found::request) return {.kind = quick};
  const CommandInfo* info = nullptr;
  if (!admit(front, info).ok()) return {.kind = quick};
  planned_ = info;
  planned_words_ = reader.words();
  if (turn.endpoint != nullptr) {
    const std::optional<Credentials> credentials = credentials_of(*info, planned_words_);
    if (credentials && is_of_account(*credentials) && log_in_.has_accounts()) {
      if (log_in_.run(turn, credentials->user, credentials->password, status_of(Mistake::needs_tls),
                      front.counters()))
        note_secret(turn, credentials->password);
      return {.kind = done};
    }
  }
  // Of one that fails, too.
  const std::uint32_t replies = wants_no_reply() ? 0 : 1;
  const bool is_transaction = info->command == Command::exec && is_queueing();
  if (info->effect == Effect::none && !is_transaction) {
    if (!asks_for_clients(*info, planned_words_) || is_queueing() || config_.connections == nullptr)
      return {.kind = quick};
    return {.kind = find,
            .end_offset = reader.size(),
            .counter = Counter::requests_other,
            .described = "client",
            .replies = replies,
            .caller = &caller()};
  }
  const bool is_write = is_transaction ? is_locking() : writes(info->effect);
  const Effect effect = is_transaction ? (is_write ? Effect::update : Effect::find) : info->effect;
  passes::Plan planned{.kind = is_write ? write : find,
                       .end_offset = reader.size(),
                       .counter = counter_of(effect),
                       .described = is_transaction ? "transaction" : described(effect),
                       .replies = replies,
                       .caller = &caller()};
  if (!is_transaction) {
    const bool has_key = info->first_key != 0;
    const keys::SplitKey key =
        keys::split_key(has_key ? planned_words_[keys_of(*info, planned_words_.size()).first]
                                : pattern_of(info->command, planned_words_));
    static_cast<void>(read_names(key.name, config_.default_database, planned_names_));
  } else {
    planned_names_ = {};
  }
  planned.about = {.database = planned_names_.database,
                   .table = planned_names_.table,
                   .index = planned_names_.index,
                   .columns = {},
                   .filter_columns = {}};
  return planned;
}

Outcome Dialogue::execute_planned(passes::Place& place, passes::Protocol& protocol) {
  auto& front = static_cast<Redis&>(protocol);
  std::optional<WholeReply> whole;
  if (place.sink != nullptr) whole.emplace(*place.sink);
  store::Sink* sink = whole ? &*whole : nullptr;
  if (is_parked(planned_->command)) sink = place.sink;
  Reply reply = reply_to(place.out);
  if (planned_->command == Command::client) {
    const Status status = answer_clients(config_, {.connection = number, .account = user()},
                                         planned_words_, reply, said_);
    if (status.ok() && wants_no_reply()) place.out.clear();
    return status;
  }
  Work work = work_for(place.store, front, reply, false, sink);
  front.clock().forget();
  Outcome outcome = front.look(place.store);
  if (!outcome.ok()) return outcome;
  if (planned_->command == Command::exec) {
    outcome = run_transaction(work);
  } else if (planned_->command == Command::watch) {
    std::shared_ptr<const Watched> watched = state_.watched.get();
    outcome = watch(work, Words(planned_words_).subspan(1), watched);
    state_.watched.set(std::move(watched));
  } else {
    outcome = execute_on_rows(work, *planned_, planned_words_);
  }
  if (outcome.ok() && wants_no_reply()) place.out.clear();
  return outcome;
}

// The thread that calls it has the connection alone, outside of any pass that could be executed again.
void Dialogue::end_planned(Status ended, passes::Protocol& protocol) {
  planned_words_.clear();
  hs::give_back(planned_words_, kept_words);
  state_.many = {};
  if (state_.skipped_replies != 0) --state_.skipped_replies;
  if (planned_ == nullptr) return;
  CommandCounter& commands = static_cast<Redis&>(protocol).commands();
  CommandNote note{.command = planned_->command};
  if (!ended.ok()) {
    note.end = CommandEnd::failed;
    note.code = code_of(ended);
  }
  commands.count(note);
  if (planned_->command != Command::exec) return;
  if (ended.ok()) count_queued([&](const CommandNote& one) { commands.count(one); });
  state_.transaction = nullptr;
  state_.watched.set(nullptr);
  state_.is_spoiled = state_.was_refused = false;
}

}  // namespace hs::redis
