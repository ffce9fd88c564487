// Pass: a pass of requests as the server sees it, and the statements of its writes.
//
// Each worker's store has one, on its own thread. It owns the transaction, and knows how far the
// pass has come: whether a request has reached the server, whether writes wait for its commit,
// and whether the last write has left its statement open. It also keeps what the pass
// leaves in the worker's session: the traces of triggers and the numbers of each account. It finds
// no row and changes none.
#pragma once

#include <cstdint>

#include "base/counters.h"
#include "mysqld/opening/open_tables.h"
#include "mysqld/opening/transaction.h"
#include "mysqld/server/session_traces.h"
#include "mysqld/server/user_statistics.h"
#include "mysqld/store/retry.h"
#include "mysqld/thread/host_thread.h"
#include "store/store.h"

namespace hs::mysqld {

struct PassConfig {
  bool writes = false;   // of a store that serves the write port
  bool streams = false;  // of one that executes only what takes long
  bool asks_other_servers = false;
};

class Pass {
 public:
  Pass(HostThread& host, OpenTables& tables, const PassConfig& config, CounterBlock& counters);

  void begin(store::PassMode mode);
  store::PassMode mode() const { return mode_; }
  // As store::Store says of end_pass(), abandon_pass() and release().
  store::Outcome end();
  void abandon();
  void release();

  // As store::Store says of them.
  store::Outcome begin_unit();
  store::Outcome end_unit();
  store::Outcome undo_unit();

  // Called by each request; the first one begins the pass in the server.
  void begin_work() {
    if (stage_ != Stage::working) [[unlikely]]
      begin_in_server();
  }
  // Before a request that reads, or that opens an index.
  store::Outcome begin_read();
  // Before a request that writes. `is_exempt`: its caller, from read_only.
  store::Outcome begin_write(const store::Caller& caller, bool is_exempt);

  // Consecutive writes of one row each on one table share a statement of the server. That saves the
  // beginning, the end and a table map in the binary log for each write. If one of these rows fails,
  // the engine undoes that row by itself.
  //
  // Whether the last write has left the statement of this table open for another one like it. What is locked
  // is often updated next, and the other way round.
  bool is_shared(const OpenTable& opened, Purpose purpose) const {
    const auto as_update = [](Purpose of) { return of == Purpose::lock ? Purpose::update : of; };
    return shared_ == &opened && as_update(opened.purpose) == as_update(purpose);
  }
  // Whether a write on the table may leave its statement open. A table with triggers, or a parent
  // of foreign keys, is opened for one statement. A versioned table needs a statement for each
  // write, because its history distinguishes rows by their statements.
  bool can_share(const OpenTable& opened) const;
  // Leaves the statement of a write that has succeeded open.
  void share(const OpenTable& opened) {
    shared_ = &opened;
    writes_wait_ = true;
  }

  // Opens the table of a write, and begins a statement of its own for it.
  //
  // Some writes cannot be undone: the engine of their table, or of a table that a trigger changes,
  // has no transactions. Such a write must not be executed in a pass that may be executed again. So
  // it comes first after a commit, and what it has done is final. If it may meet locked rows, a
  // waiter executes it, because a waiter can wait. A worker would give up at a locked row, half
  // way through the write.
  store::Outcome begin_statement(TableSlot& slot, Purpose purpose, bool is_exempt);
  // Ends it: it becomes part of the transaction, or is undone if `status` is an error.
  // `executed`: the write was not refused before it could do anything.
  store::Outcome end_statement(const OpenTable& opened, Status status, bool executed,
                               bool was_signalled);
  // Whether the engine has rolled back the transaction, and with it all statements.
  bool was_rolled_back() const { return transaction_.was_rolled_back(); }

  // Around the work of a statement whose triggers may leave something in the session. Until the
  // session is reset, no other request may be executed: Verdict::not_yet.
  void begin_traces() { traces_.begin(); }
  void end_traces() { traces_.end(); }

  // Tells the server's statistics that what follows is done for the caller.
  void count_for(const store::Caller& caller) {
    if (statistics_.is_on()) [[unlikely]]
      begin_counting(caller);
  }
  // Tells them how that request has ended. One that is put off begins again later.
  store::Outcome counted(store::Outcome outcome, bool writes) {
    if (statistics_.is_on() && outcome.answered()) [[unlikely]]
      statistics_.answered(writes);
    return outcome;
  }

 private:
  // How far the pass has come in the server.
  enum class Stage : std::uint8_t {
    idle,     // nothing is held; the pass, if there is one, has had no request
    working,  // a request has reached the server
    reading,  // a pass of reads has ended and still holds its snapshot and its tables
  };

  void begin_in_server();
  void begin_transaction();
  void begin_counting(const store::Caller& caller);
  const char* what_it_does() const;
  store::Outcome may_go_on() const;
  store::Outcome commit();
  Status end_shared_statement();
  store::Outcome leave_undone(store::Outcome outcome);
  void wait_to_the_end();
  void forget_traces();

  HostThread& host_;
  OpenTables& tables_;
  const PassConfig config_;
  Transaction transaction_;
  server::UserStatistics statistics_;
  server::SessionTraces traces_;
  Stage stage_ = Stage::idle;
  store::PassMode mode_ = store::PassMode::together;
  std::uint32_t refusal_ = 0;      // the error of every request that reads; 0: none
  bool writes_wait_ = false;       // for the commit of the pass
  bool waits_to_the_end_ = false;  // for a row, because its write cannot be undone
  // A unit is a savepoint of the pass's transaction, or a transaction of its own.
  bool in_unit_ = false;
  bool waited_before_unit_ = false;  // what writes_wait_ was
  Status unit_lost_;                 // why the engine has undone the unit already; ok: it has not
  // The table whose statement was left open for the next write; null: none.
  const OpenTable* shared_ = nullptr;
};

}  // namespace hs::mysqld
