#include "passes/test_line_protocol.h"

#include <charconv>
#include <optional>

#include "passes/requests.h"
#include "passes/waiting.h"

namespace hs::passes {
namespace {

using store::Outcome;
using store::Value;

// The first column is the value, and has its length in front.
class LengthCodec final : public store::RowCodec {
 public:
  bool append_row(std::span<const store::Column> columns, const store::CurrentRow& row,
                  Buffer& out) const override {
    char room[store::Column::room];
    const store::ColumnValue value = columns.front().value(row, room);
    if (value.kind == store::ColumnValue::Kind::no_memory) return false;
    out.append("VALUE " + std::to_string(value.size) + " ");
    out.append({value.data, value.size});
    out.push_back('\n');
    return true;
  }
};

constexpr LengthCodec length_codec;

struct Command {
  enum class Kind : std::uint8_t { get, scan, set, quiet, unknown };
  Kind kind = Kind::unknown;
  std::string_view key{};
  std::string_view argument{};
  std::size_t end_offset = 0;

  bool writes() const { return kind == Kind::set || kind == Kind::quiet; }
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
  command.key = take_word(line);
  command.argument = line;
  using enum Command::Kind;
  if (verb == "get") command.kind = get;
  if (verb == "scan") command.kind = scan;
  if (verb == "set") command.kind = set;
  if (verb == "quiet") command.kind = quiet;
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
  void depart() override {
    store_ = nullptr;
    use_ = {};
  }
  void execute(Requests& requests) override {
    net::Turn& turn = requests.turn();
    auto& protocol = static_cast<LineProtocol&>(requests.protocol());
    if (requests.gives_up_first()) {
      protocol.append_error(row_wait_timed_out, requests.out());
      requests.refused(Counter::requests_find_modify, command_at(turn.input, 0)->end_offset);
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

  FirstRequest first_request(net::Turn& turn, Protocol& protocol) override {
    const std::optional<Command> command = command_at(turn.input, 0);
    if (!command) return {};
    if (command->kind == Command::Kind::unknown) return {.kind = FirstRequest::Kind::quick};
    first_ = *command;
    return {.kind = command->writes() ? FirstRequest::Kind::write : FirstRequest::Kind::find,
            .end_offset = command->end_offset,
            .counter = counter_of(*command),
            .described = command->writes() ? "set" : "get",
            .index_key = "the table",
            .names = static_cast<LineProtocol&>(protocol).names(),
            .caller = &store::Caller::unlimited(),
            .codec = &length_codec};
  }
  Outcome execute_first(Alone& alone) override {
    const Value key{first_.key};
    if (first_.writes()) return set(first_, alone.store, alone.use, alone.out);
    const Outcome outcome =
        alone.store.find(alone.use, rows_of(first_, key), alone.out, alone.sink);
    if (outcome.ok() && first_.kind == Command::Kind::scan) alone.out.append("END\n");
    if (outcome.ok() && first_.kind == Command::Kind::get && alone.out.empty())
      alone.out.append("NONE\n");
    return outcome;
  }

 private:
  static Counter counter_of(const Command& command) {
    return command.writes() ? Counter::requests_find_modify : Counter::requests_find;
  }

  Answer answer_to(const Command& command, Requests& requests, LineProtocol& protocol) {
    Answer answer;
    answer.write = command.writes();
    answer.read = !command.writes();
    answer.counter = counter_of(command);
    answer.put_off = (answer.write && requests.runs() == Runs::all_but_writes) ||
                     (answer.read && requests.runs() == Runs::all_but_finds);
    if (answer.put_off) return answer;
    Buffer& out = requests.out();
    const Outcome outcome = perform(command, requests.store(), protocol, out);
    answer.verdict = outcome.verdict();
    answer.for_good = outcome.is_for_good();
    answer.ok = outcome.status().ok();
    if (!outcome.answered()) answer.status = outcome.status();
    if (outcome.answered() && !answer.ok) protocol.append_error(outcome.status(), out);
    return answer;
  }

  Outcome perform(const Command& command, store::Store& store, LineProtocol& protocol,
                  Buffer& out) {
    if (store_ != &store) {
      const Outcome opened =
          store.open_index(protocol.names(), store::Caller::unlimited(), length_codec, use_);
      if (!opened.ok()) return opened;
      store_ = &store;
    }
    if (command.writes()) return set(command, store, use_, out);
    const Value key{command.key};
    const std::size_t begin = out.size();
    const Outcome outcome = store.find(use_, rows_of(command, key), out, nullptr);
    if (!outcome.ok()) return outcome;
    if (command.kind == Command::Kind::scan) {
      out.append("END\n");
    } else if (out.size() == begin) {
      out.append("NONE\n");
    }
    return outcome;
  }

  // An update, and an insert if there was no such row.
  static Outcome set(const Command& command, store::Store& store, store::IndexUse& use,
                     Buffer& out) {
    const Value row[2] = {{command.argument}, {command.key}};
    const store::Selection selection{.key = {&row[1], 1}};
    store::Changed changed;
    Outcome outcome = store.modify(use, selection, {.values = {row, 1}}, out, changed);
    if (outcome.ok() && changed.rows == 0) outcome = store.insert(use, {row}, changed);
    if (outcome.ok() && command.kind == Command::Kind::set) out.append("STORED\n");
    return outcome;
  }

  const store::Store* store_ = nullptr;  // of `use_`; never dereferenced
  store::IndexUse use_;
  Command first_;
};

}  // namespace

std::unique_ptr<Dialogue> LineProtocol::open_dialogue() { return std::make_unique<LineDialogue>(); }

// Its own words for the kinds of errors that its clients tell apart, and the server's number of
// others.
void LineProtocol::append_error(Status status, Buffer& out) const {
  switch (status.kind()) {
    case Error::row_locked:
    case Error::table_locked:
    case Error::deadlock:
    case Error::conflict: out.append("ERROR locked\n"); return;
    case Error::out_of_range: out.append("ERROR too much\n"); return;
    case Error::commit_failed: out.append("ERROR not committed\n"); return;
    default: out.append("ERROR " + std::to_string(status.number()) + "\n");
  }
}

void LineProtocol::refuse(net::Refusal /*why*/, Buffer& out) const { out.append("BUSY\n"); }

}  // namespace hs::passes
