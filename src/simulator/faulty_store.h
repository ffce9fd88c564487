// FaultyStore: tables whose requests fail as often as a run's Faults say.
//
// Each simulated worker or streamer has one, and all use the same counters and Tables.
//
// The counters are a table for HandlerSocket, of which every row is there. `+` adds to a row, `=`
// finds a row. A range finds as many rows as its limit says; rows to which nothing was ever added
// are 0. A long range is parked if its client does not read; if it is not parked, the run fails. A
// pass keeps its changes to itself until it commits, as in an engine with transactions. But rows
// whose number ends with 8 or 9 are changed at once and cannot be undone, as in an engine without
// transactions. The table `there` is on another server, and only remote threads may ask for it. The
// others may find that any table has moved there.
//
// Rows of Tables come and go, and are changed by clients of all protocols, also the same row by several.
// Requests find them by their keys in all ways, and lock those that they change until the pass ends (faulty_records.cc).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/server.h"
#include "simulator/faults.h"
#include "simulator/tables.h"
#include "simulator/world.h"
#include "store/store.h"

namespace hs::simulator {

using Rows = std::map<std::uint64_t, std::uint64_t>;

class FaultyStore final : public store::Store {
 public:
  // A find of more rows than this is for a streamer.
  static constexpr std::uint64_t most_rows_of_worker = 20;
  // How long another server may take for an answer.
  static constexpr std::uint64_t longest_answer_ms = 3000;

  FaultyStore(Rows& counters, Tables& tables, const Faults& faults, net::Role role)
      : counters_(counters), tables_(tables), faults_(faults), role_(role), transaction_(tables) {}

  void begin_pass(store::PassMode mode, store::Budget& budget) override;
  store::Outcome end_pass() override;
  void abandon_pass() override;
  void forget_permissions() override {}
  void release() override;
  store::Outcome begin_unit() override;
  store::Outcome end_unit() override;
  store::Outcome undo_unit() override;
  store::Outcome open_index(const store::IndexNames& names,
                            const std::shared_ptr<const store::Caller>& caller,
                            store::IndexUse& use) override;
  // Of the counters' tables.
  store::Outcome list_names(std::optional<std::string_view> database,
                            const std::shared_ptr<const store::Caller>& caller, store::Sink* sink,
                            std::vector<std::string>& names) override;
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

 private:
  static Table* table_of(const store::IndexUse& use);
  store::Outcome add(store::IndexUse& use, std::uint64_t key, std::uint64_t by);
  std::uint64_t value(std::uint64_t key) const;
  store::Outcome go_wrong(bool writes);
  store::Outcome lose_to_deadlock();
  store::Outcome meet_locks();
  store::Verdict ask_other_server(bool is_there, bool may_move);
  bool has_changed() const { return !changed_.empty() || transaction_.has_changed(); }
  store::Outcome end_write();
  store::Outcome commit();
  void roll_back();

  // Of tables with rows.
  store::Outcome begin_read(const store::IndexUse& use, const store::Selection& selection,
                            const store::Sink* sink);
  bool must_leave(store::Sink& sink) const;
  bool is_bounded(const store::IndexUse& use, const store::Sink* sink) const;
  store::Outcome begin_write(const store::IndexUse& use, std::span<const std::string> keys);
  store::Outcome lock(const store::IndexUse& use, const std::string& key);
  store::Outcome find_records(store::IndexUse& use, const store::Selection& selection,
                              store::Rows& rows, Buffer& out, store::Sink* sink,
                              store::Found& found);
  store::Outcome count_records(store::IndexUse& use, const store::Selection& selection,
                               std::uint64_t& rows, store::Sink* sink);
  store::Outcome modify_records(store::IndexUse& use, const store::Selection& selection,
                                const store::Change& change, store::Rows* rows, Buffer& out,
                                store::Changed& changed);
  store::Outcome insert_record(store::IndexUse& use, const store::Insert& row,
                               store::Changed& changed);

  Rows& counters_;  // as they were committed
  Tables& tables_;
  const Faults& faults_;
  const net::Role role_;  // of its thread
  Rows changed_;          // counters, by this pass
  Transaction transaction_;
  store::PassMode mode_ = store::PassMode::together;
  store::Budget* budget_ = nullptr;  // of the pass
  bool in_pass_ = false;
  bool in_unit_ = false;
  bool unit_is_lost_ = false;  // a deadlock has undone it
  // A write has succeeded whose reply waits for the commit, even if it has changed nothing.
  bool writes_wait_ = false;
  bool waited_before_unit_ = false;
  Rows before_unit_;  // what changed_ was
};

// The threads of the server catch exceptions.
inline void must(bool holds, const std::string& what) {
  if (!holds) World::current().fail(what);
}

}  // namespace hs::simulator
