// Transaction: a pass as one transaction, a write request as one statement in it.
//
// Called on the worker's thread. It begins and ends transactions and statements as the server
// itself does, so commit order, binary log, read_only and backup locks work as usual. It opens no
// table and changes no row.
#pragma once

#include "base/counters.h"
#include "base/status.h"
#include "mysqld/opening/open_tables.h"
#include "mysqld/server/savepoint.h"
#include "mysqld/thread/host_thread.h"

namespace hs::mysqld {

class Transaction {
 public:
  Transaction(HostThread& host, OpenTables& tables, CounterBlock& counters)
      : host_(host),
        thd_(host.thd()),
        tables_(tables),
        counters_(counters),
        savepoint_(host.thd()) {}

  bool active() const { return active_; }

  // Everything until commit() or roll_back() is one transaction. Finds belong to it: they see its
  // writes and share its snapshot.
  void begin();
  // Gives back the tables and commits. On an error everything is rolled back, unless a KILL has ended
  // the wait for a semi-synchronous replica: then everything is committed, and nobody knows whether a
  // replica has it.
  Status commit();
  void roll_back();

  // After a pass that only reads: gives back its snapshot and its tables.
  void end_reading();

  // Begins the statement of a write. The table is opened after this.
  void begin_statement();
  // Tells the engine about the statement, if an earlier statement has used the table.
  Status join_statement(OpenTable& opened);
  // Makes the statement's work part of the transaction. If `status` is an error, undoes the
  // statement.
  Status end_statement(Status status);

  // A place to which the transaction can be rolled back; it has one at most. No statement is open.
  // False: there is no such place.
  bool set_savepoint();
  // Gives back the tables, and undoes what was done since then, also a statement that is open. False
  // if only the whole transaction can be undone.
  bool roll_back_to_savepoint();
  void forget_savepoint() { savepoint_.forget(); }
  // False if something was done that would stay in the binary log even if it were rolled back.
  bool can_have_savepoint() const;

  // Whether the engine has rolled back the whole transaction by itself, or a cluster's other node
  // has made sure that it will be.
  bool was_rolled_back() const;
  bool was_pushed_aside() const;

  // The error of every write, if this node of a cluster must not write; otherwise 0.
  std::uint32_t refusal() const { return refusal_; }

 private:
  Status commit_under_lock_wait_timeout();

  HostThread& host_;
  THD* thd_;
  OpenTables& tables_;
  CounterBlock& counters_;
  bool active_ = false;
  std::uint32_t refusal_ = 0;
  server::Savepoint savepoint_;
};

}  // namespace hs::mysqld
