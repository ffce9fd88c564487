// StepMeter: spends a pass's budget as rows are looked at.
//
// It counts steps, and looks at the clock now and then. Rows that are read from disk or compared
// with large values take longer than a step should, and then cost more steps. After work whose time
// nobody knows, look() is called. Each worker has one, on its own thread. begin() is called once
// for each pass, before anything is spent.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "store/budget.h"

namespace hs::mysqld {

class StepMeter {
 public:
  // What one request may take of its worker's time, about 1 ms. If it needs more steps, it goes to
  // a streamer.
  static constexpr std::uint64_t most_in_a_worker = 4'000;

  void begin(store::Budget& budget) {
    budget_ = &budget;
    looked_at_ = Clock::now();
    until_look_ = steps_between_looks;
    weight_ = 1;
  }
  // Each row that follows is compared with so many bytes. The more bytes, the more often the clock
  // is looked at, and the more steps one row may cost: if values end in megabytes of blanks, all of
  // them are compared.
  void begin_rows(std::size_t compared_bytes) {
    weight_ = 1 + static_cast<std::int64_t>(compared_bytes / bytes_of_a_step);
  }

  void step(std::uint64_t steps = 1) {
    budget_->spend(steps);
    until_look_ -= weight_;
    if (until_look_ <= 0) [[unlikely]]
      look();
  }
  // A row was read that has so many bytes beside what a record has room for.
  void read_bytes(std::size_t bytes) {
    if (bytes >= bytes_of_a_step) step(bytes / bytes_of_a_step);
  }
  // When a wait for a lock must not go on.
  store::Budget::Time interrupted_at() const { return budget_->interrupted_at(); }
  // What follows may take as long as it likes.
  void have_no_end() { budget_->end_time_at(store::Budget::never); }
  void count_row() { budget_->count_row(); }
  // Spends steps for work that was not done row by row, without a look at the clock.
  void spend(std::uint64_t steps) { budget_->spend(steps); }
  // Looks at the clock. If the time since the last look is worth more steps than were counted,
  // spends the rest.
  void look() {
    const Clock::time_point now = Clock::now();
    const std::int64_t worth = (now - looked_at_) / step_time;
    const std::int64_t counted = steps_between_looks - until_look_;
    if (worth > counted) {
      budget_->spend(
          static_cast<std::uint64_t>(std::min(worth - counted, most_for_time * weight_)));
    }
    budget_->look(now);
    looked_at_ = now;
    until_look_ = steps_between_looks;
  }

  std::uint64_t spent() const { return budget_->spent(); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::int64_t steps_between_looks = 64;
  // Compared with a key, or read from the engine: both take about the time of a step.
  static constexpr std::size_t bytes_of_a_step = 1024;
  static constexpr std::chrono::nanoseconds step_time{250};
  // A thread that had to wait for its core has not worked. So one look costs at most this much.
  static constexpr std::int64_t most_for_time = 1024;

  store::Budget* budget_ = nullptr;
  Clock::time_point looked_at_;
  std::int64_t until_look_ = steps_between_looks;
  std::int64_t weight_ = 1;  // of a row: how much earlier it makes the next look at the clock
};

}  // namespace hs::mysqld
