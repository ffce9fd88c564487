// LogInThd: a THD for one log-in, which is the thread's own as long as it exists.
//
// It is made and ended on the thread that logs a client in. Before and after, the thread has
// another THD. SHOW PROCESSLIST and KILL see it.
#pragma once

#include <memory>
#include <optional>

#include "mysqld/server/api.h"
#include "mysqld/server/instrumented_thread.h"
#include "mysqld/server/log_in.h"

// They are hidden, so that the linker refuses a family that leaves one of them undefined.
#pragma GCC visibility push(hidden)

namespace hs::mysqld::server {

// What the server calls to end a connection, or to change its socket, does nothing from now on.
void keep_open(Vio& vio);

class LogInThd {
 public:
  // Takes `vio`.
  LogInThd(const Client& client, Vio* vio);
  ~LogInThd();
  LogInThd(const LogInThd&) = delete;
  LogInThd& operator=(const LogInThd&) = delete;

  THD* get() const { return thd_; }

  // Lets the client in, as the server does it for SQL, and its logs and its audit trail have that
  // then. It may be refused afterwards. False: an error was raised.
  bool let_in() { return is_let_in_ = !thd_prepare_connection(thd_); }

  // The rest only after a log-in that succeeded.
  bool password_has_expired() const;
  // From now on the account, and its place among the account's connections, belong to the caller.
  std::unique_ptr<LoggedIn> take_account();

 private:
  THD* const before_;
  std::optional<InstrumentedThread> instrumented_;
  THD* const thd_;
  bool is_let_in_ = false;
  bool is_taken_ = false;
};

}  // namespace hs::mysqld::server

#pragma GCC visibility pop
