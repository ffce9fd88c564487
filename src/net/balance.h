// Balance: over how many of a server's workers the connections are spread.
//
// One worker that is always awake serves many connections better than several that sleep and wake:
// its passes are larger, and no worker waits for another's time slice. More workers are better as
// soon as there are cores that nobody uses. So the connections are spread over as few workers as
// the load needs, and a worker without connections sleeps.
//
// SpreadPolicy decides, from what was seen, and knows no thread. Balance sees: each worker tells it
// when it sleeps, and calls it between two passes. It owns no connection and moves none. The workers
// do that (worker_moves.cc). Any thread may read spread().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/counters.h"
#include "net/idle_cores.h"

namespace hs::net {

class SpreadPolicy {
 public:
  // What was seen in one period.
  struct Period {
    double load = 0;        // how many workers were awake, on average
    double rate = 0;        // what they have served, in any unit
    double idle_cores = 0;  // how many cores nobody used, on average
  };
  static constexpr std::uint64_t length = 100'000'000;  // of a period, in ns
  // Until the next attempt of the same kind, in ns. It doubles with each that has failed.
  static constexpr std::uint64_t first_pause_before_more = 2'000'000'000;
  static constexpr std::uint64_t first_pause_before_bold = 5'000'000'000;
  static constexpr std::uint64_t first_pause_before_fewer = 10'000'000'000;
  static constexpr std::uint64_t longest_pause = 640'000'000'000;

  // `most` workers at most, one at first.
  explicit SpreadPolicy(unsigned most) : most_(most) {}

  unsigned spread() const { return spread_; }
  // A period has ended. May change spread().
  void note(const Period& seen, std::uint64_t now);

 private:
  // Attempts to serve with more workers, or with fewer.
  struct Attempts {
    const std::uint64_t first_pause;
    std::uint64_t pause = first_pause;
    std::uint64_t next = 0;  // when it may begin
  };

  void attempt(Attempts& attempts, unsigned spread, double rate);
  void end_attempt(const Period& seen, std::uint64_t now);

  const unsigned most_;
  unsigned spread_ = 1;
  unsigned before_ = 0;           // the spread before the attempt at work; 0: there is none
  Attempts* attempts_ = nullptr;  // those to which it belongs
  unsigned attempted_for_ = 0;    // periods
  unsigned light_for_ = 0;        // periods in which fewer workers would have been enough
  double last_rate_ = 0;          // of the last period
  double rate_before_ = 0;        // of the attempt
  Attempts more_{first_pause_before_more};
  // As `more_`, where no core is idle. Others use them, and each worker gets its part.
  Attempts bold_{first_pause_before_bold};
  Attempts fewer_{first_pause_before_fewer};
};

class Balance {
 public:
  // Connections are spread over all workers at once if `adapts` is false.
  Balance(unsigned workers, bool adapts);

  // The connections belong to the first `workers`. Each change has another number.
  struct Spread {
    unsigned workers;
    std::uint32_t number;
  };
  Spread spread() const { return spread_.load(std::memory_order_relaxed); }
  bool adapts() const { return adapts_; }
  // Tests and the simulator: decides instead of the policy.
  void set_spread(unsigned workers) {
    const Spread before = spread();
    if (before.workers == workers) return;
    spread_.store({workers, before.number + 1}, std::memory_order_relaxed);
  }

  // Before the thread of the worker starts. The counters outlive the balance.
  void join(std::size_t worker, const ThreadCounters& counters) {
    watched_[worker].counters = &counters;
  }
  // The worker's thread: it sleeps from `now` on; it has woken.
  void sleeps(std::size_t worker, std::uint64_t now) {
    watched_[worker].asleep_since.store(now, std::memory_order_relaxed);
  }
  void wakes(std::size_t worker, std::uint64_t now);
  // Any worker's thread, between two passes: looks what there is to see if a period is over.
  void look(std::uint64_t now) {
    if (adapts_ && now >= next_look_.load(std::memory_order_relaxed)) [[unlikely]]
      end_period(now);
  }
  // A look in two parts, of one thread at a time: what was seen until now, and what follows from it.
  SpreadPolicy::Period served_until(std::uint64_t now);
  void note_period(const SpreadPolicy::Period& seen, std::uint64_t now);

 private:
  struct alignas(64) Watched {
    std::atomic<std::uint64_t> asleep{0};        // ns in all, but for the present sleep
    std::atomic<std::uint64_t> asleep_since{1};  // 0: it is awake
    const ThreadCounters* counters = nullptr;
    // As they were at the end of the last period. Under the lock.
    std::uint64_t asleep_before = 0;
    std::uint64_t received_before = 0;
  };

  void end_period(std::uint64_t now);

  const std::size_t workers_;
  const bool adapts_;
  std::unique_ptr<Watched[]> watched_;
  std::atomic<Spread> spread_;
  std::atomic<std::uint64_t> next_look_{0};
  std::mutex mutex_;  // for what follows; who does not get it at once leaves the period to others
  std::uint64_t last_look_ = 0;
  bool has_looked_ = false;
  SpreadPolicy policy_;
  IdleCores idle_cores_;
};

}  // namespace hs::net
