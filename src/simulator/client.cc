#include "simulator/client.h"

#include <algorithm>

#include "net/scrambled_filter.h"

namespace hs::simulator {
namespace {

constexpr std::uint64_t own_keys = 10;
// Of two further rows, to which groups alone add, and always to both.
constexpr std::uint64_t first_of_pair = 10;
constexpr std::uint64_t second_of_pair = 11;
constexpr std::uint64_t longest_stall_ns = 300'000'000;
constexpr std::uint64_t longest_silence_ns = 2'000'000'000;
// More rows than the kernel has room for.
constexpr std::uint64_t most_rows = 900;
constexpr std::size_t kept_of_replies = 600;
constexpr std::size_t most_guesses = 40;

std::string token(std::uint64_t number) { return std::to_string(number); }

}  // namespace

Client::Client(World& world, const Faults& faults, const Rows& committed, WrongTries& wrong_tries,
               Kind kind, std::uint64_t first_key, std::function<std::shared_ptr<Socket>()> connect)
    : world_(world),
      faults_(faults),
      committed_(committed),
      wrong_tries_(wrong_tries),
      kind_(kind),
      first_key_(first_key),
      connect_(std::move(connect)),
      scrambles_(kind != Kind::light && world.chance(faults.scrambled)),
      may_be_strange_(faults.strangers) {
  write_script();
}

void Client::ask(const Expected& expected, const std::string& line) {
  expected_.push_back(expected);
  script_ += line + '\n';
}

// Without guessers, all of them are log-ins of accounts.
void Client::ask_wrong() {
  if (faults_.most_wrong_tries != 0 && world_.chance(50))
    return ask({Expected::Kind::wrong_secret}, "A\t1\twrong");
  ask({Expected::Kind::wrong_log_in}, "A\t2\tuser\twrong");
}

void Client::ask_right() {
  const bool by_secret = faults_.most_wrong_tries != 0 && world_.chance(50);
  ask({Expected::Kind::log_in}, by_secret ? "A\t1\tright" : "A\t2\tuser\tright");
}

// A row is added to in three ways.
void Client::ask_addition(std::uint64_t key) {
  const std::string find = "1\t=\t1\t" + token(key) + "\t1\t0\t";
  switch (world_.below(3)) {
    case 0: return ask({Expected::Kind::addition, key}, find + "+\t1");
    case 1: return ask({Expected::Kind::addition, key}, find + "set\t1\t1\t+\t1");
    default:
      ask({Expected::Kind::upsert, key},
          "1\tinsert\t1\t1\t" + token(key) + "\telse\tupdate\t1\t1\t+\t1");
  }
}

// Some groups only look at a row. Some have a last line that makes them fail.
void Client::ask_group() {
  using Asked = Expected::Kind;
  const std::uint64_t first = first_key_ + first_of_pair;
  const std::uint64_t second = first_key_ + second_of_pair;
  const auto find = [](std::uint64_t key) { return "1\t=\t1\t" + token(key); };
  if (world_.chance(20)) {
    ask({.kind = Asked::group, .key = first}, "G\t1");
    ask({.kind = Asked::group_lookup, .key = first}, find(first));
    return;
  }
  const auto addition = [&](std::uint64_t key) { return find(key) + "\t1\t0\tset\t1\t1\t+\t1"; };
  const bool fails = world_.chance(30);
  ask({.kind = Asked::group, .key = first, .fails = fails}, fails ? "G\t4" : "G\t3");
  ask({.kind = Asked::group_addition, .key = first}, "some\t" + addition(first));
  ask({.kind = Asked::group_lookup, .key = first}, find(first));
  ask({.kind = Asked::group_addition, .key = second}, addition(second));
  if (fails) {
    const std::string lock = find(first) + "\t1\t0\tlock";
    ask({.kind = Asked::group_lookup, .key = first},
        world_.chance(50) ? "none\t" + lock : addition(first_key_ + own_keys - 1));
    return;
  }
  ++asked_[first];
  ++asked_[second];
}

void Client::write_script() {
  using Asked = Expected::Kind;
  if (kind_ == Kind::guesser) {
    for (std::size_t i = 1 + world_.below(most_guesses); i != 0; --i) ask_wrong();
  }
  if (faults_.strangers || kind_ == Kind::guesser) {
    if (world_.chance(20)) ask_wrong();
    ask_right();
  }
  const auto open = [&](char id) {
    const bool is_there = faults_.remote_tables && world_.chance(40);
    ask({.kind = Asked::open, .index = id},
        std::string("P\t") + id + "\tdb\t" + (is_there ? "there" : "t") + "\t\tk,v");
  };
  open('1');
  // A request to an index that is not open yet is a mistake, also if its pass is executed again.
  bool seventh_is_open = false;
  const std::size_t count = 5 + world_.below(60);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t key = first_key_ + world_.below(own_keys);
    // A light client does not ask for long finds.
    const std::size_t kind = world_.below(kind_ == Kind::light ? 16 : 22);
    if (kind < 2) {
      ask_group();
    } else if (kind < 9) {
      ++asked_[key];
      ask_addition(key);
    } else if (kind < 16) {
      ask({Asked::lookup, key}, "1\t=\t1\t" + token(key));
    } else if (kind < 19) {
      ask_for_many();
    } else if (kind == 20) {
      ask_right();
    } else if (kind == 21) {
      ask_wrong();
    } else if (seventh_is_open) {
      ask({.kind = Asked::lookup, .key = key, .index = '7'}, "7\t=\t1\t" + token(key));
    } else if (world_.chance(50)) {
      seventh_is_open = true;
      open('7');
    } else {
      ask({Asked::mistake}, "7\t=\t1\t1");
    }
  }
}

