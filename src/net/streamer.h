// Streamer: a thread that carries long finds.
//
// Takes connections from a ConnectionQueue. Its own application object executes the first request
// of each, and the reply is sent piece by piece while the client reads. Then the connection goes
// back to its worker. If the client does not read, the find is parked and the connection goes back
// as well: its worker sends what the client has not taken, and queues the connection again. A
// streamer never reads from a socket.
#pragma once

#include "base/buffer.h"
#include "base/counters.h"
#include "net/application.h"
#include "net/shared.h"

namespace hs::net {

class Streamer {
 public:
  Streamer(Shared& shared, CounterBlock& counters) : shared_(shared), counters_(counters) {}

  // The whole life of the thread.
  void run();

 private:
  void loop();
  void carry(Connection& connection);
  void keep_output(Connection& connection);

  Shared& shared_;
  CounterBlock& counters_;
  std::unique_ptr<Application> app_;
  Buffer out_;
};

}  // namespace hs::net
