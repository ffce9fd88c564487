// Transaction: a pass as one transaction, a write request as one statement in it.
//
// Called on the worker's thread. It begins and ends transactions and statements
// in the server's own terms, so that commit order, binary log, read_only and
// backup locks are the server's; it opens no table and changes no row.
#pragma once

#include "base/counters.h"
#include "base/status.h"
#include "mysqld/host_thread.h"
#include "mysqld/open_tables.h"

namespace hs::mysqld {

class Transaction {
 public:
  Transaction(HostThread& host, OpenTables& tables, CounterBlock& counters)
      : host_(host), thd_(host.thd()), tables_(tables), counters_(counters) {}

  bool active() const { return active_; }

  // Everything until commit() or roll_back() is one transaction, finds too: they
  // see its writes and share its snapshot.
  void begin();
  // Gives the tables back and commits. On an error everything is rolled back.
  Status commit();
  void roll_back();

  // A pass that only reads: gives up its snapshot and its tables.
  void end_reading();

  // Begins a write's statement; the table is opened after it.
  void begin_statement();
  // Tells the engine of the statement on a table that an earlier one has used.
  Status join_statement(OpenTable& opened);
  // Makes the statement's work part of the transaction, or undoes it alone.
  Status end_statement(Status status);

  // The engine has rolled the whole transaction back on its own.
  bool was_rolled_back() const;

 private:
  Status commit_under_lock_wait_timeout();

  HostThread& host_;
  THD* thd_;
  OpenTables& tables_;
  CounterBlock& counters_;
  bool active_ = false;
};

}  // namespace hs::mysqld
