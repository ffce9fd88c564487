// Server: one listener group with its workers and streamers.
//
// Owns the listening sockets, the worker threads (an event loop and the
// connections each) and the streamer threads that carry long finds. The plugin
// makes two: the read port's and the write port's. start() and stop() are
// called from one thread of the host; everything else happens on the threads
// that this class owns. Knows no protocol and no table.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/counters.h"
#include "net/application.h"

namespace hs::net {

struct ServerConfig {
  std::string address;      // numeric or name; empty: 127.0.0.1 (and ::1 where there is one)
  std::string port;         // empty: no TCP listener
  std::string socket_path;  // empty: no Unix socket
  int backlog = 32768;
  int send_buffer = 0;     // SO_SNDBUF in bytes; 0: the kernel's choice
  int receive_buffer = 0;  // SO_RCVBUF, the same
  unsigned workers = 1;
  unsigned streamers = 1;
  std::chrono::seconds idle_timeout{300};   // 0: none
  std::chrono::microseconds busy_poll{30};  // 0: none; see net/busy_poll.h
  std::size_t max_connections = 10'000;     // of this server
  std::size_t max_request_size = std::size_t{64} << 20;
  // Most bytes taken from one connection in one pass.
  std::size_t read_size = std::size_t{64} << 10;
};

enum class Role : std::uint8_t { worker, streamer };

// Makes the application object of one thread; called on that thread. The
// counters are that thread's own and outlive the application.
using ApplicationFactory =
    std::function<std::unique_ptr<Application>(Role role, CounterBlock& counters)>;

// A line for the host's log. Any thread.
using LogFunction = std::function<void(const std::string& line)>;

class Server {
 public:
  Server(ServerConfig config, ApplicationFactory factory, CounterSet& counters, LogFunction log);
  ~Server();  // stops
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Binds and starts the threads, once. On failure says why in the log, leaves
  // nothing open, and returns false. Does not wait for the applications' own
  // start(), which may wait for the host; when no worker is left that serves,
  // nothing listens any more.
  bool start();

  // Closes the listeners and every connection (each client gets an end of file)
  // and joins the threads. Bounded: does not wait for any client.
  void stop();

  std::size_t connections() const;

  // The TCP port bound (useful with port "0"); 0 if there is none.
  unsigned bound_port() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hs::net
