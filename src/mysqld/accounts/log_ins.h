// LogIns: lets clients log in as accounts of the server.
//
// What the server knows decides. The log-in threads of a port share it. It also tells the server of
// the clients that were logged in and have gone.
#pragma once

#include <memory>

#include "mysqld/accounts/departures.h"
#include "store/authenticator.h"

namespace hs::mysqld {

class LogIns final : public store::Authenticator {
 public:
  store::LogIn log_in(const store::Credentials& who) const override;
  // See Departures.
  void tell_departures() const { departures_->tell(); }

 private:
  const std::shared_ptr<Departures> departures_ = std::make_shared<Departures>();
};

}  // namespace hs::mysqld
