// A dialogue's turns: framing, admission, and where a request is executed.
#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "base/short_bytes.h"
#include "keys/keys_ahead.h"
#include "memcached/session/dialogue.h"
#include "memcached/session/memcached.h"
#include "passes/requests.h"
#include "passes/waiting.h"

namespace hs::memcached {
namespace {

using net::Next;
using net::Turn;
using passes::Answer;
using store::Outcome;
using store::Verdict;

std::string_view described(Action action) {
  if (only_reads(action)) return "find";
  return action == Action::erase || action == Action::flush ? "delete" : "update";
}

// Whether a request has more keys than a worker may change in one request.
bool is_too_much(const Request& request) {
  std::string_view rest = request.more_keys;
  std::size_t keys = 0;
  while (keys < most_touched_by_worker && !take_word(rest).empty()) ++keys;
  return keys == most_touched_by_worker;
}

// What a worker says of its own of a request before it is executed. ok: it is executed.
Status refusal_of(const Request& request, const Config& config) {
  if (request.action == Action::mistake) return request.mistake;
  if (!touches_items(request.action) || only_reads(request.action)) return {};
  if (!config.writable) return status_of(Mistake::read_only_port);
  if (request.action != Action::flush) return {};
  if (!config.may_flush.get()) return status_of(Mistake::flush_is_off);
  return request.exptime > 0 ? status_of(Mistake::flush_has_delay) : Status{};
}

// Never parks a find: what was written of a reply before it would be lost.
class WholeItem final : public store::Sink {
 public:
  explicit WholeItem(store::Sink& sink) : sink_(sink) {}
  Flushed flush(Buffer& /*out*/, bool /*can_park*/) override {
    assert(false);  // an item is written as a whole
    return Flushed::ended;
  }
  bool must_give_way() override { return false; }
  bool must_end() override { return sink_.must_end(); }

