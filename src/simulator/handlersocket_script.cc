#include "simulator/handlersocket_script.h"

#include <algorithm>

namespace hs::simulator {
namespace {

constexpr std::uint64_t own_keys = 10;
// Of two further rows, to which groups alone add, and always to both.
constexpr std::uint64_t first_of_pair = 10;
constexpr std::uint64_t second_of_pair = 11;
// More rows than the kernel has room for.
constexpr std::uint64_t most_rows = 900;
constexpr std::size_t most_guesses = 40;
constexpr std::string_view listed_tables = "0\t1\th\tt\tthere";

std::string token(std::uint64_t number) { return std::to_string(number); }

}  // namespace

// Some requests have a time of their own. A find that is sent in pieces has none, because the end of its time
// may be the end of its connection.
void HandlerSocketScript::ask(Expected expected, const std::string& line) {
  using Asked = Expected::Kind;
  const bool may_have_time = expected.kind == Asked::lookup || expected.kind == Asked::count ||
                             expected.kind == Asked::group || expected.adds();
  expected.timed = may_have_time && world_.chance(20);
  if (expected.timed) {
    const std::uint64_t most_ms = world_.chance(50) ? 10 : 1000;
    bytes_ += "within\t" + token(1 + world_.below(most_ms)) + '\t';
  }
  bytes_ += line + '\n';
  expected_.push_back(expected);
}

// Without guessers, all of them are log-ins of accounts.
void HandlerSocketScript::ask_wrong() {
  if (faults_.most_wrong_tries != 0 && world_.chance(50))
    return ask({Expected::Kind::wrong_secret}, "A\t1\twrong");
  ask({Expected::Kind::wrong_log_in}, "A\t2\tuser\twrong");
}

void HandlerSocketScript::ask_right() {
  const bool by_secret = faults_.most_wrong_tries != 0 && world_.chance(50);
  ask({Expected::Kind::log_in}, by_secret ? "A\t1\tright" : "A\t2\tuser\tright");
}

// A row is added to in three ways.
void HandlerSocketScript::ask_addition(std::uint64_t key) {
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
void HandlerSocketScript::ask_group() {
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

void HandlerSocketScript::ask_more() {
  if (!bytes_.empty()) return;
  using Asked = Expected::Kind;
  if (kind_ == ClientKind::guesser) {
    for (std::size_t i = 1 + world_.below(most_guesses); i != 0; --i) ask_wrong();
  }
  if (faults_.strangers || kind_ == ClientKind::guesser) {
    if (world_.chance(20)) ask_wrong();
    ask_right();
  }
  const auto open = [&](char id) {
    const bool is_there = faults_.remote_tables && world_.chance(40);
    ask({.kind = Asked::open, .index = id},
        std::string("P\t") + id + "\tdb\t" + (is_there ? "there" : "t") + "\t\tk,v");
  };
  open('1');
  ask({.kind = Asked::shared_open, .index = '3'}, "P\t3\tdb\th\t\tv");
  // A request to an index that is not open yet is a mistake, also if its pass is executed again.
  bool seventh_is_open = false;
  const std::size_t count = 5 + world_.below(60);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t key = first_key_ + world_.below(own_keys);
    // A light client does not ask for long finds.
    const std::size_t kind = world_.below(kind_ == ClientKind::light ? 16 : 24);
    if (kind == 0) {
      ask_group();
    } else if (kind == 1) {
      ask_shared();
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
    } else if (kind == 22) {
      ask({Asked::list}, "L\tdb");
    } else if (kind == 23) {
      ask({Asked::echo, key}, "echo\t" + token(key));
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

void HandlerSocketScript::ask_shared() {
  const std::size_t number = SharedCounters::strings + world_.below(SharedCounters::rows);
  shared_.asked(number);
  ask({.kind = Expected::Kind::shared, .key = number, .index = '3'},
      "3\t=\t1\t" + SharedCounters::key(number) + "\t1\t0\t+\t1");
}

// Rows in either way, or their number.
void HandlerSocketScript::ask_for_many() {
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

// The lines of a group have no replies until it is whole.
std::size_t HandlerSocketScript::bytes_of_next(std::size_t sent) const {
  const std::size_t line_end = bytes_.find('\n', sent) + 1;
  const auto unsent_lines = std::ranges::count(std::string_view(bytes_).substr(sent), '\n');
  const bool between_lines = sent == 0 || bytes_[sent - 1] == '\n';
  const std::size_t sent_lines = expected_.size() - static_cast<std::size_t>(unsent_lines);
  const bool is_in_group = expected_.size() > sent_lines && expected_[sent_lines].is_in_group();
  return between_lines && sent_lines != 0 && !is_in_group ? 0 : line_end - sent;
}

void HandlerSocketScript::take_replies(std::string& received) {
  for (std::size_t lf = 0; (lf = received.find('\n')) != std::string::npos;) {
    check_reply(received.substr(0, lf));
    received.erase(0, lf + 1);
  }
}

std::string HandlerSocketScript::rows(const Expected& expected) const {
  std::string line = "0\t2";
  for (std::uint64_t row = 0; row < expected.limit; ++row) {
    const std::uint64_t key = expected.key + (expected.down ? expected.limit - 1 - row : row);
    const auto found = acknowledged_.find(key);
    line += "\t" + token(key) + "\t" + token(found == acknowledged_.end() ? 0 : found->second);
  }
  return line;
}

// Whether the request's own time was over. Then it was not executed.
bool HandlerSocketScript::is_out_of_time(const Expected& expected, const std::string& line) {
  if (!expected.timed || line != "1\t1\tmax_request_time") return false;
  ++timed_out_;
  if (expected.kind == Expected::Kind::group) of_group_ = line;
  return true;
}

// Whether a request has waited too long for a remote thread, or its index was not opened for that
// reason. It was not executed.
bool HandlerSocketScript::is_late_reply(const Expected& expected, const std::string& line) {
  using Asked = Expected::Kind;
  const bool is_open = expected.kind == Asked::open || expected.kind == Asked::shared_open;
  const bool uses_index = expected.kind == Asked::lookup || expected.kind == Asked::shared ||
                          expected.adds() || expected.kind == Asked::long_find ||
                          expected.kind == Asked::count || expected.kind == Asked::group ||
                          expected.is_in_group();
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
bool HandlerSocketScript::is_of_undone_group(const Expected& expected, const std::string& line) {
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

void HandlerSocketScript::check_addition(const Expected& expected, const std::string& line) {
  const bool is_upsert = expected.kind == Expected::Kind::upsert;
  require(line == (is_upsert ? std::string("0\t2\tupdated\t\0", 13) : "0\t1\t1"),
          "an addition was answered " + line);
  const std::uint64_t acknowledged = ++acknowledged_[expected.key];
  const auto stored = committed_.find(expected.key);
  require(stored != committed_.end() && stored->second >= acknowledged,
          "an addition was acknowledged before its commit");
}

void HandlerSocketScript::check_reply(const std::string& line) {
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
  if (is_out_of_time(expected, line)) return;
  if (is_late_reply(expected, line)) {
    if (expected.kind == Asked::shared) shared_.refused(expected.key);
    return;
  }
  if (is_of_undone_group(expected, line)) return;
  switch (expected.kind) {
    case Asked::shared_open:
    case Asked::open: return require(line == "0\t1", "P was answered " + line);
    case Asked::log_in:
      may_be_strange_ = false;
      return require(line == "0\t1", "a log-in was answered " + line);
    case Asked::wrong_log_in:
      return require(line == "1\t1\t1045", "a wrong password was answered " + line);
    case Asked::wrong_secret:
      wrong_tries_.add(address_, connected_at_, world_.now());
      return require(line == "3\t1\tunauth", "a wrong secret was answered " + line);
    case Asked::list: return require(line == listed_tables, "a list was answered " + line);
    case Asked::echo:
      return require(line == "0\t1\t" + token(expected.key), "an echo was answered " + line);
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
    case Asked::shared:
      if (commit_failed) return shared_.refused(expected.key);
      require(line == "0\t1\t1", "a shared addition was answered " + line);
      return shared_.acknowledged(expected.key, std::nullopt);
    case Asked::addition:
    case Asked::upsert:
      if (!commit_failed) check_addition(expected, line);
      return;
    case Asked::group_addition: return check_addition(expected, line);
  }
}

void HandlerSocketScript::check_end() const {
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

std::string HandlerSocketScript::story() const { return "rows from " + token(first_key_); }

}  // namespace hs::simulator
