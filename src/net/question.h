// Question: what another thread asks all workers of a server about their connections.
//
// Only a worker may look at its connections, so a thread that wants to know or to close them leaves
// a question in each worker's inbox and waits for the answers. A worker answers between two passes,
// one question in each round of its loop. The question belongs to all of them together: an asker
// who has waited long enough goes, and the last worker drops it. No worker waits for the asker.
//
// Connections move from worker to worker meanwhile. One that moves to a worker which has answered
// already would be missed by both. So whoever puts it into that worker's inbox adds it to the answer
// (Inbox::take_over()). It may then be seen twice, which does no harm.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/latency.h"
#include "kernel_calls.h"
#include "net/connection_state.h"
#include "net/peer.h"
#include "net/server.h"

namespace hs::net {

struct Connection;
struct Shared;

// A connection as its worker saw it.
struct SeenConnection {
  std::uint64_t id;
  std::size_t port;
  PeerAddress peer;
  std::string user;
  ConnectionState state;
  std::uint64_t age;   // ns
  std::uint64_t idle;  // ns
  std::uint64_t received;
  std::uint64_t sent;
  std::uint64_t requests;
  RequestKind last_request;
  std::size_t waiting_bytes;
  const char* tls;
};

// Called by who has the connection: its worker, or who gives it to another worker.
SeenConnection seen_at(const Connection& connection, std::uint64_t now);

class Question {
 public:
  enum class Kind : std::uint8_t { describe, close, report };

  Question(Kind what, std::uint64_t of_connection, std::size_t workers)
      : kind(what), id(of_connection) {
    parts_.reserve(workers);
    reports_.reserve(workers);
  }

  const Kind kind;
  const std::uint64_t id;  // of the connection to be closed

  // The asker: one more worker is about to get the question.
  void expect_answer();
  // Of a worker: its connections, and whether it has the one that is to be closed.
  void answer(std::vector<SeenConnection> seen, bool found);
  // Of a worker: what its application tells.
  void answer(std::unique_ptr<Report> report);
  // Of a worker that gives away a connection: adds it to the answer of the worker that gets it. True:
  // it is the one that is to be closed.
  bool add(const Connection& connection);
  // The answer of a worker that had no memory for it is missing.
  void fail();
  // The same, but that worker's answer is not what is missing.
  void lack();
  // Any thread: whether the asker has stopped waiting.
  bool is_abandoned() const;
  // The asker: waits until all have answered or one has found the connection, but not longer than
  // `patience`.
  void wait(std::chrono::milliseconds patience);

  // For the asker, when it has waited. Later answers change nothing.
  bool is_complete() const { return complete_; }
  bool is_found() const { return found_; }
  std::vector<std::vector<SeenConnection>>& parts() { return parts_; }
  std::vector<std::unique_ptr<Report>>& reports() { return reports_; }

 private:
  mutable std::mutex mutex_;  // of the members that workers write
  kernel::Condition answered_;
  std::size_t to_answer_ = 0;
  bool over_ = false;  // the asker has stopped waiting
  bool failed_ = false;
  bool complete_ = false;
  bool found_ = false;
  std::vector<std::vector<SeenConnection>> parts_;  // one for each worker that has answered
  std::vector<std::unique_ptr<Report>> reports_;    // the same
};

// Each may be called on any thread but a worker's, and takes at most about as long as `patience`.
ConnectionList ask_for_connections(const Shared& shared, std::chrono::milliseconds patience);
ReportList ask_applications(const Shared& shared, std::chrono::milliseconds patience);
Closing ask_to_close(const Shared& shared, std::uint64_t id, std::chrono::milliseconds patience);

}  // namespace hs::net
