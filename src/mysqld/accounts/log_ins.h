// LogIns: lets clients log in as accounts of the server.
//
// It has no state: what the server knows decides. The log-in threads of all ports may share it.
#pragma once

#include "store/authenticator.h"

namespace hs::mysqld {

class LogIns final : public store::Authenticator {
 public:
  store::LogIn log_in(const store::Credentials& who) const override;
};

}  // namespace hs::mysqld
