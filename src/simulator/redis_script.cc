#include "simulator/redis_script.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "simulator/faulty_rows.h"

namespace hs::simulator {
namespace {

constexpr std::string_view ok = "+OK\r\n";
constexpr std::string_view null = "$-1\r\n";
constexpr std::string_view queued = "+QUEUED\r\n";
constexpr std::uint64_t ms_per_second = 1000;

std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}
std::string bulk_of(const Cell& cell) { return cell ? bulk(*cell) : std::string(null); }
std::string integer(std::uint64_t number) { return ":" + std::to_string(number) + "\r\n"; }
std::string array(std::size_t size) { return "*" + std::to_string(size) + "\r\n"; }

std::string sum_of(const std::string& text, std::uint64_t by) {
  return std::to_string(number_of(text) + by);
}

// A column's sum, if it is a number. False: it is none.
bool add_to(Cell& cell, std::uint64_t by) {
  if (cell && !is_number(*cell)) return false;
  cell = sum_of(cell.value_or("0"), by);
  return true;
}

// The columns of a row are rounded up to whole seconds.
void expire_after(OwnItem& item, std::uint64_t ms, const Executed& how) {
  item.first_expiry = how.earliest_ms + ms;
  item.last_expiry = (how.latest_ms + ms + ms_per_second) / ms_per_second * ms_per_second;
}

}  // namespace

void RedisScript::ask_words(Words words, Asked asked) {
  std::string request = array(words.size());
  for (const std::string_view word : words) request += bulk(word);
  ask(request, std::move(asked));
}

void RedisScript::ask_own(Words words, OwnThings::Execute execute) {
  ask_words(words, {.own = std::move(execute)});
}

void RedisScript::ask_plain(Words words, std::string_view answer) {
  const auto check = [name = std::string(*words.begin()), answer](std::string_view reply) {
    require(reply == answer, name + " was answered " + std::string(reply));
  };
  ask_words(words, {.on_reply = check, .touches_rows = false});
}

void RedisScript::ask_log_in() {
  if (world_.chance(20)) {
    ask_plain({"AUTH", "user", "wrong"},
              "-WRONGPASS invalid username-password pair or user is disabled.\r\n");
  }
  const auto check = [this](std::string_view reply) {
    require(reply == ok, "AUTH was answered " + std::string(reply));
    is_logged_in();
  };
  ask_words({"AUTH", "user", "right"}, {.on_reply = check, .touches_rows = false});
}

void RedisScript::ask_burst(std::size_t most) {
  if (watched_) ask_watched();
  for (std::size_t i = 0; i < most; ++i) {
    switch (world_.below(10)) {
      case 0:
      case 1:
      case 2: ask_hash(); break;
      case 3:
      case 4:
      case 5: ask_string(); break;
      case 6: ask_expiry(); break;
      case 7: ask_many(); break;
      case 8: ask_transaction(); break;
      default: ask_shared(); break;
    }
  }
  if (world_.chance(20)) ask_to_watch();
}

