#include "simulator/redis_script.h"

#include <algorithm>
#include <utility>

#include "simulator/faulty_rows.h"

namespace hs::simulator {
namespace {

constexpr std::uint64_t ms_per_second = 1000;

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

void RedisScript::ask_words(const Words& words, Asked asked) {
  std::string request = array(words.size());
  for (const std::string& word : words) request += bulk(word);
  if (silent_ != 0) {
    if (silent_ != until_told) --silent_;
    asked.is_quiet = true;
  }
  ask(request, std::move(asked));
}

void RedisScript::ask_own(const Words& words, OwnThings::Execute execute) {
  ask_words(words, {.own = std::move(execute)});
}

void RedisScript::ask_plain(const Words& words, std::string_view answer) {
  const auto check = [name = words.front(), answer](std::string_view reply) {
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
    if (page_.waits) ask_next_page();
    if (scan_.waits) ask_scan();
    switch (world_.below(16)) {
      case 0:
      case 1:
      case 2: ask_hash(); break;
      case 3:
      case 4:
      case 5: ask_string(); break;
      case 6: ask_expiry(); break;
      case 7: ask_many(); break;
      case 8: ask_transaction(); break;
      case 9: ask_silently(); break;
      case 10: ask_hello(); break;
      case 11: ask_selected(); break;
      case 12: ask_changed(); break;
      case 13: ask_very_many(); break;
      case 14: ask_keys(); break;
      default: ask_shared(); break;
    }
  }
  if (world_.chance(20)) ask_to_watch();
}

// One row.
void RedisScript::ask_hash() {
  const RedisForm form = form_;
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
        if (row == state.rows.end()) return form.map(0);
        const auto& [v, s] = row->second;
        std::string fields = bulk("k") + bulk(key);
        if (v) fields += bulk("v") + bulk(*v);
        if (s) fields += bulk("s") + bulk(*s);
        return form.map(1U + (v ? 1U : 0U) + (s ? 1U : 0U)) + fields;
      });
    case 3:
      return ask_own({"HMGET", named, "s", "v", "none"}, [=](OwnState& state, const Executed&) {
        const auto row = state.rows.find(key);
        const OwnRow found = row == state.rows.end() ? OwnRow{} : row->second;
        return array(3) + form.bulk_of(found.s) + form.bulk_of(found.v) + form.null();
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
  const RedisForm form = form_;
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
        const bool is_new = state.items.try_emplace(key, OwnItem{.value = value}).second;
        return is_new ? std::string(ok) : form.null();
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
        return item ? bulk(item.mapped().value) : form.null();
      });
    default: break;
  }
  ask_own({"GET", key}, [=](OwnState& state, const Executed&) {
    const auto item = state.items.find(key);
    return item == state.items.end() ? form.null() : bulk(item->second.value);
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
  const RedisForm form = form_;
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
          values += item == state.items.end() ? form.null() : bulk(item->second.value);
        }
        return values + form.null();
      });
  }
}

// A row and an item are changed together, or none of them: the last command fails if the item is no number.
// What is read in between is as the client has left it.
void RedisScript::ask_transaction() {
  const RedisForm form = form_;
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
    const std::string read = found == state.items.end() ? form.null() : bulk(before);
    state.items[item].value = sum_of(before, 1);
    static_cast<void>(add_to(state.rows[row].v, 1));
    replies += ":" + *state.rows[row].v + "\r\n";
    if (reads) replies += read;
    return replies + ":" + state.items[item].value + "\r\n";
  });
}

std::size_t RedisScript::reply_size(std::string_view received) const {
  return RedisForm::reply_size(received);
}

KeyScript::Refusal RedisScript::refusal_of(std::string_view reply) const {
  if (reply.starts_with("-ERR 1180 ")) return Refusal::commit_failed;
  if (reply.starts_with("-TRYAGAIN the table is locked")) return Refusal::late;
  if (reply.starts_with("-ERR too many bytes wait")) return Refusal::no_room;
  return Refusal::none;
}

}  // namespace hs::simulator
