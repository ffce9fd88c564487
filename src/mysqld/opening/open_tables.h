// OpenTables: the tables that one worker holds open during a pass.
//
// It owns the slots (one for each table that some plan names) and the TABLE objects from the
// server's table cache. Called on the worker's thread. A table is opened when the first request of
// a pass needs it. All tables are given back at the end of the pass, so DDL waits for one pass at
// most. To open a table again costs about a microsecond.
//
// Opening never waits for another session: the worker's lock_wait_timeout is 0, and a table that is
// not available at once is Verdict::blocked. Whether requests on the open table wait for rows is
// set separately.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/counters.h"
#include "mysqld/server/types.h"
#include "store/store.h"

namespace hs::mysqld {

// So many tables of a worker are read as one event each, see OpenTable::begin_counting(). The
// performance schema can follow five events of a thread at once, and a read may wait for a file.
struct LongEvents {
  static constexpr unsigned most = 3;
  unsigned open = 0;
};

// One TABLE of the server and what this worker has set up on it.
struct OpenTable {
  TABLE* table = nullptr;
  const store::Index* plan = nullptr;  // the plan whose columns and index are set up; null: none
  std::uint32_t setup = 0;             // which of the plan's set-ups (a writer has several)
  Purpose purpose = Purpose::read;     // only for a writer
  bool find_first = false;  // a writer: all rows have to be found before the first one is modified
  // a writer: an update may move its row to another partition. That is an insert and a delete for
  // the engine, and if the delete fails, the engine does not undo the insert.
  bool may_move_rows = false;
  // a writer without triggers and foreign keys: it serves every kind of write
  bool any_write = false;
  bool statement_begun = false;  // a writer: external_lock has begun the statement
  // a writer: everything that a write changes can be rolled back, also what triggers change
  bool can_undo = false;
  LongEvents* events = nullptr;  // of its worker
  bool counts_rows = false;      // see begin_counting()
  std::unique_ptr<server::TableRequest> request;

  // The performance schema takes the rows that finds read until end_index() for one event, as it
  // does for the inner table of a join. An event for each row would make each find slower.
  void begin_counting();
  // Ends what reads the table by an index.
  void end_index();
};

struct TableSlot : std::enable_shared_from_this<TableSlot> {
  std::string database;
  std::string name;
  OpenTable reader;
  OpenTable writer;
};

// What becomes of a table on another server.
enum class RemoteTables : std::uint8_t {
  refused,
  handed_over,  // opening one is Verdict::remote
  served,       // this is a remote thread
};

class OpenTables {
 public:
  OpenTables(THD* thd, RemoteTables remote_tables, bool waits_for_rows, CounterBlock& counters);
  ~OpenTables();
  OpenTables(const OpenTables&) = delete;
  OpenTables& operator=(const OpenTables&) = delete;

  std::shared_ptr<TableSlot> slot(std::string_view database, std::string_view name);

  // Opens the slot's reader unless it is open. If the engine locks whole tables and the slot's
  // writer is open, a find uses the writer, because the writer's table lock would block a reader.
  store::Outcome open_reader(TableSlot& slot, OpenTable*& opened) {
    if (slot.reader.table != nullptr) [[likely]] {
      opened = &slot.reader;
      return {};
    }
    return open_reader_slow(slot, opened);
  }

  store::Outcome open_writer(TableSlot& slot, Purpose purpose);

  // Before a find begins, on any thread: what it asks for.
  void announce(const store::Selection& selection) {
    if (remote_tables_ == RemoteTables::served) [[unlikely]]
      announce_to_other_server(selection);
  }

  // Gives back every table. The transaction and its metadata locks stay.
  void close_tables();
  // At the end of a pass: gives back the metadata locks, too.
  void release();

  // Whether a table is open together with the tables that its triggers need. Such a set serves one
  // statement.
  bool is_alone() const { return alone_; }

 private:
  store::Outcome open_reader_slow(TableSlot& slot, OpenTable*& opened);
  store::Outcome open_alone(TableSlot& slot, Purpose purpose);
  store::Outcome open_one(TableSlot& slot, OpenTable& opened, Purpose purpose);
  bool only_reads();
  void init_request(TableSlot& slot, OpenTable& opened, Purpose purpose);
  store::Outcome may_serve(Serving serving) const;
  store::Outcome failed_open();
  void forget_open_tables();
  void announce_to_other_server(const store::Selection& selection);

  THD* thd_;
  const RemoteTables remote_tables_;
  const bool waits_for_rows_;
  CounterBlock& counters_;
  LongEvents events_;
  std::map<std::pair<std::string, std::string>, std::weak_ptr<TableSlot>> slots_;
  std::size_t sweep_at_;
  std::vector<std::shared_ptr<TableSlot>> open_;  // kept until they are closed
  bool any_open_ = false;
  std::optional<bool> only_reads_;  // the server has to be restarted to change it
  bool alone_ = false;  // a table with triggers or foreign keys is open, with all that they need
};

}  // namespace hs::mysqld
