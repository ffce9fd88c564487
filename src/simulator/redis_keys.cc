// What a Redis client asks about its keys: very many of them at once, and which there are while it changes
// them.
#include <algorithm>
#include <utility>

#include "simulator/faulty_rows.h"
#include "simulator/redis_script.h"

namespace hs::simulator {
namespace {

const std::string of_rows = "db.h:";

}  // namespace

// A change whose commit may fail, behind which nobody may count what it has done.
void RedisScript::ask_one_to_go() {
  if (world_.chance(50)) {
    const std::string key = row_key();
    return ask_own({"DEL", of_rows + key}, [=](OwnState& state, const Executed&) {
      return integer(state.rows.erase(key));
    });
  }
  const std::string key = item_key();
  ask_own({"GETDEL", key}, [=, form = form_](OwnState& state, const Executed&) {
    const auto item = state.items.extract(key);
    return item ? bulk(item.mapped().value) : form.null();
  });
}

// While the first of them takes its turns, the others come, and are executed in one pass with their changes.
void RedisScript::ask_very_many() {
  for (std::size_t i = 1 + world_.below(3); i != 0; --i) ask_about_keys();
}

// Each key may come many times. A count takes turns with others, and an item may expire in between.
void RedisScript::ask_about_keys() {
  constexpr const char* commands[] = {"EXISTS", "TOUCH", "DEL"};
  const std::string command = commands[world_.chance(20) ? 2 : world_.below(2)];
  const bool erases = command == "DEL";
  const std::size_t count = 2 + world_.below(most_keys(erases));
  if (!erases && world_.chance(80)) ask_one_to_go();
  Words words{command};
  for (std::size_t i = 0; i < count; ++i)
    words.push_back(world_.chance(50) ? item_key() : of_rows + row_key());
  ask_own(words, [=](OwnState& state, const Executed& how) {
    std::size_t met = 0;
    std::size_t may_be_gone = 0;
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i].starts_with(of_rows)) {
        const std::string key = words[i].substr(of_rows.size());
        met += erases ? state.rows.erase(key) : state.rows.count(key);
      } else if (erases) {
        met += state.items.erase(words[i]);
      } else if (const auto item = state.items.find(words[i]); item != state.items.end()) {
        ++met;
        may_be_gone += may_expire(item->second, how) ? 1 : 0;
      }
    }
    const std::size_t told = how.reply.starts_with(':') ? number_of(how.reply.substr(1)) : met;
    return integer(told < met && told + may_be_gone >= met ? told : met);
  });
}

void RedisScript::ask_keys() {
  if (!scan_.waits && world_.chance(60)) {
    scan_ = {.is_of_items = world_.chance(40), .number = scan_.number + 1};
    return ask_scan();
  }
  const std::string front = items().front().substr(0, items().front().find('.') + 1);
  ask_own({"KEYS", front + "*"}, [](OwnState& state, const Executed&) {
    std::string keys;
    for (const auto& [key, item] : state.items) keys += bulk(key);
    return array(state.items.size()) + keys;
  });
}

// Others of the client's requests come between its pages.
void RedisScript::ask_scan() {
  scan_.waits = false;
  const std::string front = items().front().substr(0, items().front().find('.') + 1);
  const std::string count = std::to_string(1 + world_.below(world_.chance(50) ? 3 : 30));
  ask_words(
      {"SCAN", scan_.cursor, "MATCH", (scan_.is_of_items ? front : of_rows) + "*", "COUNT", count},
      {.own = [this, scan = scan_](
                  OwnState& state,
                  const Executed& how) { return check_scan(scan, state, how.reply); },
       .on_reply = [this,
                    number = scan_.number](std::string_view reply) { take_scan(number, reply); }});
}

// Another scan may have begun meanwhile.
void RedisScript::take_scan(std::uint64_t number, std::string_view reply) {
  if (number != scan_.number) return;
  const std::vector<std::string> bulks = RedisForm::bulks_of(reply);
  scan_.cursor = bulks.front();
  scan_.waits = scan_.cursor != "0";
  if (bulks.size() < 2) return;
  scan_.last_key = bulks.back();
}

// A page answers all of the rows between those where it begins and ends. Rows of others are among them. Of
// items nobody sees where it ends, if the last ones have expired.
std::string RedisScript::check_scan(const Scan& scan, const OwnState& state,
                                    std::string_view reply) const {
  std::vector<std::string> keys = RedisForm::bulks_of(reply);
  if (keys.empty() || !reply.starts_with("*2\r\n")) return "a page of SCAN";
  const bool is_last = keys.front() == "0";
  keys.erase(keys.begin());
  const auto place = [&](const std::string& key) {
    return scan.is_of_items ? 0 : number_of(key.substr(of_rows.size()));
  };
  const auto is_in_front = [&](const std::string& left, const std::string& right) {
    return scan.is_of_items ? left < right : place(left) < place(right);
  };
  std::string last = scan.last_key;
  for (const std::string& key : keys) {
    if (!last.empty() && !is_in_front(last, key)) return key + " behind " + last;
    if (scan.is_of_items && !state.items.contains(key)) return "no " + key;
    last = key;
  }
  if (scan.is_of_items && (!is_last || scan.cursor != "0")) return std::string(reply);
  for (const std::string& own : scan.is_of_items ? items() : rows()) {
    const std::string key = scan.is_of_items ? own : of_rows + own;
    const bool is_there = scan.is_of_items ? state.items.contains(own) : state.rows.contains(own);
    const bool is_behind = scan.last_key.empty() || is_in_front(scan.last_key, key);
    const bool is_of_page = is_behind && (is_last || !is_in_front(last, key));
    const bool is_answered = std::ranges::find(keys, key) != keys.end();
    if (is_answered != (is_of_page && is_there)) return key + (is_there ? " is there" : " is gone");
  }
  return std::string(reply);
}

}  // namespace hs::simulator
