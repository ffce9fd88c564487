// What becomes of a write that has failed and was undone: its answer, or another attempt.
//
// On the worker's thread. It decides only, and changes nothing.
#pragma once

#include "mysqld/opening/open_tables.h"
#include "mysqld/server/errors.h"
#include "store/store.h"

namespace hs::mysqld {

// Never an answer: a modification has spent the steps that a worker may spend. No real error has
// this number.
inline constexpr Status took_too_long{Error::other, 0xFF'FFFF};
// Its wait for a row was ended, by the engine or by the watch.
inline constexpr Status lock_wait_ended = server::status_of(HA_ERR_LOCK_WAIT_TIMEOUT);
// A write that may have to wait for a row.
inline constexpr store::Outcome for_waiter =
    store::Outcome::by_row(store::Verdict::oversized, lock_wait_ended);

// Whether a table was changed after the pass had taken its snapshot, so that the engine does not
// let the pass use it. A later pass has another snapshot.
bool is_newer_than_snapshot(Status status);

// What can be done about a write that has failed. Made as long as its table is open.
class Retry {
 public:
  Retry(const OpenTable& opened, Status status, bool was_signalled);
  // The outcome of a write that has ended with `status` and was undone.
  store::Outcome put_off(Status status) const;

 private:
  bool is_answer_;  // nothing is locked
  bool can_ask_;    // a worker can, for a row that is locked
};

}  // namespace hs::mysqld
