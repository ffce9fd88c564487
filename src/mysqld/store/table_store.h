// TableStore: the server's tables as a session sees them.
//
// Each worker has one, on its own thread. It combines the rooms below: a request needs a plan, an
// open table and a scan, and a write also a statement around it. The pass with its transaction and
// statements, what callers may do, the plans, and the rows that a modification has found
// stand in files of their own beside it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/counters.h"
#include "mysqld/accounts/database_list.h"
#include "mysqld/opening/open_tables.h"
#include "mysqld/reading/index_plan.h"
#include "mysqld/reading/index_scan.h"
#include "mysqld/reading/rows_ahead.h"
#include "mysqld/reading/step_meter.h"
#include "mysqld/store/access.h"
#include "mysqld/store/found_rows.h"
#include "mysqld/store/pass.h"
#include "mysqld/store/plans.h"
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

class TableStore final : public store::Store {
 public:
  TableStore(std::unique_ptr<HostThread> host, const TableStoreConfig& config,
             CounterBlock& counters);
  ~TableStore() override;

  void begin_pass(store::PassMode mode, store::Budget& budget) override;
  void forget_permissions() override { access_.ask_again(); }
  store::Outcome end_pass() override { return pass_.end(); }
  void abandon_pass() override {
    ahead_.forget();
    pass_.abandon();
  }
  void release() override;
  store::Outcome begin_unit() override { return pass_.begin_unit(); }
  store::Outcome end_unit() override { return pass_.end_unit(); }
  store::Outcome undo_unit() override { return pass_.undo_unit(); }
  store::Outcome open_index(const store::IndexNames& names,
                            const std::shared_ptr<const store::Caller>& caller,
                            store::IndexUse& use) override;
  store::Outcome describe_table(const store::IndexNames& names,
                                const std::shared_ptr<const store::Caller>& caller,
                                store::TableDescription& description) override;
  store::Outcome list_names(std::optional<std::string_view> database,
                            const std::shared_ptr<const store::Caller>& caller, store::Sink* sink,
                            std::vector<std::string>& names) override;
  // The indexes that its connections have open, at most so many. Between passes.
  using OpenedIndex = mysqld::OpenedIndex;
  std::vector<OpenedIndex> opened_indexes(std::size_t most) const { return plans_.opened(most); }

  void look_ahead(bool on) override {
    ahead_.look_ahead(on);
    scan_.look_ahead(on ? &ahead_ : nullptr);
  }
  void expect(std::span<const store::Lookup> lookups) override { ahead_.expect(lookups); }
  bool passes_over(std::uint32_t finds) override { return ahead_.passes_over(finds); }
  store::Outcome find(store::IndexUse& use, const store::Selection& selection, store::Rows& rows,
                      Buffer& out, store::Sink* sink, store::Found& found) override;
  store::Outcome count(store::IndexUse& use, const store::Selection& selection, std::uint64_t& rows,
                       store::Sink* sink) override;
  store::Outcome modify(store::IndexUse& use, const store::Selection& selection,
                        const store::Change& change, store::Rows* rows, Buffer& out,
                        store::Changed& changed) override;
  store::Outcome insert(store::IndexUse& use, const store::Insert& row,
                        store::Changed& changed) override;
  store::Outcome insert_rows(store::IndexUse& use, const store::InsertRows& rows,
                             std::vector<store::InsertedRow>& inserted) override;
  void explain_to(store::Said* said) override { writer_.explain_to(said); }

 private:
  // Of the databases that are served.
  store::Outcome may_list(const store::Caller& caller, const std::string& database);
  // Why the server could not list names.
  store::Outcome failed_list();

  // Of the rows that a modification answers, and of a find in a unit on another thread: they are one
  // reply, which is sent after the commit.
  static constexpr std::size_t max_whole_reply_bytes = std::size_t{64} << 20;

  // What a search is for, and with it the columns that it reads.
  enum class Wants : std::uint8_t { rows, count };
  // Finds the place of the first row, and leaves the rest to answer(plan, opened).
  template <Wants wants, class Answer>
  store::Outcome search(store::IndexUse& use, const store::Selection& selection, store::Sink* sink,
                        const Answer& answer);
  template <Wants wants>
  store::Outcome open_for_reading(IndexPlan& plan, std::span<const store::Filter> filters,
                                  OpenTable*& opened);
  Status start(const IndexPlan& plan, OpenTable& opened, const store::Selection& selection,
               store::Sink* sink, std::uint64_t most_steps);
  Status go_on(const IndexPlan& plan, OpenTable& opened, const store::Selection& selection,
               store::Sink& sink);
  store::Outcome answer_rows(const IndexPlan& plan, OpenTable& opened, store::Rows& rows,
                             Buffer& out, store::Sink* sink, store::Found& found);
  store::Outcome count_rows(const IndexPlan& plan, std::uint64_t& rows, store::Sink* sink);

  // A write is a type with a `purpose`, and set_up(), is_one_row() and execute() of its table.
  template <class Write>
  store::Outcome run_write(const store::IndexUse& use, Write& write);
  template <class Write>
  bool joins_statement(Write& write, OpenTable& opened);
  template <class Write>
  Status execute(const store::IndexUse& use, Write& write, OpenTable& opened, bool& executed);
  store::Outcome leave_shared(const OpenTable& opened, Status status);
  struct InsertWrite;
  struct InsertRowsWrite;
  template <class Recheck>
  struct ModifyWrite;
  // A modification at work.
  struct Modification {
    const store::IndexUse& use;
    const store::Selection& selection;
    const store::Change& change;
    store::Rows* rows;  // of those that it answers
    Buffer& out;
    std::size_t out_begin;
    store::Changed& changed;

    IndexPlan& plan() const { return static_cast<IndexPlan&>(use.index()); }
  };
  Status modify_rows(const Modification& work, OpenTable& opened);
  Status modify_while_scanning(const Modification& work, OpenTable& opened);
  Status modify_after_scanning(const Modification& work, OpenTable& opened);
  Status scan_failure(int error);
  Status over_bound() const;
  Status modify_row(const Modification& work, OpenTable& opened, std::size_t in_number);
  Status take_row(const Modification& work, TABLE& table, std::size_t in_number);

  const std::unique_ptr<HostThread> owned_host_;  // outlives all members below
  HostThread& host_;
  TableStoreConfig config_;
  CounterBlock& counters_;
  OpenTables tables_;
  Pass pass_;
  Access access_;
  RowWriter writer_;
  StepMeter meter_;
  IndexScan scan_;
  ColumnScratch scratch_;
  Plans plans_;
  RowsAhead ahead_;
  FoundRows found_;
};

}  // namespace hs::mysqld
