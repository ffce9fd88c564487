// The application of the other tests of this folder.
#include "net/test_support.h"

#include <algorithm>
#include <charconv>
#include <new>
#include <thread>

#include "net/shared.h"

namespace hs::net::test {
namespace {

struct LineDialogue final : Dialogue {
  LineDialogue(Board& shared_board, const bool& application_stopped, std::size_t of_port)
      : board(shared_board), stopped(&application_stopped), port(of_port) {
    ++board.dialogues;
    most_waiting = board.most_waiting;
  }
  ~LineDialogue() override {
    if (home == std::thread::id{}) {
      // it has departed, and had no turn since
    } else if (std::this_thread::get_id() != home) {
      ++board.strange_dialogues;
    } else if (*stopped) {
      ++board.late_dialogues;
    }
    --board.dialogues;
  }
  std::string_view user() const override { return "somebody"; }
  std::size_t whole_requests(std::string_view input) const override {
    return input.rfind('\n') + 1;
  }
  std::string_view foreign_protocol(std::string_view begin) const override {
    return begin.starts_with("foreign\n") ? "something else" : "";
  }
  void refuse(Refusal why, Buffer& out) const override {
    if (why == Refusal::foreign) return out.append("wrong port\n");
    out.append(why == Refusal::no_room ? "no room\n" : "no TLS\n");
  }
  void depart() override {
    if (home != std::thread::id{} && home != std::this_thread::get_id()) ++board.strange_dialogues;
    ++board.departures;
    home = {};
  }
  void arrive(const bool& application_stopped) {
    if (home != std::thread::id{}) return;
    home = std::this_thread::get_id();
    stopped = &application_stopped;
  }

  Board& board;
  const bool* stopped;
  const std::size_t port;
  std::thread::id home = std::this_thread::get_id();
  std::size_t rest = 0;    // bytes left in the last turn, if that turn ended with `wait`
  std::size_t pieces = 0;  // so many pieces of the parked long find are sent
  std::atomic<bool> has_turn{false};
};

// A turn of a dialogue. Notes on the board if another turn of the dialogue is at work.
class OnlyTurn {
 public:
  explicit OnlyTurn(Dialogue& dialogue) : dialogue_(static_cast<LineDialogue&>(dialogue)) {
    if (dialogue_.has_turn.exchange(true)) ++dialogue_.board.shared_dialogues;
  }
  ~OnlyTurn() { dialogue_.has_turn = false; }
  OnlyTurn(const OnlyTurn&) = delete;
  OnlyTurn& operator=(const OnlyTurn&) = delete;