// One row.
void RedisScript::ask_hash() {
  const std::string key = row_key();
  const std::string named = "db.h:" + key;
  const std::string number = std::to_string(world_.below(100));
  const std::string text = world_.chance(50) ? number : "text" + number;
  switch (world_.below(9)) {
    case 0:
    case 1:
      return ask_own({"HSET", named, "v", number, "s", text},
                     [=](OwnState& state, const Executed&) {
                       const OwnRow before = state.rows[key];
                       state.rows[key] = {.v = number, .s = text};
                       return integer((before.v ? 0U : 1U) + (before.s ? 0U : 1U));
                     });
    case 2:
      return ask_own({"HGETALL", named}, [=](OwnState& state, const Executed&) {
        const auto row = state.rows.find(key);
        if (row == state.rows.end()) return array(0);
        const auto& [v, s] = row->second;
        std::string fields = bulk("k") + bulk(key);
        if (v) fields += bulk("v") + bulk(*v);
        if (s) fields += bulk("s") + bulk(*s);
        return array(2 + (v ? 2 : 0) + (s ? 2 : 0)) + fields;
      });
    case 3:
      return ask_own({"HMGET", named, "s", "v", "none"}, [=](OwnState& state, const Executed&) {
        const auto row = state.rows.find(key);
        const OwnRow found = row == state.rows.end() ? OwnRow{} : row->second;
        return array(3) + bulk_of(found.s) + bulk_of(found.v) + std::string(null);
      });
    case 4:
    case 5: {
      const bool is_text = world_.chance(40);
      return ask_own({"HINCRBY", named, is_text ? "s" : "v", "3"},
                     [=](OwnState& state, const Executed&) -> std::string {
                       OwnRow row = state.rows.contains(key) ? state.rows[key] : OwnRow{};
                       Cell& cell = is_text ? row.s : row.v;
                       if (!add_to(cell, 3)) return "-ERR hash value is not an integer\r\n";
                       state.rows[key] = row;
                       return ":" + *cell + "\r\n";
                     });
    }
    case 6:
      return ask_own({"HSETNX", named, "v", number}, [=](OwnState& state, const Executed&) {
        Cell& cell = state.rows[key].v;
        if (cell) return integer(0);
        cell = number;
        return integer(1);
      });
    case 7:
      return ask_own({"HDEL", named, "none"},
                     [](OwnState&, const Executed&) { return integer(0); });
    default:
      return ask_own({"HDEL", named, "v"}, [=](OwnState& state, const Executed&) {
        const auto row = state.rows.find(key);
        if (row == state.rows.end() || !row->second.v) return integer(0);
        row->second.v.reset();
        return integer(1);
      });
  }
}

// One item.
void RedisScript::ask_string() {
  const std::string key = item_key();
  const std::string value = std::to_string(world_.below(1000));
  switch (world_.below(8)) {
    case 0:
      return ask_own({"SET", key, value}, [=](OwnState& state, const Executed&) {
        state.items[key] = {.value = value};
        return std::string(ok);
      });
    case 1:
      return ask_own({"SET", key, value, "NX"}, [=](OwnState& state, const Executed&) {
        return std::string(state.items.try_emplace(key, OwnItem{.value = value}).second ? ok
                                                                                        : null);
      });
    case 2:
    case 3:
      return ask_own({"INCR", key}, [=](OwnState& state, const Executed&) -> std::string {
        const std::string before = state.items.contains(key) ? state.items[key].value : "0";
        if (!is_number(before) || (before.size() > 1 && before[0] == '0'))
          return "-ERR value is not an integer or out of range\r\n";
        state.items[key].value = sum_of(before, 1);
        return integer(number_of(state.items[key].value));
      });
    case 4: {
      // What has become too long begins anew.
      constexpr std::size_t longest = 12;
      const std::string part = world_.chance(50) ? "x" : "7";
      const auto known = likely().items.find(key);
      if (known != likely().items.end() && known->second.value.size() > longest) break;
      return ask_own({"APPEND", key, part}, [=](OwnState& state, const Executed&) {
        return integer((state.items[key].value += part).size());
      });
    }
    case 5:
      return ask_own({"GETDEL", key}, [=](OwnState& state, const Executed&) {
        const auto item = state.items.extract(key);
        return item ? bulk(item.mapped().value) : std::string(null);
      });
    default: break;
  }
  ask_own({"GET", key}, [=](OwnState& state, const Executed&) {
    const auto item = state.items.find(key);
    return item == state.items.end() ? std::string(null) : bulk(item->second.value);
  });
}

