#include "passes/test_line_protocol.h"

#include <array>
#include <charconv>
#include <optional>
#include <span>

#include "passes/requests.h"
#include "passes/test_assign_words.h"
#include "passes/test_line_range.h"
#include "passes/test_swap.h"
#include "passes/waiting.h"

namespace hs::passes {
namespace {

using store::Outcome;
using store::Value;

// The first column is the value, and has its length in front.
class ValueLines final : public store::Rows {
 public:
  bool take(std::span<const store::Column> columns, const store::CurrentRow& row,
            std::size_t /*in_number*/, Buffer& out) override {
    char room[store::Column::room];
    const store::ColumnValue value = columns.front().value(row, room);
    if (value.kind == store::ColumnValue::Kind::no_memory) return false;
    out.append("VALUE " + std::to_string(value.size) + " ");
    out.append({value.data, value.size});
    out.push_back('\n');
    return true;
  }
};

// Every column, with commas between them and a NULL as `~`.
class CommaLines final : public store::Rows {
 public:
  bool take(std::span<const store::Column> columns, const store::CurrentRow& row,
            std::size_t /*in_number*/, Buffer& out) override {
    char room[store::Column::room];
    const char* before = "ROW ";
    for (const store::Column& column : columns) {
      const store::ColumnValue value = column.value(row, room);
      if (value.kind == store::ColumnValue::Kind::no_memory) return false;
      out.append(before);
      before = ",";
      if (value.kind == store::ColumnValue::Kind::null) {
        out.push_back('~');
      } else {
        out.append({value.data, value.size});
      }
    }
    out.push_back('\n');
    return true;
  }
};

struct Command {
  enum class Kind : std::uint8_t { get, scan, range, count, set, quiet, swap, assign, unknown };
  Kind kind = Kind::unknown;
  std::string_view key{};
  std::string_view argument{};
  std::size_t end_offset = 0;

  bool writes() const {
    return kind == Kind::set || kind == Kind::quiet || kind == Kind::swap || kind == Kind::assign;
  }
  LineProtocol::Needs needs() const {
    using Needs = LineProtocol::Needs;
    switch (kind) {
      case Kind::range:
      case Kind::count: return Needs::range;
      case Kind::swap: return Needs::both_tables;
      case Kind::assign: return Needs::assign;
      default: return Needs::rows;
    }
  }
};

std::string_view take_word(std::string_view& line) {
  const std::size_t blank = line.find(' ');
  const std::string_view word = line.substr(0, blank);
  line.remove_prefix(blank == std::string_view::npos ? line.size() : blank + 1);
  return word;
}

std::optional<Command> command_at(std::string_view input, std::size_t begin) {
  const std::size_t lf = input.find('\n', begin);
  if (lf == std::string_view::npos) return std::nullopt;
  std::string_view line = input.substr(begin, lf - begin);
  Command command{.end_offset = lf + 1};
  const std::string_view verb = take_word(line);
  if (verb == "range" || verb == "count") {
    command.kind = verb == "range" ? Command::Kind::range : Command::Kind::count;
    command.argument = line;
    return command;
  }
  command.key = take_word(line);
  command.argument = line;
  using enum Command::Kind;
  if (verb == "get") command.kind = get;
  if (verb == "scan") command.kind = scan;
  if (verb == "set") command.kind = set;
  if (verb == "quiet") command.kind = quiet;
  if (verb == "swap") command.kind = swap;
  if (verb == "assign" && AssignWords().read(command.argument)) command.kind = assign;
  return command;
}

store::Selection rows_of(const Command& command, const Value& key) {
  store::Selection selection{.key = {&key, 1}};
  if (command.kind == Command::Kind::scan) {
    selection.range = store::range_of(store::Comparison::greater_equal);
    std::from_chars(command.argument.data(), command.argument.data() + command.argument.size(),
                    selection.limit);
  }
  return selection;
}

class LineDialogue final : public Dialogue {
 public:
  std::size_t whole_requests(std::string_view input) const override {
    return input.rfind('\n') + 1;
  }
  void refuse(net::Refusal /*why*/, Buffer& out) const override { out.append("BUSY\n"); }
  // Its own words for the kinds of errors that its clients tell apart, and the server's number of
  // others.
  void append_error(Status status, Buffer& out) const override {
    switch (status.kind()) {
      case Error::row_locked:
      case Error::table_locked:
      case Error::deadlock:
      case Error::conflict: out.append("ERROR locked\n"); return;
      case Error::duplicate_key: out.append("ERROR exists\n"); return;
      case Error::out_of_range: out.append("ERROR too much\n"); return;
      case Error::commit_failed: out.append("ERROR not committed\n"); return;
      default: out.append("ERROR " + std::to_string(status.number()) + "\n");
    }
  }
  void depart() override {
    store_ = nullptr;
    uses_ = {};
  }

  void execute(Requests& requests) override {
    net::Turn& turn = requests.turn();
    auto& protocol = static_cast<LineProtocol&>(requests.protocol());
    if (requests.gives_up_first()) {
      append_error(row_wait_timed_out, requests.out());
      requests.refused(Counter::requests_update, command_at(turn.input, 0)->end_offset);
    }
    while (const std::optional<Command> command = command_at(turn.input, turn.consumed)) {
      if (!requests.may_begin()) return;
      if (command->kind == Command::Kind::unknown) {
        requests.out().append("ERROR\n");
        requests.refused(Counter::requests_malformed, command->end_offset);
        continue;
      }
      const Answer answer = answer_to(*command, requests, protocol);
      if (!requests.end(answer, command->end_offset)) return;
    }
  }

