// Streamer: a thread that carries long finds.
//
// Takes connections from a ConnectionQueue. Its own application object executes the first request
// of each, and the reply is sent piece by piece while the client reads. Then the connection goes
// back to its worker. If the client does not read, the find is parked and the connection goes back
// as well: its worker sends what the client has not taken, and queues the connection again. A
// streamer never reads from a socket.
//
// A log-in thread and a remote thread are streamers with other queues. The requests of the first
// are log-ins, which may take as long as the server likes. Those of the second ask another server,
// which may not answer. Who has waited too long for a remote thread is only answered. A waiter
// (net/waiters.h) is the fourth kind: its requests are writes that wait for locks.
#pragma once

#include "base/buffer.h"
#include "base/counters.h"
#include "net/application.h"
#include "net/shared.h"

namespace hs::net {

class Streamer {
 public:
  // `role` is that of a carrier which is no handshaker.
  Streamer(Shared& shared, Crew& crew, Role role)
      : shared_(shared), crew_(crew), role_(role), counters_(shared.counters_of_ports()) {}

  // Where it takes its connections from.
  ConnectionQueue& queue() { return crew_.queue_of(role_); }

  // The whole life of the thread.
  void run();

 private:
  // False if it could not; `failure` is what the log says then.
  bool start(const char* failure);
  void loop();
  void carry(Connection& connection);
  void keep_output(Connection& connection);

  Shared& shared_;
  Crew& crew_;
  const Role role_;
  ThreadCounters counters_;
  std::unique_ptr<StreamerApplication> app_;
  Buffer out_;
  bool has_retired_ = false;  // the queue knows already that it leaves
};

}  // namespace hs::net
