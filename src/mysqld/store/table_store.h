// TableStore: the server's tables as a session sees them.
//
// Each worker has one, on its own thread. It combines the rooms below: a request needs a plan, an
// open table and a scan, and a write also a statement around it. It owns the plans that
// this worker's connections have opened.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/buffer.h"
#include "base/counters.h"
#include "mysqld/accounts/database_list.h"
#include "mysqld/accounts/privileges.h"
#include "mysqld/opening/open_tables.h"
#include "mysqld/opening/transaction.h"
#include "mysqld/reading/index_plan.h"
#include "mysqld/reading/index_scan.h"
#include "mysqld/reading/step_meter.h"
#include "mysqld/server/session_traces.h"
#include "mysqld/server/user_statistics.h"
#include "mysqld/thread/host_thread.h"
#include "mysqld/writing/row_writer.h"
#include "store/store.h"

namespace hs::mysqld {

struct TableStoreConfig {
  bool writes = false;   // serves the write port
  bool streams = false;  // executes only what takes long
  RemoteTables remote_tables = RemoteTables::refused;
  TextEncoding encoding = TextEncoding::utf8mb4;
  DatabaseList databases{};  // who may open an index there is another question
};

// Whether a table was changed after the pass had taken its snapshot, so that the engine does not
// let the pass use it. A later pass has another snapshot.
bool is_newer_than_snapshot(Status status);

class TableStore final : public store::Store {
 public:
  TableStore(std::unique_ptr<HostThread> host, const TableStoreConfig& config,
             CounterBlock& counters);
  ~TableStore() override;

  void begin_pass(store::PassMode mode, store::Budget& budget) override;
  void forget_permissions() override { ++asks_; }
  store::Outcome end_pass() override;
  void abandon_pass() override;
  void release() override;
  store::Outcome open_index(const store::IndexNames& names,
                            const std::shared_ptr<const store::Caller>& caller,
                            const store::RowCodec& codec, store::IndexUse& use) override;
  // The indexes that its connections have open, at most so many. Between passes.
  struct OpenedIndex {
    std::string names;  // as P gave them, each with a TAB behind it
    std::uint64_t opened;
    std::uint64_t requests;
  };
  std::vector<OpenedIndex> opened_indexes(std::size_t most) const;

  store::Outcome find(store::IndexUse& use, const store::Selection& selection, Buffer& out,
                      store::Sink* sink) override;
  store::Outcome modify(store::IndexUse& use, const store::Selection& selection,
                        const store::Change& change, Buffer& out, store::Changed& changed) override;
  store::Outcome insert(store::IndexUse& use, const store::Insert& row,
                        store::Changed& changed) override;

 private:
  // What the caller may do with the plan. The first request of each pass asks the server. It is
  // asked again when others have joined the pass, and when the plan has been resolved for another
  // version of its table.
  store::Outcome permissions_of(const store::IndexUse& use, const Permissions*& permissions);
  // Tells the server's audit trail that the caller uses the table. On MySQL, an audit plugin may
  // refuse it.
  Status tell_of_access(const store::IndexUse& use, TABLE& table, Purpose purpose);
  // Tells the server's statistics that what follows is done for the caller.
  void count_for(const store::Caller& caller);
  // Tells them how the request has ended for which that was said.
  store::Outcome counted(store::Outcome outcome, bool writes);
  // Whether the caller may make a request, which `check` compares with the permissions.
  template <class Check>
  store::Outcome may(const store::IndexUse& use, Check check) {
    const Permissions* permissions = nullptr;
    const store::Outcome asked = permissions_of(use, permissions);
    if (!asked.ok()) return asked;
    is_exempt_ = permissions->is_exempt;
    if (server_is_offline(*permissions)) [[unlikely]]
      return offline;
    return check(*permissions);
  }
  // SQL's ER_SERVER_OFFLINE_MODE, which only MySQL has.
  static constexpr Status offline{Error::not_ready, 3032};
  static bool server_is_offline(const Permissions& of_caller);
  // Whether may() has refused a request for good, before its table is open. If only a column is
  // lacking, the table has to be opened first: its index may have other columns by now than those
  // about which the server was asked.
  static bool is_refused(store::Outcome allowed) {
    return !allowed.ok() && allowed.status() != column_denied;
  }
  store::Outcome may_open(const store::Caller& caller, const std::string& database,
                          const std::string& table);
  store::Outcome commit_pass();
  void sweep_plans();
  const char* what_it_does() const;
  void begin_work();
  void begin_transaction();
  store::Outcome open_for_reading(IndexPlan& plan, OpenTable*& opened);
  Status go_on(const IndexPlan& plan, OpenTable& opened, const store::Selection& selection,
               store::Sink& sink);
  store::Outcome answer_rows(const store::IndexUse& use, OpenTable& opened, Buffer& out,
                             store::Sink* sink);
  // False if there was no memory for a value.
  bool append_row(const store::IndexUse& use, TABLE& table, Buffer& out);

