// SimulatedAuthenticator: accounts whose password is "right".
//
// Every client that logs in may do everything. A log-in takes as long as the run likes.
#pragma once

#include "kernel_calls.h"
#include "store/authenticator.h"

namespace hs::simulator {

class SimulatedAuthenticator final : public store::Authenticator {
 public:
  store::LogIn log_in(const store::Credentials& who) const override {
    net::kernel::yield();
    constexpr std::uint32_t access_denied = 1045;
    if (who.password != "right")
      return {.status = Status::server(access_denied), .caller = nullptr};
    return {.status = {}, .caller = store::Caller::unlimited()};
  }
};

}  // namespace hs::simulator