 private:
  store::Sink& sink_;
};

// What a browser sends, perhaps because of a page that means harm. No command begins with a capital.
bool is_of_browser(std::string_view input) {
  return input.front() <= 'Z' && (input.starts_with("POST ") || input.starts_with("Host:"));
}

}  // namespace

Counter counter_of(Action action) {
  switch (action) {
    case Action::log_in: return Counter::requests_log_in;
    case Action::get:
    case Action::describe: return Counter::requests_find;
    case Action::erase:
    case Action::flush: return Counter::requests_erase;
    default: return touches_items(action) ? Counter::requests_update : Counter::requests_other;
  }
}

void Dialogue::throw_away(passes::Requests& requests) {
  if (state_.thrown_away == 0) [[likely]]
    return;
  Turn& turn = requests.turn();
  const std::size_t there = std::min(state_.thrown_away, turn.input.size() - turn.consumed);
  if (there == 0) return;
  begin_change(requests.changes()).thrown_away -= there;
  turn.consumed += there;
}

void Dialogue::execute(passes::Requests& requests) {
  using Found = RequestReader::Found;
  Turn& turn = requests.turn();
  auto& front = static_cast<Memcached&>(requests.protocol());
  front.clock().forget();
  if (requests.gives_up_first()) [[unlikely]]
    give_up_first(requests, front);
  RequestReader& reader = front.reader();
  while (turn.next != Next::close) {
    throw_away(requests);
    const std::string_view input = turn.input.substr(turn.consumed);
    if (input.empty()) return;
    const bool is_first = turn.consumed == 0;
    if (state_.wire == Wire::unknown) {
      const Wire wire = is_binary(input) ? Wire::binary : Wire::text;
      begin_change(requests.changes()).wire = wire;
    }
    const Found found =
        reader.read(input, is_binary(input), limits(is_first), is_first ? turn.scanned : 0);
    asked_ = reader.request();
    if (found == Found::incomplete) {
      if (!turn.oversized || turn.consumed != 0) return;
      asked_.form = state_.wire == Wire::binary ? Form::binary : Form::text;
      append_error(status_of(Mistake::request_size), requests.out());
    }
    if (found != Found::request || is_of_browser(input)) {
      requests.refused(Counter::requests_malformed, turn.input.size());
      turn.next = Next::close;
      return;
    }
    const std::size_t end = turn.consumed + reader.size();
    if (!requests.may_begin() || !execute_request(requests, front, end)) return;
  }
}

// The reply is complete. Whether the turn goes on.
bool Dialogue::end(passes::Requests& requests, const Answer& answer, std::size_t end_offset,
                   std::size_t thrown_away) {
  Answer told = answer;
  // It is never answered, not even with an error. But requests behind it may have seen what it has done.
  if (asked_.form == Form::text && asked_.is_quiet) told.replies = 0;
  const bool goes_on = requests.end(told, end_offset);
  if (requests.turn().consumed != end_offset) return goes_on;
  if (state_.many.has_begun) begin_change(requests.changes()).many = {};
  if (thrown_away != 0) begin_change(requests.changes()).thrown_away = thrown_away;
  return goes_on;
}

bool Dialogue::refuse_request(passes::Requests& requests, Memcached& front,
                              std::size_t end_offset) {
  const RequestReader& reader = front.reader();
  append_error(refusal_of(reader.request(), config_), requests.out());
  // A key that could be read has chosen its container all the same.
  std::string_view container = state_.container;
  ChosenItem chosen;
  static_cast<void>(choose_item(front.containers(), reader.request().key, container, chosen));
  const bool closes = reader.ends();
  const bool goes_on = end(requests, {.ok = false, .counter = Counter::requests_other}, end_offset,
                           reader.thrown_away());
  if (requests.turn().consumed == end_offset) choose(requests.changes(), container);
  if (closes) requests.turn().next = Next::close;
  return goes_on && !closes;
}

bool Dialogue::execute_request(passes::Requests& requests, Memcached& front,
                               std::size_t end_offset) {
  const Request& request = front.reader().request();
  if (!refusal_of(request, config_).ok()) return refuse_request(requests, front, end_offset);
  if (request.action == Action::get) return execute_get(requests, front, request, end_offset);
  if (touches_items(request.action)) return execute_item(requests, front, request, end_offset);

  const std::size_t begin = requests.out().size();
  Answer answered{.counter = counter_of(request.action)};
  Status status;
  const Done done = execute_connection(requests, request, status);
  if (done == Done::later) {
    requests.out().truncate(begin);
    return false;
  }
  answered.ok = status.ok();
  if (!status.ok()) append_error(status, requests.out());
  const bool goes_on = end(requests, answered, end_offset);
  if (done == Done::closes) requests.turn().next = Next::close;
  return goes_on && done != Done::closes;
}

void Dialogue::choose(passes::Changes& changes, std::string_view container) {
  if (are_equal(container, state_.container)) [[likely]]
    return;
  begin_change(changes).container = container;
}

void Dialogue::note_reached(std::string_view container) {
  reached_ = are_equal(container, state_.container) ? std::string_view{} : container;
}

// A container that the request has named is chosen, however it was answered. If it was not, it is executed
// again, from the container that was chosen before it.
bool Dialogue::end_on_items(passes::Requests& requests, const Answer& answer,
                            std::string_view container, std::size_t end_offset) {
  const bool goes_on = end(requests, answer, end_offset);
  if (requests.turn().consumed == end_offset) [[likely]] {
    choose(requests.changes(), container);
    reached_.clear();
  } else {
    note_reached(container);
  }
  return goes_on;
}

// So that other clients do not wait behind a get of very many keys, it goes on in later turns. What it
// has found until then is sent.
bool Dialogue::execute_get(passes::Requests& requests, Memcached& front, const Request& request,
                           std::size_t end_offset) {
  Answer answered{.read = true, .counter = Counter::requests_find};
  const std::size_t begin = requests.out().size();
  std::string_view container = state_.container;
  if (!answered.may_run(requests.runs()))
    return end_on_items(requests, answered, container, end_offset);
  RowWork work = work_for(requests.store(), front, requests.out(), true, nullptr);
  std::string_view rest = request.more_keys;
  std::string_view key = request.key;
  if (state_.many.has_begun) {
    rest.remove_prefix(state_.many.next);
    key = take_word(rest);
  }
  const bool has_more = has_more_keys(request);
  keys::KeysAhead keys_ahead(work);
  Outcome outcome = front.look(requests.store());
  while (outcome.ok()) {
    if (has_more)
      keys_ahead.begin_key(
          [&](store::LookAhead& ahead) { name_items(request, key, rest, container, ahead); });
    outcome = with_chosen_item(front.containers(), key, container, [&](const ChosenItem& chosen) {
      return read_item(work, request, key, chosen);
    });
    if (!outcome.ok()) break;
    key = take_word(rest);
    if (key.empty()) break;
    if (requests.may_go_on()) [[likely]]
      continue;
    if (!requests.is_part_final()) {
      requests.out().truncate(begin);
      return false;
    }
    choose(requests.changes(), container);
    begin_change(requests.changes()).many = {
        .has_begun = true, .next = static_cast<std::size_t>(key.data() - request.more_keys.data())};
    return false;
  }
  if (outcome.ok()) {
    Reply(requests.out()).end_of_items(request);
  } else {
    requests.out().truncate(begin);
  }
  if (answered.note_outcome(outcome)) append_error(outcome.status(), requests.out());
  return end_on_items(requests, answered, container, end_offset);
}

bool Dialogue::execute_item(passes::Requests& requests, Memcached& front, const Request& request,
                            std::size_t end_offset) {
  const bool is_read = only_reads(request.action);
  Answer answered{.write = !is_read, .read = is_read, .counter = counter_of(request.action)};
  std::string_view container = state_.container;
  const bool may_run = answered.may_run(requests.runs());
  if (may_run && is_too_much(request)) answered.verdict = Verdict::oversized;
  if (!may_run || answered.verdict == Verdict::oversized)
    return end_on_items(requests, answered, container, end_offset);
  const std::size_t begin = requests.out().size();
  RowWork work = work_for(requests.store(), front, requests.out(), true, nullptr);
  Outcome outcome = front.look(requests.store());
  if (outcome.ok()) outcome = execute_on_items(work, request, container, nullptr);
  if (!outcome.ok()) requests.out().truncate(begin);
  if (answered.note_outcome(outcome)) append_error(outcome.status(), requests.out());
  return end_on_items(requests, answered, container, end_offset);
}

void Dialogue::give_up_first(passes::Requests& requests, Memcached& front) {
  const std::string_view input = requests.turn().input;
  RequestReader& reader = front.reader();
  const auto found = reader.read(input, is_binary(input), limits(true));
  assert(found == RequestReader::Found::request);
  static_cast<void>(found);
  asked_ = reader.request();
  append_error(passes::row_wait_timed_out, requests.out());
  requests.refused(counter_of(asked_.action), reader.size());
  State& state = begin_change(requests.changes());
  state.many = {};
  if (!reached_.empty()) state.container = reached_;
}

passes::Plan Dialogue::plan(Turn& turn, passes::Protocol& protocol) {
  using enum passes::Plan::Kind;
  auto& front = static_cast<Memcached&>(protocol);
  RequestReader& reader = front.reader();
  if (state_.thrown_away != 0) return {.kind = quick};
  const auto found = reader.read(turn.input, is_binary(turn.input), limits(true));
  if (found == RequestReader::Found::incomplete) return {.kind = incomplete};
  if (found != RequestReader::Found::request) return {.kind = quick};
  planned_ = reader.request();
  asked_ = planned_;
  if (!refusal_of(planned_, config_).ok()) return {.kind = quick};
  Credentials credentials;
  if (turn.endpoint != nullptr && planned_.action == Action::log_in && log_in_.has_accounts() &&
      read_credentials(planned_, credentials) && !credentials.is_secret) {
    if (log_in_.run(turn, credentials.user, credentials.password, status_of(Mistake::needs_tls),
                    front.counters()))
      note_secret(turn, credentials.password);
    return {.kind = done};
  }
  if (!touches_items(planned_.action)) return {.kind = quick};
  passes::Plan planned{.kind = only_reads(planned_.action) ? find : write,
                       .end_offset = reader.size(),
                       .counter = counter_of(planned_.action),
                       .described = described(planned_.action),
                       .reply_is_of_parts = planned_.action == Action::get,
                       .caller = &caller()};
  planned.about = {.database = {}, .table = {}, .index = {}, .columns = {}, .filter_columns = {}};
  return planned;
}

Outcome Dialogue::execute_planned(passes::Place& place, passes::Protocol& protocol) {
  auto& front = static_cast<Memcached&>(protocol);
  front.clock().forget();
  const Outcome looked = front.look(place.store);
  if (!looked.ok()) return looked;
  std::optional<WholeItem> sink;
  if (place.sink != nullptr) sink.emplace(*place.sink);
  RowWork work = work_for(place.store, front, place.out, false, sink ? &*sink : nullptr);
  std::string_view container = state_.container;
  const Outcome outcome = execute_on_items(work, planned_, container, place.sink);
  note_reached(container);
  return outcome;
}

// The thread that calls it has the connection alone, outside of any pass that could be executed again.
void Dialogue::end_planned(Status /*ended*/, passes::Protocol& /*protocol*/) {
  planned_ = {};
  state_.many = {};
  if (!reached_.empty()) state_.container = std::exchange(reached_, {});
}

}  // namespace hs::memcached
