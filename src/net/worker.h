// Worker: a thread with an event loop, its application and its connections.
//
// Everything here runs on that thread; other threads reach it through its Inbox
// and the Shared state only. worker.cc has the loop and the thread's life,
// worker_pass.cc what happens to a connection before and after its turn. The
// sockets are watched edge-triggered, so a connection that is not to be read (it
// is blocked, flushed or streamed) costs no system call to be left alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/buffer.h"
#include "base/counters.h"
#include "net/acceptor.h"
#include "net/application.h"
#include "net/busy_poll.h"
#include "net/connection.h"
#include "net/connection_lists.h"
#include "net/shared.h"

struct epoll_event;

namespace hs::net {

class Worker {
 public:
  Worker(Shared& shared, Inbox& inbox, CounterBlock& counters);

  // Before the thread starts. False: errno says why.
  bool open();
  // The whole life of the thread.
  void run();

 private:
  // worker.cc
  void loop();
  std::size_t await_events(int timeout_ms);
  std::size_t stay_awake();
  std::size_t take_events(int timeout_ms);
  int time_to_wait() const;
  void take_event(const epoll_event& event);
  void take_inbox();
  void add(Descriptor socket);
  void retry_blocked();
  void close_expired(bool caught_up);
  void close(Connection& connection);
  void leave();
  void await_streamers();
  void end_all_connections();

  // worker_pass.cc
  void run_pass();
  void gather();
  bool prepare(Connection& connection);
  bool receive(Connection& connection);
  void add_turn(Connection& connection, std::string_view input);
  void settle(Connection& connection, const Turn& turn);
  bool send_replies(Connection& connection, std::string_view replies);
  void flush(Connection& connection);
  void proceed(Connection& connection);
  void enqueue(Connection& connection);
  void watch_output(Connection& connection, bool on);
  void start_stream(Connection& connection);
  void linger(Connection& connection);
  void drain(Connection& connection);

  Shared& shared_;
  Inbox& inbox_;
  CounterBlock& counters_;
  Acceptor acceptor_;
  Descriptor epoll_;
  std::unique_ptr<Application> app_;
  ConnectionLists connections_;
  std::uint64_t now_ = 0;  // read once a loop
  bool inbox_filled_ = false;
  BusyPoll busy_poll_;
  bool rested_ = false;              // the application knows that there is nothing to do
  std::vector<Descriptor> sockets_;  // accepted and not yet connections

  std::vector<Connection*> ready_;   // want a turn, in order
  std::vector<Turn> turns_;          // of this pass
  std::vector<Connection*> takers_;  // whose they are
  // What was read in this pass, one run of bytes for each connection; behind
  // arena_size_ there is room for what is read to be thrown away.
  const std::size_t arena_size_;
  std::unique_ptr<char[]> arena_;
  std::size_t arena_used_ = 0;
  Buffer out_;
};

}  // namespace hs::net
