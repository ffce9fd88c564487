#include "mysqld/store/retry.h"

#include <limits>

#include "mysqld/server/api.h"
#include "mysqld/server/errors.h"
#include "mysqld/server/table_opening.h"

namespace hs::mysqld {
namespace {

using store::Outcome;
using store::Verdict;

constexpr Status row_is_locked = server::status_of(server::row_locked_error());
// An insert has got no number for its AUTO_INCREMENT column.
constexpr Status no_number = server::status_of(ER_AUTOINC_READ_FAILED);

// Whether a worker can ask again for a row that is locked: the engine must refuse it at once, and
// asking must cost nothing. An insert would draw another number from the table's counter each time.
bool can_ask_again(const OpenTable& opened) {
  const bool draws = inserts(opened.purpose) && opened.table->found_next_number_field != nullptr;
  return server::refuses_locked_rows(*opened.table) && !draws;
}

// Why an insert has got no number. A partitioned table gives no other error if another session has
// locked its counter. Every engine gives it if there is no number left.
bool is_counter_locked(TABLE& table) {
  if (table.part_info == nullptr || table.found_next_number_field == nullptr) return false;
  if (table.file->info(HA_STATUS_AUTO) != 0) return false;
  const std::uint64_t next = table.file->stats.auto_increment_value;
  constexpr std::uint64_t no_value = std::numeric_limits<std::uint64_t>::max();
  return next != 0 && next < no_value && next <= table.found_next_number_field->get_max_int_value();
}

}  // namespace

bool is_newer_than_snapshot(Status status) { return status.kind() == Error::table_changed; }

Retry::Retry(const OpenTable& opened, Status status, bool was_signalled)
    : is_answer_(was_signalled || (status == no_number && !is_counter_locked(*opened.table))),
      can_ask_(can_ask_again(opened)) {}

Outcome Retry::put_off(Status status) const {
  if (is_answer_) return status;
  if (status == took_too_long) return Verdict::oversized;
  if (is_newer_than_snapshot(status)) return Verdict::blocked;
  if (status == no_number) return for_waiter;
  // MySQL's engine has a number of its own for a row that it has refused at once.
  const bool refused = status == row_is_locked && row_is_locked != lock_wait_ended;
  if (!refused && status != lock_wait_ended) return status;
  return refused || can_ask_ ? Outcome::by_row(Verdict::blocked, lock_wait_ended) : for_waiter;
}

}  // namespace hs::mysqld
