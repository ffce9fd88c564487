// Departures: clients that were logged in and have gone, until the server's audit trail is told.
//
// A connection may end on its worker, whose other clients must not wait for an audit plugin. So the
// account leaves a note here, and a log-in thread tells the server. There are never more notes than
// there were log-ins since they were told last, and each log-in begins with telling them.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "mysqld/server/log_in.h"

namespace hs::mysqld {

class Departures {
 public:
  // Any thread.
  void add(std::unique_ptr<server::Departure> departure);
  // Any thread that has a THD and no table open. Cheap if there are none.
  void tell();

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<server::Departure>> departures_;
  std::atomic<bool> are_there_{false};
};

}  // namespace hs::mysqld
