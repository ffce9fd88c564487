#include "simulator/own_things.h"

#include <algorithm>
#include <utility>

#include "simulator/faults.h"
#include "simulator/faulty_rows.h"

namespace hs::simulator {
namespace {

bool has_expired(const Cell& expires, std::uint64_t now_ms) {
  constexpr std::uint64_t ms_per_second = 1000;
  return expires && number_of(*expires) != 0 && number_of(*expires) * ms_per_second <= now_ms;
}

bool is_stored(const OwnState& state, const std::string& key, const Record* record,
               std::uint64_t now_ms) {
  const auto found = state.items.find(key);
  if (found == state.items.end()) return record == nullptr || has_expired((*record)[4], now_ms);
  const OwnItem& item = found->second;
  if (record == nullptr) return item.first_expiry != 0 && item.first_expiry <= now_ms;
  return (*record)[1] == item.value && number_of((*record)[2].value_or("0")) == item.flags &&
         (item.first_expiry != 0) == (*record)[4].has_value();
}

bool is_stored(const OwnState& state, const std::string& key, const Record* record) {
  const auto found = state.rows.find(key);
  if (found == state.rows.end()) return record == nullptr;
  return record != nullptr && (*record)[1] == found->second.v && (*record)[2] == found->second.s;
}

}  // namespace

void OwnThings::add(std::vector<OwnState>& to, OwnState state) const {
  if (std::ranges::find(to, state) == to.end()) to.push_back(std::move(state));
}

void OwnThings::take(std::vector<OwnState> states) {
  is_lost_ = is_lost_ || states.size() > most_states;
  states_ = std::move(states);
  if (is_lost_) states_.resize(1);
}

// An item that may have expired until then may be there or not.
void OwnThings::expire(const Executed& how) {
  for (std::size_t i = 0; i < states_.size() && i <= most_states; ++i) {
    const OwnState before = states_[i];
    for (const auto& [key, item] : before.items) {
      if (item.first_expiry == 0 || item.first_expiry > how.latest_ms) continue;
      OwnState without = states_[i];
      without.items.erase(key);
      if (item.last_expiry <= how.earliest_ms) {
        states_[i] = std::move(without);
      } else {
        add(states_, std::move(without));
      }
    }
  }
}

void OwnThings::answered(const Execute& execute, const Executed& how) {
  if (is_lost_) return;
  expire(how);
  std::vector<OwnState> after;
  std::string expected;
  for (OwnState& state : states_) {
    expected = execute(state, how);
    if (expected == how.reply) add(after, std::move(state));
  }
  require(!after.empty(),
          "the answer is\n  " + std::string(how.reply) + "\nin place of\n  " + expected);
  take(std::move(after));
}

void OwnThings::unanswered(const Execute& execute, const Executed& how, bool may_have_failed) {
  if (is_lost_) return;
  expire(how);
  std::vector<OwnState> after;
  for (OwnState& state : states_) {
    if (may_have_failed) add(after, state);
    static_cast<void>(execute(state, how));
    add(after, std::move(state));
  }
  take(std::move(after));
}

void OwnThings::asked_last(const std::vector<Execute>& requests, const Executed& how,
                           bool may_have_failed) {
  std::vector<OwnState> all = states_;
  for (const Execute& execute : requests) {
    unanswered(execute, how, may_have_failed);
    if (is_lost_) return;
    for (const OwnState& state : states_) add(all, state);
  }
  take(std::move(all));
}

void OwnThings::check(const Tables& tables, const std::vector<std::string>& items,
                      const std::vector<std::string>& rows, std::uint64_t now_ms) const {
  if (is_lost_) return;
  const Table& of_items = tables.at("kv");
  const Table& of_rows = tables.at("h");
  const auto holds = [&](const OwnState& state) {
    return std::ranges::all_of(items,
                               [&](const std::string& key) {
                                 return is_stored(state, key, of_items.committed(key), now_ms);
                               }) &&
           std::ranges::all_of(rows, [&](const std::string& key) {
             return is_stored(state, key, of_rows.committed(key));
           });
  };
  if (std::ranges::any_of(states_, holds)) return;
  std::string stored;
  for (const std::string& key : items) {
    if (const Record* const record = of_items.committed(key); record != nullptr)
      stored += "\n  " + key + ": " + (*record)[1].value_or("NULL") + ", flags " +
                (*record)[2].value_or("NULL") + ", expires " + (*record)[4].value_or("never");
  }
  for (const std::string& key : rows) {
    if (const Record* const record = of_rows.committed(key); record != nullptr)
      stored +=
          "\n  " + key + ": " + (*record)[1].value_or("NULL") + ' ' + (*record)[2].value_or("NULL");
  }
  stored += "\nat " + std::to_string(now_ms) + ", and the likeliest of them is:";
  for (const auto& [key, item] : states_.front().items)
    stored += "\n  " + key + ": " + item.value + ", flags " + std::to_string(item.flags) +
              ", expires " + std::to_string(item.first_expiry);
  for (const auto& [key, row] : states_.front().rows)
    stored += "\n  " + key + ": " + row.v.value_or("NULL") + ' ' + row.s.value_or("NULL");
  throw Failure("a client's items and rows are none of the " + std::to_string(states_.size()) +
                " states that they can be in:" + stored);
}

}  // namespace hs::simulator
