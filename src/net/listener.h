// Listener: a socket of a port that clients connect to, TCP or Unix.
//
// The thread that starts the server opens it. After that all workers accept from it. The file of a
// Unix socket is deleted when the listener is destroyed.
#pragma once

#include <sys/types.h>

#include <list>
#include <string>

#include "net/connection.h"
#include "net/descriptor.h"
#include "net/port.h"
#include "net/server.h"

namespace hs::net {

class Listener : public Source {
 public:
  // `place` is the address with its port, or the path.
  explicit Listener(Descriptor socket, Port& port, std::string place = {})
      : Source(Kind::listener), socket_(std::move(socket)), port_(port), place_(std::move(place)) {}
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();

  int fd() const { return socket_.get(); }
  Port& port() const { return port_; }
  const std::string& place() const { return place_; }

  // Sets the options that an accepted socket does not inherit from the listening one.
  void complete(const Descriptor& accepted, const ServerConfig& config) const;

 private:
  friend void open_unix_listener(const ServerConfig&, Port&, std::list<Listener>&,
                                 const LogFunction&);

  Descriptor socket_;
  Port& port_;
  std::string place_;
  std::string path_;  // of the Unix socket whose file this listener made
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

// Each appends the listeners of a port that it can open, and logs an error for each that the
// configuration asks for and that cannot be opened. The first also sets the port's bound_port.
void open_tcp_listeners(const ServerConfig& config, Port& port, std::list<Listener>& listeners,
                        const LogFunction& log);
void open_unix_listener(const ServerConfig& config, Port& port, std::list<Listener>& listeners,
                        const LogFunction& log);

}  // namespace hs::net
