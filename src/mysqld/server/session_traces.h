// SessionTraces: whether a statement has left something in the session of its thread.
//
// A trigger may set variables, take locks by GET_LOCK(), or make temporary tables. In SQL these stay
// in the session of one client. A worker's session serves all clients, so nothing may stay there.
// Each store has one, on its own thread and THD. It only looks; HostThread resets the session.
#pragma once

#include <cstddef>
#include <vector>

class THD;

// They are hidden, so that the linker refuses a family that leaves one of them undefined.
#pragma GCC visibility push(hidden)

namespace hs::mysqld::server {

class SessionTraces {
 public:
  explicit SessionTraces(THD* thd) : thd_(thd) {}

  // Before a statement that may leave traces: remembers the session's variables.
  void begin();
  // After it, and with no change to the variables by anybody else. From then on there are traces,
  // until forget().
  void end();
  bool any() const { return any_; }
  void forget() { any_ = false; }

 private:
  THD* thd_;
  // Copies of the variables of the server and of plugins, without what pointers in them point to.
  std::vector<std::byte> own_;
  std::vector<std::byte> of_plugins_;
  bool any_ = false;
};

}  // namespace hs::mysqld::server

#pragma GCC visibility pop
