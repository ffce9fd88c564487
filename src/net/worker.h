// Worker: a thread with an event loop, its application and its connections.
//
// Everything here runs on that thread. Other threads reach it only through its Inbox and the Shared
// state. worker.cc has the loop and the life of the thread; worker_pass.cc has what happens to a
// connection before and after its turn; worker_greeting.cc has what happens before its first
// request; worker_moves.cc gives connections to other workers. The sockets are watched
// edge-triggered, so it takes no system call to leave a connection unread while it is blocked,
// flushing or streaming.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <list>
#include <memory>
#include <span>
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
  Worker(Shared& shared, Crew& crew, Inbox& inbox);

  // Before the thread starts. False: errno says why.
  bool open();
  // The whole life of the thread.
  void run();

 private:
  static constexpr std::uint64_t no_deadline = std::numeric_limits<std::uint64_t>::max();

  // The thread's, for what happens at the connection's port.
  CounterBlock& counters_of(const Connection& connection) {
    return counters_.of(connection.port->number);
  }

  // worker.cc
  bool start();  // false if it could not, which the log says then
  void loop();
  std::size_t await_events(int timeout_ms);
  std::size_t stay_awake();
  std::size_t take_events(int timeout_ms);
  int time_to_wait() const;
  void take_event(const epoll_event& event);
  void take_moved();
  void take_inbox();
  void add(Accepted socket);
  void answer(Question& question);
  void end(Connection& connection);
  void end_work_of(Connection& connection);
  void take_returned(Connection& connection);
  void retry_blocked();
  void close_expired(bool caught_up);
  void answer_late();
  void answer_overdue();
  void answer_as_late(Connection* late);
  void end_leavers();
  void shed(Connection& connection);
  void refuse(Connection& connection, Refusal why);
  void close(Connection& connection);
  void forget(Port& port);
  void leave();
  void await_carriers();
  void end_all_connections();

  // worker_pass.cc
  void run_pass();
  void gather();
  bool prepare(Connection& connection);
  bool receive(Connection& connection);
  std::size_t room_without_charge(Connection& connection, std::span<char> input);
  std::size_t most_kept(const Connection& connection) const;
  bool make_room(Connection& connection, std::size_t room);
  void add_turn(Connection& connection, std::string_view input);
  enum class Turns : std::uint8_t { over, all };
  bool execute_pass();
  void add_writes();
  void settle_turns(Turns which);
  void note_latencies();
  void close_pass();
  void settle(Connection& connection, const Turn& turn);
  bool send_replies(Connection& connection, std::string_view replies);
  void begin_flushing(Connection& connection);
  void flush(Connection& connection);
  void proceed(Connection& connection);
  void enqueue(Connection& connection);
  void watch_output(Connection& connection, bool on);
  bool hand_over(Connection& connection, Role carrier);
  bool hand_to_waiter(Connection& connection);
  void linger(Connection& connection);
  void drain(Connection& connection);

  // worker_moves.cc
  void spread_connections();
  std::size_t share_of_each(unsigned spread) const;
  bool give_away(Connection& connection, std::list<Connection>& to);
  bool send_on(std::list<Connection>& leaving, std::size_t count, Inbox& to);
  bool move_to(const Crew& crew, Connection& connection);
  void hand_to_writers(Connection& connection);
  void note_away(Connection& connection, const RequestCounts& answered) const;
  bool go_home(Connection& connection);
  void adopt(std::list<Connection>& connections);

  // worker_greeting.cc
  bool greet(Connection& connection, std::string_view begin);
  void begin_handshake(Connection& connection, std::string_view begin);
  void shake_hands(Connection& connection);
  void take_handshake(Connection& connection);
  void refuse_foreign(Connection& connection, std::string_view protocol);
  void turn_away(Connection& connection);
  void end_late(Connection& connection);
  void warn_of(Connection& connection, OnceAMinute& line, std::string_view does,
               std::string_view what);

  Shared& shared_;
  Crew& crew_;
  Inbox& inbox_;
  ThreadCounters counters_;
  Acceptor acceptor_;
  Descriptor epoll_;
  std::unique_ptr<WorkerApplication> app_;
  ConnectionLists connections_;
  std::uint64_t now_ = 0;             // read once in each round of the loop
  std::uint64_t pass_ended_ = 0;      // when the replies of the last pass were sent
  std::uint64_t late_looked_at_ = 0;  // when it last looked who has waited too long
  // No connection that it has handed over has a deadline before this.
  std::uint64_t next_deadline_ = no_deadline;
  bool inbox_filled_ = false;
  BusyPoll busy_poll_;
  bool rested_ = false;            // the application knows that there is nothing to do
  std::vector<Accepted> sockets_;  // accepted, but not connections yet
  std::list<Connection> moved_;    // of other workers, and not this one's yet
  std::uint32_t spread_seen_;  // the number of the spread that it has done its part for; 0: of none
  std::uint64_t moved_at_ = 0;  // when it last looked whether connections have to go

  std::vector<Connection*> ready_;  // those that want a turn, in order
  std::vector<Turn> turns_;         // of this pass
  // the connections of turns_, in the same order; null if the turn has been settled
  std::vector<Connection*> takers_;
  // What was read in this pass, a run of bytes for each connection. Behind arena_size_ there is
  // room for bytes that are read only to be thrown away.
  const std::size_t arena_size_;
  std::unique_ptr<char[]> arena_;
  std::size_t arena_used_ = 0;
  Buffer out_;
};

}  // namespace hs::net
