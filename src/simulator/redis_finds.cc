// What a Redis client selects by HS.FIND, HS.COUNT, HS.UPDATE and HS.DELETE, of its own rows alone.
#include <algorithm>
#include <utility>

#include "simulator/faulty_rows.h"
#include "simulator/redis_script.h"

namespace hs::simulator {
namespace {

constexpr std::size_t longest_page = 3;

std::string columns_of(const RedisForm& form, const std::string& key, const OwnRow& row) {
  return form.map(3) + bulk("k") + bulk(key) + bulk("v") + form.bulk_of(row.v) + bulk("s") +
         form.bulk_of(row.s);
}

std::string found(const RedisForm& form, const OwnState& state,
                  const std::vector<std::string>& keys, const std::string& next) {
  std::string rows;
  for (const std::string& key : keys) rows += columns_of(form, key, state.rows.at(key));
  return form.map(2) + bulk("rows") + array(keys.size()) + rows + bulk("next") + next;
}

// The position in a page's reply. Empty: it has none.
std::string position_in(std::string_view reply) {
  const std::vector<std::string> bulks = RedisForm::bulks_of(reply);
  return bulks.empty() || bulks.back() == "next" ? "" : bulks.back();
}

}  // namespace

bool RedisScript::Selected::is_fulfilled(const OwnRow& row) const {
  if (comparison.empty()) return true;
  // NULL is below all numbers.
  const std::uint64_t number = row.v ? number_of(*row.v) : 0;
  const bool is_less = !row.v || number < than;
  const bool is_equal = row.v && number == than;
  if (comparison == "<") return is_less;
  if (comparison == ">=") return !is_less;
  return comparison == "=" ? is_equal : !is_equal;
}

std::vector<std::string> RedisScript::Selected::in(const OwnState& state) const {
  std::vector<std::string> met;
  std::uint64_t to_skip = offset;
  for (const std::string& key : keys) {
    const auto row = state.rows.find(key);
    if (row == state.rows.end()) continue;
    if (!is_fulfilled(row->second)) {
      if (stops) break;
      continue;
    }
    if (to_skip != 0) {
      --to_skip;
      continue;
    }
    met.push_back(key);
    if (met.size() == limit) break;
  }
  return met;
}

// By one key, by several, or between two ends, mostly with a condition.
RedisScript::Selected RedisScript::select() {
  Selected selected;
  const std::size_t first = world_.below(own_keys);
  const std::size_t last = first + world_.below(own_keys - first);
  switch (world_.below(4)) {
    case 0:
      selected.keys = {rows()[first]};
      selected.words = {"KEY", "1", rows()[first]};
      break;
    case 1:
      selected.words = {"IN", "k", "3"};
      for (std::size_t i = 0; i < 3; ++i) {
        const std::string key = row_key();
        selected.words.push_back(key);
        if (std::ranges::find(selected.keys, key) == selected.keys.end())
          selected.keys.push_back(key);
      }
      break;
    default:
      selected.keys.assign(rows().begin() + static_cast<std::ptrdiff_t>(first),
                           rows().begin() + static_cast<std::ptrdiff_t>(last) + 1);
      selected.words = {"FROM", ">=", rows()[first], "TO", "<=", rows()[last]};
      if (first != 0 && world_.chance(30)) {
        selected.words[1] = ">";
        selected.words[2] = rows()[first - 1];
      }
      if (world_.chance(30)) {
        selected.words.emplace_back("DESC");
        std::ranges::reverse(selected.keys);
      }
  }
  if (world_.chance(50)) {
    constexpr const char* comparisons[] = {"<", ">=", "=", "!="};
    selected.comparison = comparisons[world_.below(4)];
    selected.than = world_.below(100);
    selected.stops = world_.chance(30);
    selected.words.insert(selected.words.end(),
                          {selected.stops ? "WHILE" : "FILTER", "v", selected.comparison,
                           std::to_string(selected.than)});
  }
  return selected;
}

void RedisScript::ask_selected() {
  Selected selected = select();
  if (!page_.waits && silent_ == 0 && world_.chance(40)) {
    page_ = {.number = page_.number + 1, .selected = std::move(selected)};
    return ask_next_page();
  }
  const bool counts = world_.chance(40);
  if (world_.chance(50)) {
    selected.limit = 1 + world_.below(longest_page);
    selected.words.insert(selected.words.end(), {"LIMIT", std::to_string(selected.limit)});
  }
  if (world_.chance(30)) {
    selected.offset = world_.below(3);
    selected.words.insert(selected.words.end(), {"OFFSET", std::to_string(selected.offset)});
  }
  Words words{counts ? "HS.COUNT" : "HS.FIND", "db.h"};
  words.insert(words.end(), selected.words.begin(), selected.words.end());
  ask_own(words, [=, form = form_](OwnState& state, const Executed&) {
    const std::vector<std::string> keys = selected.in(state);
    if (counts) return integer(keys.size());
    return found(form, state, keys, keys.size() == selected.limit ? bulk("more") : form.null());
  });
}

// Others of the client's requests come between its pages. Now and then it asks twice for the same one.
void RedisScript::ask_next_page() {
  page_.waits = false;
  Page page = page_;
  page.selected.limit = 1 + world_.below(longest_page);
  Words words{"HS.FIND", "db.h", "AFTER", page.after, "LIMIT", std::to_string(page.selected.limit)};
  words.insert(words.end(), page.selected.words.begin(), page.selected.words.end());
  if (!page.last_key.empty()) {
    std::vector<std::string>& keys = page.selected.keys;
    keys.erase(keys.begin(), std::ranges::find(keys, page.last_key) + 1);
  }
  const auto execute = [page, form = form_](OwnState& state, const Executed& how) {
    const std::vector<std::string> keys = page.selected.in(state);
    const bool has_more = keys.size() == page.selected.limit;
    return found(form, state, keys, has_more ? bulk(position_in(how.reply)) : form.null());
  };
  if (world_.chance(30)) ask_own(words, execute);
  ask_words(words,
            {.own = execute, .on_reply = [this, number = page.number](std::string_view reply) {
               take_page(number, reply);
             }});
}

// Another find with pages may have begun meanwhile.
void RedisScript::take_page(std::uint64_t number, std::string_view reply) {
  if (number != page_.number) return;
  page_.after = position_in(reply);
  page_.waits = !page_.after.empty();
  if (!page_.waits) return;
  // The last row is the one in front of `next` and its position.
  const std::vector<std::string> bulks = RedisForm::bulks_of(reply);
  const auto name = std::find(bulks.rbegin(), bulks.rend(), "k");
  require(name != bulks.rend() && name != bulks.rbegin(), "a page without rows has a next one");
  page_.last_key = *std::prev(name);
}

void RedisScript::ask_changed() {
  Selected selected = select();
  const bool erases = world_.chance(30);
  const std::string number = std::to_string(world_.below(100));
  const bool makes_null = world_.chance(30);
  Words words{erases ? "HS.DELETE" : "HS.UPDATE", "db.h"};
  if (!erases && makes_null) {
    words.insert(words.end(), {"NULL", "none", "SET", "2", "v", number, "s", "none"});
  } else if (!erases) {
    words.insert(words.end(), {"SET", "1", "v", number});
  }
  if (world_.chance(30)) {
    selected.limit = 1 + world_.below(longest_page);
    words.insert(words.end(), {"LIMIT", std::to_string(selected.limit)});
  }
  words.insert(words.end(), selected.words.begin(), selected.words.end());
  ask_own(words, [=](OwnState& state, const Executed&) {
    const std::vector<std::string> keys = selected.in(state);
    for (const std::string& key : keys) {
      if (erases) {
        state.rows.erase(key);
        continue;
      }
      state.rows[key].v = number;
      if (makes_null) state.rows[key].s.reset();
    }
    return integer(keys.size());
  });
}

}  // namespace hs::simulator
