#include "passes/log_in.h"

#include <cassert>
#include <cstddef>
#include <cstring>

#include "passes/requests.h"
#include "passes/waiting.h"

namespace hs::passes {
namespace {

using net::Next;
using net::Turn;

// Takes the same time wherever the first difference is.
bool equal_in_constant_time(std::string_view given, std::string_view secret) {
  assert(!secret.empty());
  std::size_t difference = given.size() ^ secret.size();
  for (std::size_t i = 0; i < given.size(); ++i) {
    difference |= static_cast<unsigned char>(given[i] ^ secret[i % secret.size()]);
  }
  return difference == 0;
}

}  // namespace

// A log-in of an account is counted when a log-in thread begins it, as its connection may be gone
// before.
bool LogIn::may_try(Way way, Requests& requests) {
  Turn& turn = requests.turn();
  if (config_.tries == nullptr || turn.peer == nullptr || has_tried_secret_ || has_ended())
    return true;
  if (!is_offered(way)) return true;
  const net::PeerAddress::Network address = turn.peer->network();
  const std::uint64_t now = monotonic_now();
  const bool of_account = way == Way::account;
  if (of_account ? config_.tries->has_room(address, now) : config_.tries->take(address, now)) {
    has_tried_secret_ = !of_account;
    return true;
  }
  if (turn.blocked_since == 0 || turn.consumed != 0) requests.tally(Counter::log_ins_slowed);
  turn.next = Next::retry;
  return false;
}

// Clients of the original give an empty secret where none is set. They act as who gives nothing.
bool LogIn::try_secret(std::string_view given, State& next) const {
  const bool is_needed = !config_.secret.empty();
  next = state_;
  next.caller = is_needed ? config_.trusted.get() : config_.anonymous.get();
  next.is_logged_in = is_needed;
  const bool is_right = is_needed ? equal_in_constant_time(given, config_.secret) : given.empty();
  return is_right && next.caller != nullptr;
}

// A refusal is kept: it may be too soon to answer it.
Status LogIn::end_account(State& next) const {
  assert(has_ended());
  if (state_.ended->status.ok()) next = {.caller = state_.ended->caller, .is_logged_in = true};
  return state_.ended->status;
}

void LogIn::end_right_try(const Turn& turn) {
  const bool was_secret = std::exchange(has_tried_secret_, false);
  if (was_secret && config_.tries != nullptr && turn.peer != nullptr)
    config_.tries->give_back(turn.peer->network());
}

// A client that has logged in knows the secret, but not the passwords of others. One that has gone
// must not keep its place among the connections.
bool LogIn::holds_back(Way way, Requests& requests) {
  Turn& turn = requests.turn();
  if (!is_offered(way)) return false;
  const bool knows_it = is_logged_in() && way == Way::secret;
  if (!knows_it && !turn.peer_done && time_blocked(turn) < config_.wrong_secret_delay) {
    turn.next = Next::retry;
    return true;
  }
  requests.tally(Counter::log_ins_failed);
  if (config_.tries == nullptr || turn.peer == nullptr) return false;
  has_tried_secret_ = false;
  const std::uint64_t count = config_.tries->to_be_logged(turn.peer->network(), monotonic_now());
  if (count != 0 && config_.note_wrong_tries != nullptr)
    config_.note_wrong_tries(*turn.peer, count);
  return false;
}

bool LogIn::run(Turn& turn, std::string_view user, std::string_view password, Status needs_tls,
                CounterBlock& counters) {
  const net::Endpoint& client = *turn.endpoint;
  const bool can_be_read = client.tls == nullptr && !client.is_unix_socket && !client.is_loopback;
  FailedTries* const tries = turn.peer != nullptr ? config_.tries : nullptr;
  if (tries != nullptr && !tries->take(turn.peer->network(), monotonic_now())) {
    if (turn.blocked_since == 0) counters.add(Counter::log_ins_slowed);
    turn.next = Next::retry;
    return false;
  }
  store::LogIn log_in;
  if (can_be_read && !password.empty()) {
    log_in.status = needs_tls;
  } else {
    log_in = config_.authenticator->log_in({.user = user,
                                            .password = password,
                                            .socket = client.socket,
                                            .is_unix_socket = client.is_unix_socket,
                                            .tls = client.tls});
  }
  // It may have been unescaped into a parser's memory.
  if (!password.empty()) ::explicit_bzero(const_cast<char*>(password.data()), password.size());
  if (tries != nullptr && !log_in.may_be_guess) tries->give_back(turn.peer->network());
  turn.next = log_in.status.ok() ? Next::again : Next::retry;
  state_.ended = std::move(log_in);
  return true;
}

}  // namespace hs::passes
