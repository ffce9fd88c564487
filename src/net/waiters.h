// Waiters: the threads of a crew that wait for locks, as many as are needed at the moment.
//
// A worker must not wait for a row that another session has locked, and some engines cannot be asked
// for it without waiting. So a waiter executes such a write and waits in the engine. Each waiting
// write has a waiter of its own, and none waits for another's lock. A waiter is a Streamer with a
// queue of its own. It is started when a write needs it and no other is free, and leaves when it
// has had nothing to do for some time.
//
// Owns the threads. Workers call reserve(); the thread that stops the server calls join(). It never
// starts more threads than CrewConfig::waiters allows, and it knows no lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "kernel_calls.h"
#include "net/shared.h"
#include "net/streamer.h"

namespace hs::net {

class Waiters {
 public:
  // How a connection would do without a waiter.
  enum class Otherwise : std::uint8_t {
    // Its worker asks for the lock now and then. A few waiters are enough for such connections,
    // because most of those that wait for a row wait for the same one.
    asks,
    waits,  // for a waiter: nobody asks for its lock meanwhile
  };

  Waiters(Shared& shared, Crew& crew) : shared_(shared), crew_(crew) {}
  ~Waiters() { join(); }
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;

  // Keeps a waiter for a connection, which has to be pushed to the waiters' queue next. False: there
  // is none, and no more may be started.
  bool reserve(Otherwise otherwise);

  // When all workers have left, and Shared::stopping is set: waits until all waiters have left.
  void join();

 private:
  struct Waiter {
    Waiter(Shared& shared, Crew& crew) : streamer(shared, crew, Role::waiter) {}
    Streamer streamer;
    std::atomic<bool> has_left{false};
    kernel::Thread thread;
  };

  ConnectionQueue& queue() { return crew_.queue_of(Role::waiter); }
  bool start_one();
  void forget_those_who_left();

  Shared& shared_;
  Crew& crew_;
  std::mutex mutex_;
  std::list<Waiter> waiters_;
};

}  // namespace hs::net
