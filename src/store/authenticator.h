// Authenticator: checks who a client says it is, and makes its caller.
//
// Whoever knows accounts makes one. All log-in threads of a port share it, so it may be called on
// several threads at a time. It may take as long as a log-in takes: it is never called by a worker.
#pragma once

#include <memory>
#include <string_view>

#include "base/status.h"
#include "store/caller.h"

namespace hs::store {

// All views are valid only during the call.
struct Credentials {
  std::string_view user;
  std::string_view password;
  int socket = -1;              // the client's; nobody may read it or write to it
  bool is_unix_socket = false;  // so the client is on this machine, and its user is known
  void* tls = nullptr;          // the TLS library's session; null: plain bytes
};

struct LogIn {
  Status status;                         // the answer
  std::shared_ptr<const Caller> caller;  // only if the status is ok
  // It was refused because of the user or the password, so it may have been a guess.
  bool may_be_guess = false;
};

class Authenticator {
 public:
  virtual ~Authenticator() = default;
  virtual LogIn log_in(const Credentials& who) const = 0;
};

}  // namespace hs::store