void RedisScript::ask_expiry() {
  const std::string key = item_key();
  const std::uint64_t ms = 1 + world_.below(world_.chance(50) ? 100 : 3000);
  const std::string time = std::to_string(ms);
  switch (world_.below(4)) {
    case 0:
      return ask_own({"SET", key, "short", "PX", time}, [=](OwnState& state, const Executed& how) {
        state.items[key] = {.value = "short"};
        expire_after(state.items[key], ms, how);
        return std::string(ok);
      });
    case 1:
      return ask_own({"PEXPIRE", key, time}, [=](OwnState& state, const Executed& how) {
        const auto item = state.items.find(key);
        if (item == state.items.end()) return integer(0);
        expire_after(item->second, ms, how);
        return integer(1);
      });
    case 2:
      return ask_own({"PERSIST", key}, [=](OwnState& state, const Executed&) {
        const auto item = state.items.find(key);
        if (item == state.items.end() || item->second.first_expiry == 0) return integer(0);
        item->second.first_expiry = item->second.last_expiry = 0;
        return integer(1);
      });
    default: {
      const std::string row = row_key();
      return ask_own({"EXISTS", key, key, "db.h:" + row}, [=](OwnState& state, const Executed&) {
        return integer(state.items.count(key) * 2 + state.rows.count(row));
      });
    }
  }
}

// Several items and rows.
void RedisScript::ask_many() {
  const std::string first = item_key();
  const std::string second = item_key();
  const std::string row = row_key();
  const std::string value = std::to_string(world_.below(1000));
  switch (world_.below(4)) {
    case 0:
      return ask_own({"MSET", first, value, second, "b" + value},
                     [=](OwnState& state, const Executed&) {
                       state.items[first] = {.value = value};
                       state.items[second] = {.value = "b" + value};
                       return std::string(ok);
                     });
    case 1:
      return ask_own({"DEL", first, "db.h:" + row, second}, [=](OwnState& state, const Executed&) {
        return integer(state.items.erase(first) + state.rows.erase(row) +
                       state.items.erase(second));
      });
    case 2:
      return ask_own({"MSETNX", first, value, second, value},
                     [=](OwnState& state, const Executed&) {
                       if (state.items.contains(first) || state.items.contains(second))
                         return integer(0);
                       state.items[first] = state.items[second] = {.value = value};
                       return integer(1);
                     });
    default:
      return ask_own({"MGET", first, second, "db.h:" + row}, [=](OwnState& state, const Executed&) {
        std::string values = array(3);
        for (const std::string& key : {first, second}) {
          const auto item = state.items.find(key);
          values += item == state.items.end() ? std::string(null) : bulk(item->second.value);
        }
        return values + std::string(null);
      });
  }
}

// A row and an item are changed together, or none of them: the last command fails if the item is no number.
// What is read in between is as the client has left it.
void RedisScript::ask_transaction() {
  const std::string row = row_key();
  const std::string item = item_key();
  const bool reads = world_.chance(50);
  ask_plain({"MULTI"}, ok);
  ask_plain({"HINCRBY", "db.h:" + row, "v", "1"}, queued);
  if (reads) ask_plain({"GET", item}, queued);
  ask_plain({"INCR", item}, queued);
  if (world_.chance(10)) return ask_plain({"DISCARD"}, ok);
  ask_own({"EXEC"}, [=](OwnState& state, const Executed&) -> std::string {
    const auto found = state.items.find(item);
    const std::string before = found == state.items.end() ? "0" : found->second.value;
    if (!is_number(before) || (before.size() > 1 && before[0] == '0')) {
      return "-EXECABORT Transaction discarded because of command " +
             std::string(reads ? "3" : "2") +
             ", 'incr': ERR value is not an integer or out of range\r\n";
    }
    std::string replies = array(reads ? 3 : 2);
    const std::string read = found == state.items.end() ? std::string(null) : bulk(before);
    state.items[item].value = sum_of(before, 1);
    static_cast<void>(add_to(state.rows[row].v, 1));
    replies += ":" + *state.rows[row].v + "\r\n";
    if (reads) replies += read;
    return replies + ":" + state.items[item].value + "\r\n";
  });
}

