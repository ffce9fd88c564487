// InstrumentedThread: as long as it exists, the performance schema knows the calling thread.
//
// Then it counts what the thread does with tables, files and locks, as for a thread of the server.
// Each worker has one for its life, and a log-in thread another one for each log-in: its end makes
// the thread again what it was before. It does nothing if the performance schema is off. It ends on
// the thread that made it, after its THD. Of two on one thread, the later one ends first.
#pragma once

#include <cstdint>

class THD;
struct PSI_thread;

// They are hidden, so that the linker refuses a family that leaves one of them undefined.
#pragma GCC visibility push(hidden)

namespace hs::mysqld::server {

class InstrumentedThread {
 public:
  enum class Kind : std::uint8_t { worker, log_in };

  explicit InstrumentedThread(Kind kind);
  ~InstrumentedThread();
  InstrumentedThread(const InstrumentedThread&) = delete;
  InstrumentedThread& operator=(const InstrumentedThread&) = delete;

  // Called once. The THD was made while this existed, so that its memory is counted for it.
  void take(THD* thd);

 private:
  const Kind kind_;
  PSI_thread* const before_;
};

}  // namespace hs::mysqld::server

#pragma GCC visibility pop
