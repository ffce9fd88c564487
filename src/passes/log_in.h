// LogIn: as whom a connection acts, and what its client does in order to act as somebody else.
//
// Each dialogue of a protocol whose clients can log in has one. There are two ways: a secret, which
// the port has, and an account's user and password, which an Authenticator checks on a log-in thread.
// It decides when a try may be made and when its answer may be given, so that nobody can try many
// secrets or passwords in a short time. Used by the thread that has the connection's turn. It cuts no
// request and writes no reply.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/counters.h"
#include "base/setting.h"
#include "base/status.h"
#include "net/application.h"
#include "net/peer.h"
#include "passes/failed_tries.h"
#include "store/authenticator.h"
#include "store/caller.h"

namespace hs::passes {

class Requests;

// Of a port. Outlives its dialogues.
struct LogInConfig {
  std::string secret{};  // empty: none is set
  // as whom a connection acts that has not logged in; null: it may only log in
  SharedSetting<const store::Caller> anonymous = store::Caller::unlimited();
  // as whom a connection acts that has given the secret; null: no secret is right
  SharedSetting<const store::Caller> trusted = store::Caller::unlimited();
  // checks the log-ins of accounts, and outlives the dialogues; null: there are none
  const store::Authenticator* authenticator = nullptr;
  // A wrong secret or password is answered after this time, so that nobody can try many on a
  // connection that stays open.
  std::chrono::nanoseconds wrong_secret_delay{0};
  // Keeps addresses to so many wrong ones, and outlives the dialogues. Null: it is not done.
  FailedTries* tries = nullptr;
  // Who is told, at a bounded rate, of how many wrong ones an address has sent since the last time.
  std::function<void(const net::PeerAddress&, std::uint64_t count)> note_wrong_tries{};
};

class LogIn {
 public:
  enum class Way : std::uint8_t { secret, account };

  // What a request may change. If its pass is executed again, the dialogue puts it back.
  struct State {
    // as whom the connection acts; null: as nobody, because it has to log in first
    std::shared_ptr<const store::Caller> caller;
    bool is_logged_in = false;
    std::optional<store::LogIn> ended{};  // of an account, and not answered yet
  };

  explicit LogIn(const LogInConfig& config)
      : config_(config), state_{.caller = config.anonymous.get()} {}

  const std::shared_ptr<const store::Caller>& caller() const { return state_.caller; }
  // Whether the client has given the secret, or a password.
  bool is_logged_in() const { return state_.is_logged_in; }
  const State& state() const { return state_; }
  void set_state(State state) { state_ = std::move(state); }
  // Whether the port has accounts. Without them their way does not exist.
  bool has_accounts() const { return config_.authenticator != nullptr; }

  // On a worker, before a request that logs in: whether its secret or password may be tried now. If
  // its address has sent too many wrong ones, the turn is over, and the request is executed again
  // later.
  bool may_try(Way way, Requests& requests);
  // Whether the secret is right. Then `next` is what the connection becomes.
  bool try_secret(std::string_view given, State& next) const;
  // Whether the log-in of an account has ended, and how. If not, it needs a log-in thread.
  bool has_ended() const { return state_.ended.has_value(); }
  Status end_account(State& next) const;
  // A right try is about to be answered.
  void end_right_try(const net::Turn& turn);
  // A wrong try, or what may be one, is about to be answered: whether it is too soon to say so. The
  // turn is over then, and the request is executed again later.
  bool holds_back(Way way, Requests& requests);

  // On a log-in thread: makes the log-in of an account that is the turn's first request, and writes
  // over the password. The request is executed again by the worker, which answers it. `needs_tls` is
  // the answer to a password that others can read. False: too many wrong ones have come from its
  // address, and it is tried again later.
  bool run(net::Turn& turn, std::string_view user, std::string_view password, Status needs_tls,
           CounterBlock& counters);

 private:
  bool is_offered(Way way) const {
    return way == Way::account ? has_accounts() : !config_.secret.empty();
  }

  const LogInConfig& config_;
  State state_;
  bool has_tried_secret_ = false;  // that of the next request, and it is not answered yet
};

}  // namespace hs::passes