void RedisScript::ask_shared() {
  const std::size_t number = world_.below(SharedCounters::count);
  const bool is_row = number >= SharedCounters::strings;
  const std::string key = (is_row ? "db.h:" : "") + SharedCounters::key(number);
  if (world_.chance(30)) {
    const auto check = [this, number](std::string_view reply) {
      require(reply.size() > 4 && reply[0] == '$', "GET was answered " + std::string(reply));
      counters().read(number, number_of(reply.substr(reply.find('\n') + 1)));
    };
    if (is_row) return ask_words({"HGET", key, "v"}, {.on_reply = check});
    return ask_words({"GET", key}, {.on_reply = check});
  }
  counters().shared().asked(number);
  const auto check = [this, number](std::string_view reply) {
    require(reply[0] == ':', "an addition was answered " + std::string(reply));
    counters().acknowledged(number, number_of(reply.substr(1)));
  };
  const auto refuse = [this, number] { counters().shared().refused(number); };
  if (is_row)
    return ask_words({"HINCRBY", key, "v", "1"}, {.on_reply = check, .on_refusal = refuse});
  ask_words({"INCR", key}, {.on_reply = check, .on_refusal = refuse});
}

// The first part of an addition that is done only if nobody else has added meanwhile.
void RedisScript::ask_to_watch() {
  const std::size_t number = world_.below(SharedCounters::strings);
  const std::string key = SharedCounters::key(number);
  watched_ = number;
  watched_sum_.reset();
  watch_failed_ = false;
  ask_words({"WATCH", key}, {.on_reply =
                                 [](std::string_view reply) {
                                   require(reply == ok, "WATCH was answered " + std::string(reply));
                                 },
                             .on_refusal = [this] { watch_failed_ = true; }});
  ask_words({"GET", key}, {.on_reply = [this, number](std::string_view reply) {
              watched_sum_ = number_of(reply.substr(reply.find('\n') + 1));
              counters().read(number, *watched_sum_);
            }});
}

// The second part.
void RedisScript::ask_watched() {
  const std::size_t number = *watched_;
  watched_.reset();
  if (!watched_sum_ || watch_failed_) return ask_plain({"UNWATCH"}, ok);
  const std::uint64_t sum = *watched_sum_ + 1;
  ask_plain({"MULTI"}, ok);
  ask_plain({"SET", SharedCounters::key(number), std::to_string(sum)}, queued);
  counters().shared().asked(number);
  ask_words({"EXEC"}, {.on_reply =
                           [this, number, sum](std::string_view reply) {
                             if (reply == "*-1\r\n") return counters().shared().refused(number);
                             require(reply == "*1\r\n+OK\r\n",
                                     "EXEC was answered " + std::string(reply));
                             counters().acknowledged(number, sum);
                           },
                       .on_refusal = [this, number] { counters().shared().refused(number); }});
}

std::size_t RedisScript::reply_size(std::string_view received) const {
  const std::size_t line_end = received.find("\r\n");
  if (line_end == received.npos) return 0;
  const std::size_t head = line_end + 2;
  std::int64_t number = 0;
  std::from_chars(received.data() + 1, received.data() + line_end, number);
  if (received[0] == '$' && number >= 0) {
    const std::size_t size = head + static_cast<std::size_t>(number) + 2;
    return received.size() < size ? 0 : size;
  }
  if (received[0] != '*') return head;
  std::size_t size = head;
  for (; number > 0; --number) {
    const std::size_t element = reply_size(received.substr(size));
    if (element == 0) return 0;
    size += element;
  }
  return size;
}

KeyScript::Refusal RedisScript::refusal_of(std::string_view reply) const {
  if (reply.starts_with("-ERR 1180 ")) return Refusal::commit_failed;
  if (reply.starts_with("-TRYAGAIN the table is locked")) return Refusal::late;
  if (reply.starts_with("-ERR too many bytes wait")) return Refusal::no_room;
  return Refusal::none;
}

}  // namespace hs::simulator