 private:
  LineDialogue& dialogue_;
};

std::size_t number(std::string_view text) {
  std::size_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// What the applications of all threads have in common.
template <class Base>
class LineApplication : public Base {
 public:
  LineApplication(Board& board, Role role, ThreadCounters& counters)
      : board_(board), role_(role), counters_(counters) {}

  bool start() override {
    allocations_may_fail = true;
    number_ = ++board_.started;
    if (role_ == Role::waiter) ++board_.waiters_made;
    return board_.can_start;
  }
  void stop() override {
    stopped_ = true;
    ++board_.stopped;
  }
  bool keep_running() override {
    if (board_.leaver == number_) return false;
    return role_ == Role::worker ? board_.run_worker : board_.run_streamer;
  }
  void idle() override { ++board_.idles; }
  void answer_late(Turn& turn, Buffer& out) override {
    const OnlyTurn only(*turn.dialogue);
    if (board_.late_throws) throw std::bad_alloc();
    if (!turn.on_remote_thread) ++board_.wrongly_late;
    turn.answered.add(RequestKind::find);
    answer_remote(turn, role_ == Role::worker ? "late" : "late there", out);
  }

 protected:
  static void answer_remote(Turn& turn, std::string_view answer, Buffer& out) {
    const std::size_t lf = turn.input.find('\n');
    out.append(answer);
    out.push_back('\n');
    turn.consumed = lf + 1;
    turn.next = Next::again;
  }

  void hold() {
    const std::size_t hold = ++board_.holding;
    eventually([this, hold] { return board_.holds_over >= hold; });
  }

  bool is_free(std::string_view line) const {
    return (board_.open_locks >> number(line.substr(line.find(' ') + 1)) & 1) != 0;
  }

  bool open_gate(Turn& turn) {
    ++board_.gate_turns;
    const std::uint64_t since = turn.consumed == 0 ? turn.blocked_since : 0;
    if (board_.gate_since.exchange(since) != since) ++board_.gate_since_changes;
    if (!board_.gate_open) turn.next = Next::retry;
    return board_.gate_open;
  }

  Board& board_;
  const Role role_;
  ThreadCounters& counters_;
  std::size_t number_ = 0;
  bool stopped_ = false;
};

class LineWorker final : public LineApplication<WorkerApplication> {
 public:
  LineWorker(Board& board, std::size_t crew, ThreadCounters& counters)
      : LineApplication(board, Role::worker, counters), crew_(crew) {}

  std::unique_ptr<Dialogue> open_dialogue(std::size_t port) override {
    return std::make_unique<LineDialogue>(board_, stopped_, port);
  }

  bool read_first(std::span<Turn> turns, Buffer& out) override {
    ++board_.passes;
    lines_left_ = board_.lines_of_a_pass;
    if (board_.keeps_half) lines_left_ /= 2;
    for (Turn& turn : turns) {
      turn.put_off =
          !only_reads() && (board_.takes_more || turn.input.find("write ") != turn.input.npos ||
                            (board_.keeps_half && lines_left_ == 0));
      if (!turn.put_off) run_turn(turn, out);
    }
    if (board_.keeps_half) lines_left_ += board_.lines_of_a_pass / 2;
    return std::ranges::any_of(turns, &Turn::put_off);
  }
  void execute(std::span<Turn> turns, std::size_t first, Buffer& out) override {
    for (Turn& turn : turns.subspan(first)) {
      if (first != 0 || turn.put_off) run_turn(turn, out);
    }
  }
  bool takes_more() override { return board_.takes_more; }
  void end_pass(std::span<Turn>, Buffer&) override {}
  void release() override {
    eventually([this] { return board_.release_over.load(); });
    ++board_.releases;
  }

 private:
  void run_turn(Turn& turn, Buffer& out) {
    const OnlyTurn only(*turn.dialogue);
    auto& dialogue = static_cast<LineDialogue&>(*turn.dialogue);
    dialogue.arrive(stopped_);
    if (turn.scanned != dialogue.rest) ++board_.wrongly_scanned;
    turn.reply_begin = out.size();
    turn.next = Next::wait;
    std::size_t lines = 0;
    while (true) {
      const std::size_t lf = turn.input.find('\n', turn.consumed);
      if (lf == std::string_view::npos) break;
      if (lines++ == board_.lines_a_pass || lines_left_ == 0) {
        turn.next = Next::again;
        break;
      }
      const std::string_view line = turn.input.substr(turn.consumed, lf - turn.consumed);
      if (!run_line(turn, line, out)) break;
      ++board_.requests;
      turn.answered.add(line.starts_with("write ") ? RequestKind::insert : RequestKind::find);
      --lines_left_;
      turn.consumed = lf + 1;
      if (turn.next == Next::close) break;
    }
    if (turn.oversized && turn.consumed == 0) {
      out.append("too large\n");
      turn.consumed = turn.input.size();
      turn.next = Next::close;
    }
    turn.reply_end = out.size();
    dialogue.rest = turn.next == Next::wait ? turn.input.size() - turn.consumed : 0;
  }

  bool only_reads() const { return crew_ == board_.reading_crew; }

  // False: not yet.
  bool run_line(Turn& turn, std::string_view line, Buffer& out) {
    if (line.starts_with("write ")) {
      line.remove_prefix(6);
      if (only_reads()) turn.next = Next::write;
      if (only_reads()) return false;
    }
    const bool streams = line.starts_with("stream ");
    if (streams || line.starts_with("remote")) {
      const std::uint64_t time = std::uint64_t{board_.deadline_ms} * ms;
      turn.deadline = time == 0 ? 0 : turn.arrived_at + time;
      turn.next = streams ? Next::stream : Next::remote;
      return false;
    }
    if (line.starts_with("lock ")) {
      turn.next = Next::in_line;
      return false;
    }
    if (line.starts_with("ask ")) {
      if (!is_free(line)) turn.next = Next::queue;
      if (!is_free(line)) return false;
      line = "got";
    }
    if (line == "gate" && !open_gate(turn)) return false;
    if (line.starts_with("big ")) {
      const std::size_t size = number(line.substr(4));
      std::memset(out.reserve(size), 'b', size);
      out.advance(size);
    } else if (line == "who") {
      out.append(std::to_string(number_));
    } else if (line == "port") {
      out.append(std::to_string(static_cast<LineDialogue&>(*turn.dialogue).port));
    } else if (line == "pass") {
      out.append(std::to_string(board_.passes.load()));
    } else if (line == "hold") {
      hold();
      out.append("held");
    } else if (line == "known") {
      turn.dialogue->most_waiting = Dialogue::no_limit;
      out.append(line);
    } else if (line == "close") {
      out.append("bye");
      turn.next = Next::close;
    } else {
      out.append(line == "gate" ? "passed" : line);
    }
    out.push_back('\n');
    return true;
  }

  const std::size_t crew_;
  std::size_t lines_left_ = 0;  // of this pass
};

class LineStreamer final : public LineApplication<StreamerApplication> {
 public:
  using LineApplication::LineApplication;

  bool killed() override { return board_.killed; }
  void run_stream(Turn& turn, Buffer& out, Stream& stream) override {
    const OnlyTurn only(*turn.dialogue);
    if (turn.on_remote_thread) {
      if (turn.input.starts_with("remote hold\n")) hold();
      return answer_remote(turn, "remote", out);
    }
    if (role_ == Role::waiter) return wait_for_lock(turn, out);
    const std::size_t lf = turn.input.find('\n');
    const std::string_view arguments = turn.input.substr(7, lf - 7);
    const std::size_t blank = arguments.find(' ');
    const std::string piece(number(arguments.substr(blank + 1)), 's');
    if (arguments.ends_with(" gate") && !open_gate(turn)) return;
    if (arguments.ends_with(" quiet")) return stay_quiet(turn, stream);
    const bool parks = arguments.find(" parks") != arguments.npos;
    std::size_t& pieces = static_cast<LineDialogue&>(*turn.dialogue).pieces;
    turn.next = Next::again;
    board_.streaming = true;
    while (pieces < number(arguments) && turn.next == Next::again) {
      out.append(piece);
      ++pieces;
      const Stream::Sent sent = stream.send(out, parks);
      if (sent == Stream::Sent::ended) turn.next = Next::close;
      if (sent == Stream::Sent::stalled) turn.next = Next::stream;
    }
    board_.streaming = false;
    if (turn.next == Next::stream) {
      ++board_.parked;
      return;
    }
    pieces = 0;
    turn.consumed = lf + 1;
    counters_.of(turn.port).add(Counter::long_finds);
    turn.answered.add(RequestKind::find);
    if (turn.next == Next::again) out.append("end\n");
  }

 private:
  void wait_for_lock(Turn& turn, Buffer& out) {
    const std::size_t lf = turn.input.find('\n');
    const std::string_view line = turn.input.substr(0, lf);
    ++board_.waiters;
    for (int looks = 0; looks < 100 && !is_free(line); ++looks)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --board_.waiters;
    // Its worker can ask again, or only a waiter can.
    turn.next = line.starts_with("ask ") ? Next::retry : Next::in_line;
    if (!is_free(line)) return;
    out.append("got\n");
    turn.consumed = lf + 1;
    turn.next = Next::again;
  }

  void stay_quiet(Turn& turn, Stream& stream) {
    board_.streaming = true;
    eventually([&] { return stream.must_end(); });
    board_.streaming = false;
    turn.next = Next::close;
  }
};

}  // namespace

bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

ApplicationFactory line_application(Board& board) {
  const auto can_make = [&board] {
    if (board.cannot_be_made) throw std::runtime_error("no memory for a thread");
    return !board.host_shuts_down;
  };
  return {
      .make_worker = [=, &board](std::size_t crew,
                                 ThreadCounters& counters) -> std::unique_ptr<WorkerApplication> {
        return can_make() ? std::make_unique<LineWorker>(board, crew, counters) : nullptr;
      },
      .make_streamer = [=, &board](std::size_t /*crew*/, Role role, ThreadCounters& counters)
          -> std::unique_ptr<StreamerApplication> {
        return can_make() ? std::make_unique<LineStreamer>(board, role, counters) : nullptr;
      }};
}

std::size_t Log::size() {
  const std::lock_guard lock(mutex);
  return lines.size();
}

bool Log::contains(std::string_view text) {
  const std::lock_guard lock(mutex);
  return std::ranges::any_of(
      lines, [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

ServerConfig counted_by(CounterSet& counters, ServerConfig config) {
  for (PortConfig& port : config.ports) {
    if (port.counters == nullptr) port.counters = &counters;
  }
  return config;
}

Fixture::Fixture(ServerConfig config)
    : server(counted_by(counters, std::move(config)), line_application(board),
             [this](LogLevel level, const std::string& line) {
               const std::lock_guard lock(log.mutex);
               log.lines.push_back((level == LogLevel::error ? "[error] " : "[warning] ") + line);
             }) {}

ServerConfig Fixture::loopback() {
  ServerConfig config;
  config.ports.push_back({.port = "0", .protocol = "lines"});
  return config;
}

}  // namespace hs::net::test
