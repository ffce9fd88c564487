// Handshaker: a thread that shakes hands with clients that speak TLS.
//
// A handshake takes as much CPU time as hundreds of requests, so no worker does it. The thread
// takes connections from a ConnectionQueue, goes on with the handshake of each as far as its bytes
// reach, and gives it back to its worker, which waits for more bytes. So a client that is slow
// costs a place in a list of its worker, and never holds up this thread.
#pragma once

#include "net/shared.h"

namespace hs::net {

class Handshaker {
 public:
  Handshaker(Shared& shared, Crew& crew) : shared_(shared), crew_(crew) {}

  // Where it takes its connections from.
  ConnectionQueue& queue() { return crew_.queue_of(Role::handshaker); }

  // The whole life of the thread.
  void run();

 private:
  Shared& shared_;
  Crew& crew_;
};

}  // namespace hs::net
