#include "simulator/key_script.h"

#include <algorithm>
#include <utility>

namespace hs::simulator {
namespace {

constexpr std::int64_t began_ms = 1'700'000'000'000;
constexpr std::uint64_t ns_per_ms = 1'000'000;
constexpr std::size_t longest_burst = 8;
constexpr std::size_t few_keys = 10;
// A request with so many keys is about as large as a request may be.
constexpr std::size_t very_many_keys = 200;

std::uint64_t wall_at(std::uint64_t now) {
  return static_cast<std::uint64_t>(began_ms) + now / ns_per_ms;
}

}  // namespace

std::int64_t KeyScript::wall_ms() {
  return static_cast<std::int64_t>(wall_at(World::current().now()));
}

KeyScript::KeyScript(World& world, const Faults& faults, const Tables& tables,
                     SharedCounters& shared, ClientKind kind, std::uint64_t number)
    : Script(world, faults, kind),
      tables_(tables),
      number_(number),
      counters_(shared),
      left_(5 + world.below(60)) {
  for (std::size_t i = 0; i < own_keys; ++i) {
    items_.push_back("of" + std::to_string(number) + "." + std::to_string(i));
    rows_.push_back(std::to_string(number + i));
  }
}

void KeyScript::ask_more() {
  if (bytes_.empty() && faults_.strangers) ask_log_in();
  const std::size_t most = std::min(left_, 1 + world_.below(longest_burst));
  left_ -= most;
  if (most != 0) ask_burst(most);
}

std::size_t KeyScript::most_keys(bool writes) const {
  const unsigned faults = faults_.blocked + (writes ? faults_.row_locked + faults_.broken : 0);
  const bool is_small = kind_ == ClientKind::light || faults != 0 || world_.chance(50);
  return is_small ? few_keys : very_many_keys;
}

void KeyScript::ask(std::string_view bytes, Asked asked) {
  bytes_ += bytes;
  asked.end = bytes_.size();
  expected_.push_back(std::move(asked));
}

std::size_t KeyScript::bytes_of_next(std::size_t sent) const {
  for (const Asked& asked : expected_) {
    if (asked.end > sent) return asked.end - sent;
    if (!asked.is_quiet) break;
  }
  return 0;
}

std::size_t KeyScript::answers_to_come() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(expected_, [](const Asked& asked) { return !asked.is_quiet; }));
}

void KeyScript::sent(std::size_t bytes, std::uint64_t now) {
  for (Asked& asked : expected_) {
    if (asked.end > bytes) return;
    if (asked.sent_ms == 0) asked.sent_ms = wall_at(now);
  }
}

void KeyScript::take_replies(std::string& received) {
  for (std::size_t size = 0; (size = reply_size(received)) != 0;) {
    take_reply(std::string_view(received).substr(0, size));
    received.erase(0, size);
  }
}

// What stands in front of the request that has got this reply.
void KeyScript::settle_quiet_ones(std::string_view reply) {
  while (!expected_.empty() && expected_.front().is_quiet &&
         !is_of_quiet(expected_.front(), reply)) {
    const Asked asked = std::move(expected_.front());
    expected_.pop_front();
    if (!asked.own) continue;
    const Executed how{.earliest_ms = asked.sent_ms, .latest_ms = wall_at(world_.now())};
    if (asked.tells_by_silence && !asked.is_unsure) {
      own_.answered(asked.own, how);
    } else {
      own_.unanswered(asked.own, how,
                      asked.is_unsure || (quiet_ones_can_fail_unseen() && may_fail_unseen()));
    }
  }
}

void KeyScript::check_refusal(Refusal refusal) {
  require(refusal != Refusal::commit_failed || faults_.commit_fails != 0,
          "a commit failed by itself");
  require(refusal != Refusal::late || faults_.remote_patience_ms != 0,
          "a request has waited too long by itself");
  if (refusal == Refusal::late) ++waited_too_long_;
}

// If several quiet requests may have failed, nobody knows any more how each of them has ended.
bool KeyScript::is_of_one_of_several(std::string_view reply) {
  if (!is_of_any_quiet(reply)) return false;
  const auto loud = std::ranges::find(expected_, false, &Asked::is_quiet);
  if (loud - expected_.begin() < 2 || !expected_.front().tells_by_silence) return false;
  std::for_each(expected_.begin(), loud, [](Asked& asked) { asked.is_unsure = true; });
  return true;
}

void KeyScript::take_reply(std::string_view reply) {
  const Refusal refusal = refusal_of(reply);
  if (refusal == Refusal::no_room)
    return require(may_be_ended(), "there was no room for a client that holds little");
  if (refusal != Refusal::none && is_of_one_of_several(reply)) return check_refusal(refusal);
  settle_quiet_ones(reply);
  require(!expected_.empty(), "a reply that nobody asked for: " + std::string(reply));
  const Asked asked = std::move(expected_.front());
  expected_.pop_front();
  if (refusal != Refusal::none) {
    require(asked.touches_rows, "a request without rows has failed: " + std::string(reply));
    check_refusal(refusal);
    if (asked.on_refusal) asked.on_refusal();
    return;
  }
  if (asked.own) {
    own_.answered(
        asked.own,
        {.earliest_ms = asked.sent_ms, .latest_ms = wall_at(world_.now()), .reply = reply});
  }
  if (asked.on_reply) asked.on_reply(reply);
}

void KeyScript::check_end() const {
  OwnThings own = own_;
  std::vector<OwnThings::Execute> last;
  for (const Asked& asked : expected_) {
    if (asked.own && asked.sent_ms != 0) last.push_back(asked.own);
  }
  const std::uint64_t now_ms = wall_at(world_.now());
  own.asked_last(last, {.earliest_ms = static_cast<std::uint64_t>(began_ms), .latest_ms = now_ms},
                 may_fail_unseen());
  own.check(tables_, items_, rows_, now_ms);
}

std::string KeyScript::story() const { return "keys with " + std::to_string(number_); }

}  // namespace hs::simulator
