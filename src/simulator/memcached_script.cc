#include "simulator/memcached_script.h"

#include <utility>

#include "simulator/faulty_rows.h"
#include "simulator/memcached_texts.h"

namespace hs::simulator {
namespace {

constexpr std::string_view stored = "STORED\r\n";
constexpr std::string_view not_stored = "NOT_STORED\r\n";
constexpr std::string_view not_found = "NOT_FOUND\r\n";
constexpr std::string_view not_numeric =
    "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n";

// The cas in a reply with one VALUE. Empty: there is none.
std::string cas_in(std::string_view reply) {
  const std::string_view line = reply.substr(0, reply.find('\r'));
  return reply.starts_with("VALUE ") ? std::string(line.substr(line.rfind(' ') + 1)) : "";
}

// Behind the head of the reply.
std::string_view value_in(std::string_view reply) { return reply.substr(reply.find('\n') + 1); }

}  // namespace

void MemcachedScript::ask_own(const std::string& line, OwnThings::Execute execute) {
  ask(line + "\r\n", {.own = std::move(execute)});
}

// A read of the item follows, which tells what has become of it.
void MemcachedScript::ask_quietly(const std::string& line, const std::string& key,
                                  OwnThings::Execute execute) {
  ask(line + "\r\n", {.own = std::move(execute), .is_quiet = true});
  ask_own("get " + key, [=](OwnState& state, const Executed&) {
    const auto item = state.items.find(key);
    return (item == state.items.end() ? "" : block(key, item->second, "")) + "END\r\n";
  });
}

void MemcachedScript::ask_log_in() {
  ask("set auth 0 0 10\r\nuser right\r\n",
      {.on_reply =
           [this](std::string_view reply) {
             require(reply == stored, "a log-in was answered " + std::string(reply));
             is_logged_in();
           },
       .touches_rows = false});
}

void MemcachedScript::ask_burst(std::size_t most) {
  if (is_binary_) {
    for (std::size_t i = 0; i < most; ++i) {
      if (world_.chance(20)) {
        ask_packet_series();
      } else if (world_.chance(25)) {
        ask_shared_packet();
      } else {
        ask_packet();
      }
    }
    return;
  }
  if (compared_) ask_compared();
  for (std::size_t i = 0; i < most; ++i) {
    switch (world_.below(11)) {
      case 0:
      case 1: ask_to_store(); break;
      case 2: ask_to_read(); break;
      case 3:
      case 4: ask_to_change(); break;
      case 5: ask_meta(); break;
      case 6: ask_to_compare(); break;
      case 7: ask_for_very_many(); break;
      case 8: ask_to_touch(); break;
      case 9: ask_series(); break;
      default: ask_shared(); break;
    }
  }
}

void MemcachedScript::ask_to_store() {
  const std::string key = item_key();
  const std::string value = std::to_string(world_.below(1000));
  const auto flags = static_cast<std::uint32_t>(world_.below(10));
  const std::uint64_t seconds = world_.chance(20) ? 1 + world_.below(2) : 0;
  const std::string rest = ' ' + key + ' ' + std::to_string(flags) + ' ' + std::to_string(seconds) +
                           ' ' + std::to_string(value.size());
  const auto put = [=](OwnState& state, const Executed& how) {
    set_item(state, key, value, flags);
    expire_item(state.items[key], seconds, how);
    return std::string(stored);
  };
  const auto add = [=](OwnState& state, const Executed& how) {
    return state.items.contains(key) ? std::string(not_stored) : put(state, how);
  };
  switch (world_.below(4)) {
    case 0: return ask_own("set" + rest + "\r\n" + value, put);
    case 1: return ask_own("add" + rest + "\r\n" + value, add);
    case 2: return ask_quietly("set" + rest + " noreply\r\n" + value, key, put);
    default:
      return ask_own("replace" + rest + "\r\n" + value, [=](OwnState& state, const Executed& how) {
        return state.items.contains(key) ? put(state, how) : std::string(not_stored);
      });
  }
}

void MemcachedScript::ask_to_read() {
  const std::string first = item_key();
  const std::string second = item_key();
  ask_own("get " + first + ' ' + second, [=](OwnState& state, const Executed&) {
    std::string items;
    for (const std::string& key : {first, second}) {
      const auto item = state.items.find(key);
      if (item != state.items.end()) items += block(key, item->second, "");
    }
    return items + "END\r\n";
  });
}

void MemcachedScript::ask_to_change() {
  const std::string key = item_key();
  const auto add = [=](OwnState& state, const Executed&) {
    const auto item = state.items.find(key);
    if (item == state.items.end()) return std::string(not_found);
    if (!is_number(item->second.value)) return std::string(not_numeric);
    item->second.value = std::to_string(number_of(item->second.value) + 7);
    change_cas(item->second);
    return item->second.value + "\r\n";
  };
  const auto erase = [=](OwnState& state, const Executed&) {
    return std::string(state.items.erase(key) != 0 ? "DELETED\r\n" : not_found);
  };
  const auto append = [=](OwnState& state, const Executed&) {
    const auto item = state.items.find(key);
    if (item == state.items.end()) return std::string(not_stored);
    item->second.value += "x";
    change_cas(item->second);
    return std::string(stored);
  };
  switch (world_.below(6)) {
    case 0: return ask_own("incr " + key + " 7", add);
    case 1: return ask_quietly("incr " + key + " 7 noreply", key, add);
    case 2: return ask_own("delete " + key, erase);
    case 3: return ask_quietly("delete " + key + " noreply", key, erase);
    case 4: return ask_own("append " + key + " 0 0 1\r\nx", append);
    default: return ask_quietly("append " + key + " 0 0 1 noreply\r\nx", key, append);
  }
}

void MemcachedScript::ask_meta() {
  const std::string key = item_key();
  const std::string value = std::to_string(world_.below(1000));
  switch (world_.below(4)) {
    case 0:
      return ask_own("ms " + key + ' ' + std::to_string(value.size()) + " F3 O7\r\n" + value,
                     [=](OwnState& state, const Executed&) {
                       set_item(state, key, value, 3);
                       return std::string("HD O7\r\n");
                     });
    case 1:
      return ask_own("ms " + key + ' ' + std::to_string(value.size()) + " ME k\r\n" + value,
                     [=](OwnState& state, const Executed&) {
                       const bool is_new = !state.items.contains(key);
                       if (is_new) set_item(state, key, value, 0);
                       return (is_new ? "HD k" : "NS k") + key + "\r\n";
                     });
    case 2:
      return ask_own("md " + key, [=](OwnState& state, const Executed&) {
        return std::string(state.items.erase(key) != 0 ? "HD\r\n" : "NF\r\n");
      });
    default:
      return ask_own("mg " + key + " f v", [=](OwnState& state, const Executed&) {
        const auto item = state.items.find(key);
        if (item == state.items.end()) return std::string("EN\r\n");
        const auto& [text, flags, cas, first, last] = item->second;
        return "VA " + std::to_string(text.size()) + " f" + std::to_string(flags) + "\r\n" + text +
               "\r\n";
      });
  }
}

// The cas of an own item, which is learnt when it is read first.
void MemcachedScript::ask_to_compare() {
  const std::string key = item_key();
  const auto known = likely().items.find(key);
  const bool is_known = known != likely().items.end() && known->second.cas;
  if (!is_known || world_.chance(30)) {
    return ask_own("gets " + key, [=](OwnState& state, const Executed& how) {
      const auto item = state.items.find(key);
      if (item == state.items.end()) return std::string("END\r\n");
      std::optional<std::uint64_t>& cas = item->second.cas;
      if (!cas) cas = number_of(cas_in(how.reply));
      return block(key, item->second, ' ' + std::to_string(*cas)) + "END\r\n";
    });
  }
  const std::uint64_t cas = *known->second.cas;
  ask_own("cas " + key + " 0 0 1 " + std::to_string(cas) + "\r\n9",
          [=](OwnState& state, const Executed& how) {
            const auto item = state.items.find(key);
            if (item == state.items.end()) return std::string(not_found);
            const bool is_same = item->second.cas ? *item->second.cas == cas : how.reply == stored;
            if (!is_same) return std::string("EXISTS\r\n");
            item->second.cas = cas;
            set_item(state, key, "9", 0);
            return std::string(stored);
          });
}

void MemcachedScript::ask_shared() {
  const std::size_t number = world_.below(SharedCounters::strings);
  const std::string key = SharedCounters::key(number);
  if (world_.chance(30)) {
    return ask("gets " + key + "\r\n", {.on_reply = [this, number](std::string_view reply) {
                 require(reply.starts_with("VALUE"), "a get was answered " + std::string(reply));
                 compared_ = number;
                 compared_sum_ = number_of(value_in(reply));
                 compared_cas_ = cas_in(reply);
                 counters().read(number, compared_sum_);
               }});
  }
  counters().shared().asked(number);
  const bool is_meta = world_.chance(50);
  const auto check = [this, number, is_meta](std::string_view reply) {
    const std::string_view sum = is_meta ? value_in(reply) : reply;
    require((!is_meta || reply.starts_with("VA ")) && number_of(sum) != 0,
            "an addition was answered " + std::string(reply));
    counters().acknowledged(number, number_of(sum));
  };
  ask((is_meta ? "ma " + key + " v" : "incr " + key + " 1") + "\r\n",
      {.on_reply = check, .on_refusal = [this, number] { counters().shared().refused(number); }});
}

// Adds to what was read, if it is still the same.
void MemcachedScript::ask_compared() {
  const std::size_t number = *compared_;
  compared_.reset();
  const std::uint64_t sum = compared_sum_ + 1;
  const std::string value = std::to_string(sum);
  const auto check = [this, number, sum](std::string_view reply) {
    if (reply == "EXISTS\r\n") return counters().shared().refused(number);
    require(reply == stored, "cas was answered " + std::string(reply));
    counters().acknowledged(number, sum);
  };
  counters().shared().asked(number);
  ask("cas " + SharedCounters::key(number) + " 0 0 " + std::to_string(value.size()) + ' ' +
          compared_cas_ + "\r\n" + value + "\r\n",
      {.on_reply = check, .on_refusal = [this, number] { counters().shared().refused(number); }});
}

}  // namespace hs::simulator