  template <class SetUp, class IsOneRow, class Execute>
  store::Outcome run_write(const store::IndexUse& use, Purpose purpose, SetUp set_up,
                           IsOneRow is_one_row, Execute execute);
  store::Outcome begin_write(TableSlot& slot, Purpose purpose);
  store::Outcome leave_undone(store::Outcome outcome);
  store::Outcome end_write(const OpenTable& opened, Status status, bool executed);
  bool can_share(const OpenTable& opened) const;
  Status end_shared_statement();
  void forget_traces();
  // A modification at work.
  struct Modification {
    const store::IndexUse& use;
    const store::Selection& selection;
    const store::Change& change;
    Buffer& out;
    store::Changed& changed;

    IndexPlan& plan() const { return static_cast<IndexPlan&>(use.index()); }
  };
  Status modify_rows(const Modification& work, OpenTable& opened);
  Status modify_while_scanning(const Modification& work, OpenTable& opened);
  Status modify_after_scanning(const Modification& work, OpenTable& opened);
  Status scan_failure(int error);
  Status over_bound() const;
  void drop_repeated_positions(std::size_t length);
  Status modify_row(const Modification& work, OpenTable& opened);

  const std::unique_ptr<HostThread> owned_host_;  // outlives all members below
  HostThread& host_;
  TableStoreConfig config_;
  CounterBlock& counters_;
  OpenTables tables_;
  Transaction transaction_;
  Privileges privileges_;
  server::UserStatistics statistics_;
  // Of triggers. Until the session is reset, no other request may be executed: Verdict::not_yet.
  server::SessionTraces traces_;
  RowWriter writer_;
  StepMeter meter_;
  IndexScan scan_;
  ColumnScratch scratch_;
  std::unordered_map<std::string, std::shared_ptr<IndexPlan>> plans_;
  std::size_t plan_bytes_ = 0;  // of all plans, approximately
  std::size_t sweep_plans_at_;
  std::string plan_key_;
  Buffer positions_;                  // of rows that were found and are not modified yet
  std::vector<std::uint32_t> order_;  // of positions, while repeated ones are removed
  store::PassMode mode_ = store::PassMode::together;
  std::uint64_t asks_ = 0;         // rises when what callers may do has to be asked again
  bool working_ = false;           // a request of this pass has reached the server
  std::uint32_t refusal_ = 0;      // the error of every request of this pass; 0: none
  bool uncommitted_ = false;       // writes of this pass wait for its commit
  bool waits_to_the_end_ = false;  // for a row, in this pass, because its write cannot be undone
  bool is_exempt_ = false;         // the caller of the present request, from read_only
  bool reading_ = false;  // a pass of reads has ended and still holds its snapshot and its tables
  // The table whose statement was left open for the next write of the pass; null: none.
  const OpenTable* shared_ = nullptr;
};

}  // namespace hs::mysqld