// Rows in either way, or their number.
void Client::ask_for_many() {
  using Asked = Expected::Kind;
  const std::uint64_t limit = 1 + world_.below(world_.chance(20) ? most_rows : 120);
  const std::string range = "\t0\t>=\t" + token(first_key_) + "\t<\t" + token(first_key_ + limit);
  const std::string from = "1\t>=\t1\t" + token(first_key_) + "\t" + token(limit);
  switch (world_.below(5)) {
    case 0: return ask({Asked::count, first_key_, limit}, from + "\tC");
    case 1: return ask({Asked::count, first_key_, limit}, "1\tdown" + range + "\tC");
    case 2:
      return ask({.kind = Asked::long_find, .key = first_key_, .limit = limit, .down = true},
                 "1\tdown" + range + "\t" + token(most_rows));
    default: return ask({Asked::long_find, first_key_, limit}, from);
  }
}

bool Client::step() {
  if (done() || stalled_until_ > world_.now()) return false;
  if (state_ == State::connecting) {
    socket_ = connect_();
    connected_at_ = world_.now();
    state_ = State::talking;
    if (may_be_strange_ && world_.chance(20))
      stalled_until_ = world_.now() + world_.below(longest_silence_ns);
    return true;
  }
  if (world_.chance(faults_.reset)) return vanish();
  if (kind_ != Kind::light && world_.chance(faults_.stall)) {
    stalled_until_ = world_.now() + world_.below(longest_stall_ns);
    return true;
  }
  return world_.chance(50) ? send_some() || read_some() : read_some() || send_some();
}

bool Client::send_some() {
  if (state_ != State::talking || socket_->server_closed) return false;
  if (scrambles_ && hello_sent_ < net::ScrambledFilter::hello.size()) return greet();
  if (sent_ == script_.size()) {
    // The client may finish before the last replies or long after them.
    if (!expected_.empty() && !world_.chance(5)) return false;
    socket_->client_finished = true;
    state_ = State::finishing;
    return true;
  }
  std::size_t rest = script_.size() - sent_;
  if (kind_ == Kind::light) {
    const std::size_t line_end = script_.find('\n', sent_) + 1;
    const auto unsent_lines = std::ranges::count(std::string_view(script_).substr(sent_), '\n');
    const bool between_lines = sent_ == 0 || script_[sent_ - 1] == '\n';
    // The lines of a group have no replies until it is whole.
    const std::size_t sent_lines = expected_.size() - static_cast<std::size_t>(unsent_lines);
    const bool is_in_group = expected_.size() > sent_lines && expected_[sent_lines].is_in_group();
    if (between_lines && sent_lines != 0 && !is_in_group) return false;
    rest = line_end - sent_;
  }
  const std::size_t most = world_.chance(30) ? rest : std::min<std::size_t>(rest, 40);
  const std::size_t size = 1 + world_.below(most);
  std::string bytes = script_.substr(sent_, size);
  if (scrambles_) net::ScrambledFilter::scramble(bytes);
  socket_->in_flight += bytes;
  sent_ += size;
  return true;
}

// What comes behind the hello may follow it at once, before it is answered.
bool Client::greet() {
  const std::string_view hello = net::ScrambledFilter::hello;
  const std::size_t size = 1 + world_.below(hello.size() - hello_sent_);
  socket_->in_flight += hello.substr(hello_sent_, size);
  hello_sent_ += size;
  return true;
}

