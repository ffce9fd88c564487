// Budget: how much a pass may do before other work has its turn.
//
// It is counted in steps. One step is the work on one row that is looked at: to find it, or to find
// that there is none, and to decide about it. That takes about a quarter of a microsecond while the
// row is in memory. The code that does the work calls spend(); the code that gave the budget asks
// what is left. It belongs to a pass and is used only on the pass's thread. It stops nothing by
// itself. Work without a bound in steps may have one in time: whoever looks at the clock spends
// more than any bound when the time is over.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace hs::store {

class Budget {
 public:
  // The cost of a row that is changed, with its part of the log and of the indexes.
  static constexpr std::uint64_t steps_of_a_change = 16;

  // More than any bound, and more than is ever spent.
  static constexpr std::uint64_t no_bound = std::uint64_t{1} << 61;
  using Time = std::chrono::steady_clock::time_point;
  static constexpr Time never = Time::max();

  // Before this call nothing is left. `spent` steps of the limit count as spent already. The time
  // has no end.
  void begin(std::uint64_t limit, std::uint64_t spent = 0) {
    limit_ = limit;
    spent_ = spent;
    rows_ = 0;
    time_ends_ = never;
    interrupted_at_ = never;
  }
  void spend(std::uint64_t steps = 1) { spent_ += steps; }

  void end_time_at(Time end) { time_ends_ = end; }
  // The time ends then at the latest, and a wait for a lock is not to go on.
  void interrupt_at(Time end) {
    interrupted_at_ = end;
    time_ends_ = std::min(time_ends_, end);
  }
  Time interrupted_at() const { return interrupted_at_; }
  void look(Time now) {
    if (now >= time_ends_) [[unlikely]]
      spent_ = 2 * no_bound;
  }
  // For those who want to know: a row was looked at.
  void count_row() { ++rows_; }
  std::uint64_t rows() const { return rows_; }

  std::uint64_t limit() const { return limit_; }
  std::uint64_t spent() const { return spent_; }
  std::uint64_t left() const { return spent_ < limit_ ? limit_ - spent_ : 0; }

 private:
  std::uint64_t limit_ = 0;
  std::uint64_t spent_ = 0;
  std::uint64_t rows_ = 0;
  Time time_ends_ = never;
  Time interrupted_at_ = never;
};

}  // namespace hs::store
