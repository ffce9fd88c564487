// The units of a pass: several requests that are done wholly or not at all.
#include <cassert>
#include <utility>

#include "mysqld/server/api.h"
#include "mysqld/store/pass.h"

namespace hs::mysqld {

using store::Outcome;
using store::PassMode;
using store::Verdict;

// If the pass has done something that stays in the binary log even if it is undone, the unit comes
// behind a commit. If an engine of the transaction knows no savepoints, the pass is executed again, and
// the unit has a transaction of its own.
Outcome Pass::begin_unit() {
  assert(!in_unit_);
  if (traces_.any()) return Verdict::not_yet;
  begin_work();
  if (!end_shared_statement().ok()) return Verdict::broken;
  begin_transaction();
  if (mode_ == PassMode::together && transaction_.active()) {
    if (!transaction_.can_have_savepoint()) return Verdict::not_yet;
    if (!transaction_.set_savepoint()) return Verdict::broken;
  }
  in_unit_ = true;
  unit_lost_ = {};
  waited_before_unit_ = writes_wait_;
  return {};
}

Outcome Pass::end_unit() {
  assert(in_unit_);
  in_unit_ = false;
  if (!unit_lost_.ok()) return unit_lost_;
  if (!transaction_.active()) return {};
  if (mode_ == PassMode::together) {
    transaction_.forget_savepoint();
    return {};
  }
  writes_wait_ = false;
  const Status committed = transaction_.commit();
  if (traces_.any()) forget_traces();
  return committed;
}

Outcome Pass::undo_unit() {
  assert(in_unit_);
  in_unit_ = false;
  shared_ = nullptr;
  if (!unit_lost_.ok() || !transaction_.active()) return {};
  writes_wait_ = waited_before_unit_;
  if (mode_ == PassMode::together)
    return transaction_.roll_back_to_savepoint() ? Outcome{} : Outcome{Verdict::broken};
  transaction_.roll_back();
  if (traces_.any()) forget_traces();
  return {};
}

}  // namespace hs::mysqld