void Client::take_replies(std::string bytes) {
  if (scrambles_) {
    const std::string_view welcome = net::ScrambledFilter::welcome;
    const std::size_t size = std::min(bytes.size(), welcome.size() - welcome_read_);
    require(bytes.substr(0, size) == welcome.substr(welcome_read_, size),
            "the handshake was answered " + bytes);
    welcome_read_ += size;
    bytes.erase(0, size);
    net::ScrambledFilter::scramble(bytes);
  }
  received_ += bytes;
  last_replies_ += bytes;
}

bool Client::read_some() {
  if (socket_->replies.empty()) return end_if_server_has();
  const std::size_t size = 1 + world_.below(socket_->replies.size());
  take_replies(socket_->replies.substr(0, size));
  if (last_replies_.size() > kept_of_replies)
    last_replies_.erase(0, last_replies_.size() - kept_of_replies);
  socket_->replies.erase(0, size);
  const bool was_full = socket_->room == 0;
  socket_->room = Socket::most_replies - socket_->replies.size();
  if (was_full) world_.notify(*socket_);
  for (std::size_t lf = 0; (lf = received_.find('\n')) != std::string::npos;) {
    check_reply(received_.substr(0, lf));
    received_.erase(0, lf + 1);
  }
  return true;
}

std::string Client::rows(const Expected& expected) const {
  std::string line = "0\t2";
  for (std::uint64_t row = 0; row < expected.limit; ++row) {
    const std::uint64_t key = expected.key + (expected.down ? expected.limit - 1 - row : row);
    const auto found = acknowledged_.find(key);
    line += "\t" + token(key) + "\t" + token(found == acknowledged_.end() ? 0 : found->second);
  }
  return line;
}

// Whether a request has waited too long for a remote thread, or its index was not opened for that
// reason. It was not executed.
bool Client::is_late_reply(const Expected& expected, const std::string& line) {
  using Asked = Expected::Kind;
  const bool is_open = expected.kind == Asked::open;
  const bool uses_index = expected.kind == Asked::lookup || expected.adds() ||
                          expected.kind == Asked::long_find || expected.kind == Asked::count ||
                          expected.kind == Asked::group || expected.is_in_group();
  if (uses_index && not_opened_.find(expected.index) != not_opened_.npos) {
    if (expected.kind == Asked::group) {
      // A failed commit stands in place of all replies to its pass's writes.
      if (faults_.commit_fails != 0 && line == "1\t1\t1180") {
        of_group_ = line;
        return true;
      }
      of_group_ = "2\t1\tstmtnum";
      require(line == "1\t2\tundone\t1", "a group without its index was answered " + line);
      return true;
    }
    if (expected.is_in_group() && is_of_undone_group(expected, line)) return true;
    require(line == "2\t1\tstmtnum", "a request without its index was answered " + line);
    return true;
  }
  if (line != "1\t1\t1205" || !(is_open || uses_index)) return false;
  require(faults_.remote_patience_ms != 0, "a request has waited too long by itself");
  if (!expected.is_in_group()) ++waited_too_long_;
  if (expected.kind == Asked::group) of_group_ = line;
  if (is_open) not_opened_ += expected.index;
  return true;
}

// A line of a group that was undone as a whole has the same error as its first line. If a line has failed,
// it has its own error, and the others are undone.
bool Client::is_of_undone_group(const Expected& expected, const std::string& line) {
  if (!expected.is_in_group() || of_group_.empty()) return false;
  const bool is_last = expected_.empty() || !expected_.front().is_in_group();
  const bool may_be_unmet = of_group_ == "fails";
  if (may_be_unmet) {
    require(is_last ? line == "1\t1\tunmet" || line == "1\t1\t1178" : line == "1\t1\tundone",
            "a line of a group that fails was answered " + line);
  } else {
    require(line == of_group_ || (of_group_ == "2\t1\tstmtnum" && line == "1\t1\tundone"),
            "a line of a group was answered " + line + " and its first line " + of_group_);
  }
  return true;
}

void Client::check_addition(const Expected& expected, const std::string& line) {
  const bool is_upsert = expected.kind == Expected::Kind::upsert;
  require(line == (is_upsert ? std::string("0\t2\tupdated\t\0", 13) : "0\t1\t1"),
          "an addition was answered " + line);
  const std::uint64_t acknowledged = ++acknowledged_[expected.key];
  const auto stored = committed_.find(expected.key);
  require(stored != committed_.end() && stored->second >= acknowledged,
          "an addition was acknowledged before its commit");
}

