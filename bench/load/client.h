// Client: one thread's connections, and the loop that keeps them busy.
//
// It owns its sockets, its epoll and what it has measured. connect() and run() belong to one
// thread; any other thread may call done() meanwhile. Nothing is locked, and only the newest key is
// shared. It ends when the timeline does, whatever the server does.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "load/connect.h"
#include "load/histogram.h"
#include "load/key_chooser.h"
#include "load/meter.h"
#include "load/options.h"
#include "load/wire.h"

namespace hs::bench {

struct Outcome {
  Tally tally;
  Histogram latency;
  std::uint64_t lost_connections = 0;
};

class Client {
 public:
  Client(const Options& options, Address address, std::uint32_t connections,
         std::atomic<std::uint64_t>& newest_key, std::uint64_t seed);

  // Connects, logs in and opens an index. Returns what went wrong, or an empty text.
  std::string connect();
  void run(const Timeline& timeline);

  std::uint64_t done() const { return done_.load(std::memory_order_relaxed); }
  const Outcome& outcome() const { return outcome_; }

 private:
  struct Connection {
    Socket socket;
    std::unique_ptr<ReplyCounter> counter;
    Buffer out;
    std::size_t sent = 0;        // how much of `out` is sent
    bool waits_to_send = false;  // epoll watches for room to send
    bool has_heard = false;      // the server has said something
    std::size_t greetings = 0;   // replies to the greeting that are still to come
    std::uint32_t in_flight = 0;
    std::uint32_t batch = 0;  // closed loop: how many were sent together
    // closed loop: when they were sent; with reconnect: when it connected
    Clock::time_point started;
    std::vector<Clock::time_point> starts;  // open loop: the intended times, a ring of `depth`
    std::size_t oldest = 0;                 // place in `starts`
  };

  bool open(Connection& connection);
  void lose(Connection& connection, std::string_view why);
  void flush(Connection& connection);
  void receive(Connection& connection);
  std::uint64_t feed(Connection& connection, std::string_view bytes, Tally& tally);
  void greeted(Connection& connection, std::uint64_t replies);
  void answered(Connection& connection, std::uint64_t replies);
  void write_request(Connection& connection);
  void start_batch(Connection& connection);
  bool start_due_requests();
  void record_unanswered();
  // Open loop: when the request with this number, counted from 1, has to be sent.
  Clock::time_point intended_start(std::uint64_t number) const;
  timespec time_to_wait(bool all_started) const;
  bool finished() const;
  bool handle_events(const timespec& timeout);

  const Options& options_;
  Address address_;
  std::unique_ptr<Wire> wire_;
  KeyChooser keys_;
  std::vector<std::uint64_t> request_keys_;
  Descriptor epoll_;
  std::vector<Connection> connections_;
  std::vector<char> input_;
  std::size_t alive_ = 0;
  std::size_t busy_ = 0;  // connections that wait for a reply

  Timeline timeline_{};
  bool running_ = false;
  bool counting_ = false;
  Clock::time_point now_;
  Clock::time_point loop_began_;
  std::uint64_t operations_left_;
  std::uint64_t started_requests_ = 0;  // open loop
  std::size_t next_connection_ = 0;     // open loop
  double rate_;
  Tally uncounted_;
  Outcome outcome_;
  std::atomic<std::uint64_t> done_ = 0;
};

}  // namespace hs::bench
