// TableStore: the server's tables as a session sees them.
//
// One a worker, used on its thread. Puts the parts of this folder together: a
// request is a plan, an open table, a scan, and for a write a statement around
// it. Owns the plans that this worker's connections have opened.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/counters.h"
#include "mysqld/host_thread.h"
#include "mysqld/index_plan.h"
#include "mysqld/index_scan.h"
#include "mysqld/open_tables.h"
#include "mysqld/row_writer.h"
#include "mysqld/transaction.h"
#include "store/store.h"

namespace hs::mysqld {

struct TableStoreConfig {
  bool writes = false;  // serves the write port
  TextEncoding encoding = TextEncoding::utf8mb4;
};

class TableStore final : public store::Store {
 public:
  TableStore(std::unique_ptr<HostThread> host, const TableStoreConfig& config,
             CounterBlock& counters);
  ~TableStore() override;

  void begin_pass(store::PassMode mode) override;
  store::Outcome end_pass() override;
  void abandon_pass() override;
  void release() override;
  store::Outcome open_index(const protocol::OpenIndex& request,
                            std::shared_ptr<store::Index>& index) override;
  store::Outcome find(store::Index& index, const protocol::Find& request, Buffer& out,
                      store::Sink* sink) override;
  store::Outcome modify(store::Index& index, const protocol::Find& request, Buffer& out) override;
  store::Outcome insert(store::Index& index, const protocol::Insert& request, Buffer& out) override;

 private:
  void sweep_plans();
  void begin_work();
  store::Outcome open_for_reading(IndexPlan& plan, OpenTable*& opened);
  store::Outcome answer_rows(IndexPlan& plan, OpenTable& opened, Buffer& out, store::Sink* sink);
  void append_row(const IndexPlan& plan, TABLE& table, Buffer& out) const;

  template <class Execute>
  store::Outcome run_write(TableSlot& slot, Purpose purpose, bool one_row, Buffer& out,
                           Execute execute);
  store::Outcome begin_write(TableSlot& slot, Purpose purpose);
  store::Outcome end_write(Status status, Buffer& out, std::size_t reply_begin);
  bool can_share(const OpenTable& opened) const;
  Status end_shared_statement();
  Status modify_rows(IndexPlan& plan, OpenTable& opened, const protocol::Find& request,
                     Buffer& out);
  Status modify_while_scanning(IndexPlan& plan, OpenTable& opened, const protocol::Find& request,
                               Buffer& out, std::uint64_t& count);
  Status modify_after_scanning(IndexPlan& plan, OpenTable& opened, const protocol::Find& request,
                               Buffer& out, std::uint64_t& count);
  Status modify_row(IndexPlan& plan, OpenTable& opened, const protocol::Find& request, Buffer& out,
                    std::uint64_t& count);

  const std::unique_ptr<HostThread> owned_host_;  // outlives everything below
  HostThread& host_;
  TableStoreConfig config_;
  CounterBlock& counters_;
  OpenTables tables_;
  Transaction transaction_;
  RowWriter writer_;
  IndexScan scan_;
  std::unordered_map<std::string, std::shared_ptr<IndexPlan>> plans_;
  std::size_t plan_bytes_ = 0;  // of all of them, about
  std::size_t sweep_plans_at_;
  std::string plan_key_;
  std::vector<unsigned char> positions_;  // of rows found and not yet modified
  store::PassMode mode_ = store::PassMode::together;
  bool working_ = false;  // a request of this pass has reached the server
  bool reading_ = false;  // a pass of reads has ended and still holds its snapshot and its tables
  // The table whose statement has been left open for the pass's next write; null: none is.
  const OpenTable* shared_ = nullptr;
};

}  // namespace hs::mysqld