void Client::check_reply(const std::string& line) {
  using Asked = Expected::Kind;
  require(!expected_.empty(), "a reply that nobody asked for: " + line);
  if (line == "1\t1\tmax_waiting_bytes") {
    return require(may_be_ended(), "there was no room for a client that holds little");
  }
  const Expected expected = expected_.front();
  expected_.pop_front();
  const bool commit_failed = line == "1\t1\t1180";
  require(!commit_failed || faults_.commit_fails != 0, "a commit failed by itself");
  if (!expected.is_in_group()) of_group_.clear();
  if (is_late_reply(expected, line)) return;
  if (is_of_undone_group(expected, line)) return;
  switch (expected.kind) {
    case Asked::open: return require(line == "0\t1", "P was answered " + line);
    case Asked::log_in:
      may_be_strange_ = false;
      return require(line == "0\t1", "a log-in was answered " + line);
    case Asked::wrong_log_in:
      return require(line == "1\t1\t1045", "a wrong password was answered " + line);
    case Asked::wrong_secret:
      wrong_tries_.add(socket_->client_address, connected_at_, world_.now());
      return require(line == "3\t1\tunauth", "a wrong secret was answered " + line);
    case Asked::mistake: return require(line == "2\t1\tstmtnum", "a mistake was answered " + line);
    case Asked::lookup:
    case Asked::long_find: {
      // It may have seen writes that were not committed.
      if (commit_failed) return;
      const std::string wanted = rows(expected);
      return require(line == wanted,
                     "a find was answered\n  " + line + "\nin place of\n  " + wanted);
    }
    case Asked::count:
      return require(commit_failed || line == "0\t1\t" + token(expected.limit),
                     "a count of " + token(expected.limit) + " rows was answered " + line);
    case Asked::group:
      if (commit_failed) {
        of_group_ = line;
        return;
      }
      if (expected.fails) of_group_ = "fails";
      return require(line == (expected.fails ? "1\t2\tundone\t4" : "0\t1"),
                     "a group was answered " + line);
    case Asked::group_lookup: {
      const std::string wanted = rows(expected);
      return require(line == wanted, "a find of a group was answered " + line);
    }
    case Asked::addition:
    case Asked::upsert:
      if (!commit_failed) check_addition(expected, line);
      return;
    case Asked::group_addition: return check_addition(expected, line);
  }
}

// The client goes without an end of file. What it has sent may have been executed or not.
bool Client::vanish() {
  socket_->reset = true;
  socket_->in_flight.clear();
  socket_->arrived.clear();
  world_.notify(*socket_);
  state_ = State::done;
  return true;
}

bool Client::end_if_server_has() {
  if (!socket_->server_finished && !socket_->server_closed) return false;
  require(may_be_ended() || (state_ == State::finishing && expected_.empty()),
          "the server closed a connection that it had " + token(expected_.size()) + " answers for");
  socket_->client_finished = true;
  state_ = State::done;
  return true;
}

bool Client::may_be_ended() const {
  return faults_.no_memory != 0 || faults_.closes != 0 || may_be_strange_ ||
         (faults_.little_room && kind_ != Kind::light);
}

void Client::check_rows() const {
  const auto stored_of = [&](std::uint64_t key) {
    const auto found = committed_.find(first_key_ + key);
    return found == committed_.end() ? 0 : found->second;
  };
  require(stored_of(first_of_pair) == stored_of(second_of_pair), "a group was done by half");
  for (const auto& [key, asked] : asked_) {
    const auto found = committed_.find(key);
    const std::uint64_t stored = found == committed_.end() ? 0 : found->second;
    const auto known = acknowledged_.find(key);
    const std::uint64_t acknowledged = known == acknowledged_.end() ? 0 : known->second;
    require(acknowledged <= stored && stored <= asked,
            "row " + token(key) + " was added to " + token(stored) + " times: " +
                token(acknowledged) + " were acknowledged, " + token(asked) + " asked for");
    require(!expected_.empty() || faults_.commit_fails != 0 || stored == acknowledged,
            "row " + token(key) + " was added to without an answer");
  }
}

std::string Client::story() const {
  return "rows from " + token(first_key_) + ", " + token(sent_) + " of " + token(script_.size()) +
         " bytes sent, " + token(expected_.size()) +
         " answers to come, the last bytes read were\n" + last_replies_;
}

}  // namespace hs::simulator
