// OpenTables: the tables that one worker holds open during a pass.
//
// Owns the slots (one a table that some plan names) and the TABLE objects taken
// from the server's table cache. Called on the worker's thread. A table is
// opened when the first request of a pass needs it and everything is given back
// at the end of the pass, so DDL waits for one pass at the most; reopening costs
// about a microsecond.
//
// Nothing here ever waits for another session: the worker's lock_wait_timeout is
// 0, and a table that cannot be had at once is Verdict::blocked.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/counters.h"
#include "mysqld/server/types.h"
#include "store/store.h"

namespace hs::mysqld {

class IndexPlan;

// One TABLE of the server and what this worker has set up on it.
struct OpenTable {
  TABLE* table = nullptr;
  const IndexPlan* plan = nullptr;  // whose columns and index are set up; null: nobody's
  std::uint32_t setup = 0;          // which of the plan's set-ups (a writer has several)
  Purpose purpose = Purpose::read;  // of a writer
  bool find_first = false;  // a writer: the rows are found before the first of them is modified
  bool any_write = false;   // a writer without triggers and foreign keys serves every kind of write
  bool statement_begun = false;  // a writer: external_lock has begun the statement
  std::unique_ptr<server::TableRequest> request;
};

struct TableSlot : std::enable_shared_from_this<TableSlot> {
  std::string database;
  std::string name;
  OpenTable reader;
  OpenTable writer;
};

class OpenTables {
 public:
  OpenTables(THD* thd, CounterBlock& counters);
  ~OpenTables();
  OpenTables(const OpenTables&) = delete;
  OpenTables& operator=(const OpenTables&) = delete;

  std::shared_ptr<TableSlot> slot(std::string_view database, std::string_view name);

  // Opens the slot's reader unless it is open. Finds on a table without
  // transactions that is open for writing use the writer: its table lock would
  // stand in the reader's way.
  store::Outcome open_reader(TableSlot& slot, OpenTable*& opened) {
    if (slot.reader.table != nullptr) [[likely]] {
      opened = &slot.reader;
      return {};
    }
    return open_reader_slow(slot, opened);
  }

  store::Outcome open_writer(TableSlot& slot, Purpose purpose);

  // Gives every table back; the transaction and its metadata locks stay.
  void close_tables();
  // The end of a pass: metadata locks too.
  void release();

  // Whether a table is open together with what its triggers need: such a set
  // serves one statement.
  bool is_alone() const { return alone_; }

 private:
  store::Outcome open_reader_slow(TableSlot& slot, OpenTable*& opened);
  store::Outcome open_alone(TableSlot& slot, Purpose purpose);
  store::Outcome open_one(TableSlot& slot, OpenTable& opened, Purpose purpose);
  store::Outcome failed_open();
  void forget_open_tables();

  THD* thd_;
  CounterBlock& counters_;
  std::map<std::pair<std::string, std::string>, std::weak_ptr<TableSlot>> slots_;
  std::size_t sweep_at_;
  std::vector<std::shared_ptr<TableSlot>> open_;  // kept alive until they are closed
  bool any_open_ = false;
  bool alone_ = false;  // a table with triggers or foreign keys is open, with all that they need
};

}  // namespace hs::mysqld
