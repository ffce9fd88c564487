// Faults: what may go wrong in one run, and the exception for something that did.
//
// Plain data, chosen once from the seed. Each number is a percentage of the calls.
#pragma once

#include <stdexcept>
#include <string>

namespace hs::simulator {

struct Faults {
  unsigned blocked = 0;       // another session's lock: the request has to be tried again
  unsigned row_locked = 0;    // the same for the row that a worker has to write
  unsigned long_write = 0;    // a write is too much for a worker
  unsigned broken = 0;        // the engine rolls the whole pass back
  unsigned commit_fails = 0;  // nothing of the pass is kept
  unsigned no_memory = 0;     // a request throws
  unsigned reset = 0;         // a client vanishes; the chance is for each of its steps
  // Somebody looks at the connections. Each look wakes all workers, so it would hide that one has
  // not been woken for something else.
  bool watched = false;
  unsigned closes = 0;     // somebody closes a connection; the chance is for each look at them
  unsigned scrambled = 0;  // a client speaks through a byte filter; the chance is for each client
  unsigned stall = 0;      // a client does nothing for a while; the chance is for each of its steps
  // the limit for waiting bytes is low: connections that hold most are ended
  bool little_room = false;
  // only with little room: greedy clients send half requests for which their buffers have to grow
  bool large_requests = false;
  // clients have to log in, soon, and there may be only a few that have not
  bool strangers = false;
  // There are guessers, and so many wrong secrets and passwords a second are allowed from an
  // address. 0: as many as come.
  unsigned most_wrong_tries = 0;
  unsigned refusal_delay_ms = 0;  // until a wrong one is answered
  // Some tables are on another server, which takes its time.
  bool remote_tables = false;
  // Who waits so long for a remote thread is answered 1205; 0: nobody is.
  unsigned remote_patience_ms = 0;
  unsigned moves = 0;  // any other table turns out to be there, too
  // The connections are spread over another number of workers; the chance is for each look that
  // somebody could take at them.
  unsigned spreads = 0;
};

// Something that must be true is not.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline void require(bool holds, const std::string& what) {
  if (!holds) throw Failure(what);
}

}  // namespace hs::simulator
