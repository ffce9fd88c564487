// Listener: a socket that clients connect to, TCP or Unix.
//
// Opened by the thread that starts the server; then only accepted from, by all
// workers. A Unix socket's file is taken away again when the listener goes.
#pragma once

#include <sys/types.h>

#include <list>
#include <string>

#include "net/connection.h"
#include "net/descriptor.h"
#include "net/server.h"

namespace hs::net {

class Listener : public Source {
 public:
  explicit Listener(Descriptor socket) : Source(Kind::listener), socket_(std::move(socket)) {}
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();

  int fd() const { return socket_.get(); }

  // Gives an accepted socket what it does not have from the listening one.
  void complete(const Descriptor& accepted, const ServerConfig& config) const;

 private:
  friend bool open_unix_listener(const ServerConfig&, std::list<Listener>&, const LogFunction&);

  Descriptor socket_;
  std::string path_;  // of the Unix socket whose file is ours
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

// Each appends what it could open; false, with the reason in the log, if that
// is not what the configuration asks for.
bool open_tcp_listeners(const ServerConfig& config, std::list<Listener>& listeners,
                        unsigned& bound_port, const LogFunction& log);
bool open_unix_listener(const ServerConfig& config, std::list<Listener>& listeners,
                        const LogFunction& log);

}  // namespace hs::net
