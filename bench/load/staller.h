// Staller: clients that make a server wait, with a reply that they do not read or a request that
// they send by half.
//
// It owns its sockets. connect() and run() belong to one thread. outcome() may be read after run()
// has returned. If the server closes a connection, the client comes again. It ends when the
// timeline does.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "load/client.h"
#include "load/connect.h"
#include "load/greed.h"
#include "load/meter.h"
#include "load/wire.h"

namespace hs::bench {

class Staller {
 public:
  // `options` come from greedy_options() and have to outlive it.
  Staller(Greed greed, const Options& options, Address address);

  // Connects all clients. Returns what went wrong, or an empty text. It does not check that the
  // server lets them in.
  std::string connect();
  void run(const Timeline& timeline);
  // It reads no replies. `replies` in the outcome counts the requests of which all was sent that it
  // ever sends.
  const Outcome& outcome() const { return outcome_; }

 private:
  struct Connection {
    Socket socket;
    std::unique_ptr<ReplyCounter> counter;
    Buffer greeting;
    std::size_t greetings = 0;  // replies to the greeting that are still to come
    std::size_t sent = 0;       // how much of the request is sent
    // without a connection: when to come again; when all is sent: when to leave
    Clock::time_point until;
  };

  bool open(Connection& connection);
  void close(Connection& connection);
  void handle(Connection& connection, short events);
  void read_greeting(Connection& connection);
  void send(Connection& connection);
  short wanted_events(const Connection& connection) const;

  bool ends_;  // whether a client that has sent all leaves and comes again
  Address address_;
  std::unique_ptr<Wire> wire_;
  Buffer request_;
  std::vector<Connection> connections_;
  Outcome outcome_;
};

}  // namespace hs::bench
