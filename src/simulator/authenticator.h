// SimulatedAuthenticator: accounts whose password is "right".
//
// Every client that logs in may do everything. A log-in takes as long as the run likes. Wrong
// passwords are noted, with the address that they came from.
#pragma once

#include "kernel_calls.h"
#include "simulator/world.h"
#include "simulator/wrong_tries.h"
#include "store/authenticator.h"

namespace hs::simulator {

class SimulatedAuthenticator final : public store::Authenticator {
 public:
  explicit SimulatedAuthenticator(WrongTries& wrong_tries) : wrong_tries_(wrong_tries) {}

  store::LogIn log_in(const store::Credentials& who) const override {
    World& world = World::current();
    const bool is_right = who.password == "right";
    if (!is_right)
      wrong_tries_.add(world.socket(who.socket)->client_address, world.now(), world.now());
    net::kernel::yield();
    if (!is_right) return {.status = Error::wrong_log_in, .caller = nullptr, .may_be_guess = true};
    return {.status = {}, .caller = store::Caller::unlimited()};
  }

 private:
  WrongTries& wrong_tries_;
};

}  // namespace hs::simulator
