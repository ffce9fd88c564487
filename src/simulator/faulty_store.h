// FaultyStore: a table of counters whose requests fail as often as a run's Faults say.
//
// Each simulated worker or streamer has one, and all use the same Rows. `+` adds to a row, `=`
// finds a row. A range finds as many rows as its limit says; rows to which nothing was ever added
// are 0. A long range is parked if its client does not read; if it is not parked, the run fails. A
// pass keeps its changes to itself until it commits, as in an engine with transactions. But rows
// whose number ends with 8 or 9 are changed at once and cannot be undone, as in an engine without
// transactions. The table `there` is on another server, and only remote threads may ask for it. The
// others may find that any table has moved there.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "net/server.h"
#include "simulator/faults.h"
#include "store/store.h"

namespace hs::simulator {

using Rows = std::map<std::uint64_t, std::uint64_t>;

class FaultyStore final : public store::Store {
 public:
  // A find of more rows than this is for a streamer.
  static constexpr std::uint64_t most_rows_of_worker = 20;
  // How long another server may take for an answer.
  static constexpr std::uint64_t longest_answer_ms = 3000;

  FaultyStore(Rows& committed, const Faults& faults, net::Role role)
      : committed_(committed), faults_(faults), role_(role) {}

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
  store::Outcome add(store::IndexUse& use, std::uint64_t key, std::uint64_t by);
  std::uint64_t value(std::uint64_t key) const;
  store::Verdict go_wrong(bool writes);
  store::Verdict ask_other_server(bool is_there, bool may_move);
  void commit();

  Rows& committed_;
  const Faults& faults_;
  const net::Role role_;  // of its thread
  Rows changed_;          // by this pass
  store::PassMode mode_ = store::PassMode::together;
  store::Budget* budget_ = nullptr;  // of the pass
  bool in_pass_ = false;
  bool in_unit_ = false;
  Rows before_unit_;  // what changed_ was
};

}  // namespace hs::simulator
