// Session: what is known of one connection, and the execution of one request.
//
// Owns the login state and the open indexes. Called by the thread that has the
// connection's turn; does no I/O. It decides which error is answered when a
// request has several mistakes; what a request does to rows is the store's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/counters.h"
#include "base/status.h"
#include "net/application.h"
#include "protocol/parser.h"
#include "protocol/request.h"
#include "session/open_indexes.h"
#include "store/store.h"

namespace hs::session {

// Of a listener; outlives its sessions.
struct SessionConfig {
  bool writable = false;  // the write port
  std::string secret;     // empty: none is needed, and no A succeeds
};

class Session;

// What a P or an A has replaced.
struct SessionChange {
  Session* session = nullptr;
  bool of_index = false;
  bool authorised = false;
  std::uint64_t index_id = 0;
  OpenIndex index;
};

// What a worker lends to the session that has the turn.
struct Workspace {
  explicit Workspace(store::Store& store) : store(store) {}

  store::Store& store;
  protocol::Parser parser;
  Status parsed;              // of the line parsed last
  protocol::Request request;  // the same line's, if it parsed
  std::vector<SessionChange>
      changes;  // of this pass, so that it can be executed again from its start
};

struct Answer {
  store::Verdict verdict = store::Verdict::answered;  // only then the reply stands in the buffer
  bool ok = false;
  bool write = false;  // an insert or a find_modify
  Counter counter = Counter::requests_malformed;
};

class Session final : public net::Dialogue {
 public:
  explicit Session(const SessionConfig& config) : config_(config) {}

  // Executes one line, its LF and CR gone. On any other verdict than answered
  // nothing is written and nothing remembered.
  Answer execute(std::string_view line, Workspace& workspace, Buffer& out);

  // Parses a line into workspace.request and says whether it may be executed.
  // `index` is the open index of a find or insert. Touches no store.
  Status admit(std::string_view line, Workspace& workspace, OpenIndex*& index);

  // Takes one change back; the latest first.
  void undo(SessionChange& change);

 private:
  store::Outcome open_index(Workspace& workspace);
  Status authorise(Workspace& workspace);
  store::Outcome open_again(Workspace& workspace, OpenIndex& index);

  const SessionConfig& config_;
  const store::Store* owner_ = nullptr;  // of the open indexes; never dereferenced
  bool authorised_ = false;
  OpenIndexes indexes_;
};

}  // namespace hs::session