  Plan plan(net::Turn& turn, Protocol& protocol) override {
    const std::optional<Command> command = command_at(turn.input, 0);
    if (!command) return {};
    if (command->kind == Command::Kind::unknown) return {.kind = Plan::Kind::quick};
    planned_ = *command;
    return {.kind = command->writes() ? Plan::Kind::write : Plan::Kind::find,
            .end_offset = command->end_offset,
            .counter = counter_of(*command),
            .described = command->writes() ? "set" : "get",
            .caller = &store::Caller::unlimited(),
            .indexes = static_cast<LineProtocol&>(protocol).indexes(command->needs())};
  }
  Outcome execute_planned(Place& place, Protocol& /*protocol*/) override {
    if (planned_.kind == Command::Kind::swap) return swap(place);
    if (planned_.kind == Command::Kind::range) return range(place);
    if (planned_.kind == Command::Kind::count) return count(place);
    if (planned_.kind == Command::Kind::assign) return assign(place);
    return planned_.writes() ? set(place) : get(place);
  }

 private:
  static Counter counter_of(const Command& command) {
    return command.writes() ? Counter::requests_update : Counter::requests_find;
  }

  Answer answer_to(const Command& command, Requests& requests, LineProtocol& protocol) {
    Answer answer;
    answer.write = command.writes();
    answer.read = !command.writes();
    answer.counter = counter_of(command);
    if (!answer.may_run(requests.runs())) return answer;
    planned_ = command;
    const Outcome outcome = perform(requests, protocol);
    if (answer.note_outcome(outcome)) append_error(outcome.status(), requests.out());
    return answer;
  }

  Outcome perform(Requests& requests, LineProtocol& protocol) {
    store::Store& store = requests.store();
    if (store_ != &store) uses_ = {};
    store_ = &store;
    const std::span<const NeededIndex> needed = protocol.indexes(planned_.needs());
    const std::span uses = protocol.uses(uses_, needed);
    for (std::size_t i = 0; i < needed.size(); ++i) {
      if (uses[i]) continue;
      const Outcome opened = store.open_index(needed[i].names, store::Caller::unlimited(), uses[i]);
      if (!opened.ok()) return opened;
    }
    Place place{.store = store, .uses = uses, .out = requests.out()};
    return execute_planned(place, protocol);
  }

  Outcome get(Place& place) const {
    const Value key{planned_.key};
    const std::size_t begin = place.out.size();
    ValueLines lines;
    store::Found found;
    const Outcome outcome = place.store.find(place.uses[0], rows_of(planned_, key), lines,
                                             place.out, place.sink, found);
    if (!outcome.ok()) return outcome;
    if (planned_.kind == Command::Kind::scan) {
      place.out.append("END\n");
    } else if (place.out.size() == begin) {
      place.out.append("NONE\n");
    }
    return outcome;
  }

  Outcome range(Place& place) const {
    const LineRange range(planned_.argument);
    ValueLines lines;
    store::Found found;
    const Outcome outcome =
        place.store.find(place.uses[0], range.selection(), lines, place.out, place.sink, found);
    if (outcome.ok()) place.out.append("END\n");
    return outcome;
  }

  Outcome count(Place& place) const {
    const LineRange range(planned_.argument);
    std::uint64_t rows = 0;
    const Outcome outcome = place.store.count(place.uses[0], range.selection(), rows, place.sink);
    if (outcome.ok()) place.out.append("COUNT " + std::to_string(rows) + "\n");
    return outcome;
  }

  Outcome swap(Place& place) const {
    std::array uses{place.uses[0], place.uses[2]};
    return swap_values(place.store, uses, std::array{planned_.key, planned_.argument}, place.out);
  }

  Outcome assign(Place& place) const {
    AssignWords words;
    static_cast<void>(words.read(planned_.argument));
    const Value key{planned_.key};
    CommaLines lines;
    store::Changed changed;
    const Outcome outcome = place.store.modify(place.uses[0], {.key = {&key, 1}},
                                               {.kind = store::ChangeKind::assign,
                                                .rows_before = true,
                                                .rows_after = true,
                                                .assignments = words.assignments()},
                                               &lines, place.out, changed);
    if (outcome.ok() && changed.rows == 0) place.out.append("NONE\n");
    return outcome;
  }

  // An update, and an insert if there was no such row.
  Outcome set(Place& place) const {
    const Value row[2] = {{planned_.argument}, {planned_.key}};
    const store::Selection selection{.key = {&row[1], 1}};
    store::Changed changed;
    Outcome outcome = place.store.modify(place.uses[0], selection, {.values = {row, 1}}, nullptr,
                                         place.out, changed);
    if (outcome.ok() && changed.rows == 0)
      outcome = place.store.insert(place.uses[1], {row}, changed);
    if (outcome.ok() && planned_.kind == Command::Kind::set) place.out.append("STORED\n");
    return outcome;
  }

  const store::Store* store_ = nullptr;  // of the uses; never dereferenced
  std::array<store::IndexUse, LineProtocol::index_count> uses_;
  Command planned_;
};

}  // namespace

LineProtocol::LineProtocol(const store::IndexNames& names, const store::IndexNames& others,
                           const store::IndexNames& ranges, const store::IndexNames& assigned) {
  store::IndexNames of_value = names;
  of_value.columns = names.columns.substr(0, names.columns.find(','));
  indexes_[0] = {.key = "value", .names = of_value};
  indexes_[1] = {.key = "row", .names = names};
  indexes_[2] = {.key = "other", .names = others};
  indexes_[3] = {.key = "ranges", .names = ranges};
  indexes_[4] = {.key = "assigned", .names = assigned};
}

std::unique_ptr<Dialogue> LineProtocol::open_dialogue() { return std::make_unique<LineDialogue>(); }

}  // namespace hs::passes
