// What the plugin says while it starts, or while SET GLOBAL changes something: lines in the server's
// log, which the client of INSTALL PLUGIN or SET GLOBAL is also told.
//
// The thread that starts the plugin, or changes it, makes one for as long as that takes. While it
// exists, log() on that thread belongs to it. On other threads log() writes into the server's log
// only.
#pragma once

#include <string_view>

#include "net/server.h"

namespace hs::mysqld {

class StartReport {
 public:
  StartReport();
  ~StartReport();
  StartReport(const StartReport&) = delete;
  StartReport& operator=(const StartReport&) = delete;

  void tell(net::LogLevel level, std::string_view line);

  // Whether a client waits for the end of its statement. False while the server starts, and on a
  // thread of the ports, where a trigger may execute SET GLOBAL.
  bool has_client() const { return client_; }
  // Whether there was an error and a client waits for the end of INSTALL PLUGIN. The statement then
  // has to fail. A server that starts goes on instead, with what can be served.
  bool fails_install() const { return errors_ && client_; }

 private:
  const bool client_;
  StartReport* before_ = nullptr;  // of this thread
  bool errors_ = false;
};

// Any thread.
void log(net::LogLevel level, std::string_view line);

}  // namespace hs::mysqld
