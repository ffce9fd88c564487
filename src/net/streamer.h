// Streamer: a thread that carries long finds.
//
// Takes connections from the StreamQueue and has its own application object
// execute their first request, sent piece by piece while the client reads; then
// gives each back to its worker. It never reads from a socket.
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

  Shared& shared_;
  CounterBlock& counters_;
  std::unique_ptr<Application> app_;
  Buffer out_;
};

}  // namespace hs::net
