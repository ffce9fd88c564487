// What the tests of net/ share: an application that obeys simple lines. Every wait is bounded.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/counters.h"
#include "net/server.h"
#include "net/test_client.h"

namespace hs::net::test {

// True as soon as `condition` holds, false if it does not in time.
bool eventually(const std::function<bool()>& condition);

// What the application's threads tell the test, and what the test tells them.
struct Board {
  std::atomic<std::size_t> lines_a_pass{1'000'000};     // of one connection; then `again`
  std::atomic<std::size_t> lines_of_a_pass{1'000'000};  // of all connections
  std::atomic<bool> keeps_half{
      false};  // of a pass, for turns that are put off: those it has no room for
  std::atomic<std::size_t> most_waiting{Dialogue::no_limit};  // of connections that come
  std::atomic<bool> gate_open{false};        // "gate" is answered once this is true
  std::atomic<std::size_t> holds_over{0};    // so many "hold" may end
  std::atomic<std::uint64_t> open_locks{0};  // bit N: lock N is free
  std::atomic<bool> late_throws{false};      // to answer who is late fails
  std::atomic<std::size_t> wrongly_late{0};
  // not 0: what goes to a streamer or a remote thread has a deadline so long after it has come
  std::atomic<unsigned> deadline_ms{0};
  std::atomic<bool> takes_more{false};   // a pass takes turns until there are no more
  std::atomic<bool> release_over{true};  // release() of the pass returns once this is true
  std::atomic<bool> run_worker{true};
  std::atomic<bool> run_streamer{true};
  std::atomic<bool> can_start{true};
  std::atomic<bool> host_shuts_down{false};  // no application is made
  std::atomic<bool> cannot_be_made{false};   // to make an application fails
  std::atomic<std::size_t> leaver{0};        // the number of a thread that has to leave
  static constexpr std::size_t no_crew = ~std::size_t{0};
  std::atomic<std::size_t> reading_crew{no_crew};  // its workers leave writes to another crew

  std::atomic<std::size_t> requests{0};
  std::atomic<std::size_t> passes{0};
  std::atomic<std::size_t> releases{0};
  std::atomic<std::size_t> holding{0};  // times that a pass has met "hold"
  std::atomic<std::size_t> gate_turns{0};
  std::atomic<std::uint64_t> gate_since{0};
  std::atomic<std::size_t> gate_since_changes{0};
  // turns whose `scanned` is not what the last turn left
  std::atomic<std::size_t> wrongly_scanned{0};
  std::atomic<std::size_t> idles{0};
  std::atomic<std::size_t> started{0};
  std::atomic<std::size_t> stopped{0};
  std::atomic<std::size_t> dialogues{0};          // alive
  std::atomic<std::size_t> late_dialogues{0};     // outlived their worker's stop()
  std::atomic<std::size_t> strange_dialogues{0};  // ended on another thread than their worker's
  std::atomic<std::size_t> departures{0};         // of dialogues to other workers
  std::atomic<bool> streaming{false};
  std::atomic<std::size_t> waiters{0};       // that are in a wait for a lock
  std::atomic<std::size_t> waiters_made{0};  // their applications
  std::atomic<bool> killed{false};           // what a streamer does is killed
  std::atomic<std::size_t> parked{0};        // how many times a find was parked
  // Turns that began while another turn of the same dialogue was at work.
  std::atomic<std::size_t> shared_dialogues{0};
};

// Of the calling thread: whether allocation_test.cc may make its allocations fail. The
// application's threads set it.
extern thread_local bool allocations_may_fail;

// Answers each line with the line itself, except
//   big N        N bytes and LF
//   who          the number of its worker
//   port         the number of the port through which its client has come
//   pass         how many passes there have been, with this one
//   gate         "passed" once the board's gate is open
//   hold         its worker does nothing else until the board says so
//   stream N M   N pieces of M bytes and "end", by a streamer. With " gate" behind it, only
//                once the gate is open. With " parks", the find is parked while its client does
//                not read. With " parks gate" both, and the gate counts each time that it goes on
//                With " quiet" in place of M, it has nothing to send and only looks whether it has
//                to end
//   remote       "remote", by a remote thread; "late" if it has waited too long for one, and "late
//                there" if it was the thread that has found it so. What waits for a streamer beyond
//                its deadline is "late", too
//   remote hold  the same, but a remote thread does nothing else until the board says so
//   lock N       "got", by a waiter once lock N is free, which waits for a tenth of a second each time
//   ask N        the same, but its worker asks for the lock, too
//   close        "bye", and the connection is closed
//   known        the line, and the connection may keep as much as it likes from now on
//   foreign      only as the first line: "wrong port", and the connection is closed
//   write LINE   as LINE, but its turn is put off until the pass has done the others, or goes to
//                another crew if the worker's own only reads
ApplicationFactory line_application(Board& board);

struct Log {
  std::mutex mutex;
  std::vector<std::string> lines;
  bool contains(std::string_view text);
  std::size_t size();
};

// The same configuration. These count at each port that has none that do.
ServerConfig counted_by(CounterSet& counters, ServerConfig config);

// A started server and what it needs.
class Fixture {
 public:
  explicit Fixture(ServerConfig config = loopback());
  static ServerConfig loopback();

  bool start() { return server.start(); }
  std::uint64_t count(Counter counter) { return counters.sum(counter); }

  Board board;
  Log log;
  CounterSet counters;
  Server server;
};

}  // namespace hs::net::test
