#include "net/balance.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hs::net {
namespace {

// A worker that is awake for a larger part of the time has no room for more.
constexpr double full = 0.85;
// Fewer workers are enough if they would be awake for no larger part of the time, and that has been
// so for some periods.
constexpr double light = 0.4;
constexpr unsigned light_periods = 10;
// What is moved at the beginning of an attempt makes its first period slower.
constexpr unsigned attempt_periods = 3;
// A worker more needs so much of a core. If so much is still idle with it, it takes nothing away
// from others.
constexpr double core_for_one_more = 0.2;
constexpr double core_left_over = 0.25;
// Threads wait for one another's time slices if less is idle.
constexpr double no_core = 0.1;
// Neither an idle core nor none.
constexpr double idle_cores_unknown = (no_core + core_for_one_more) / 2;
// One more worker has to bring as much, and one fewer may cost as much.
constexpr double gain_of_more = 1.03;
constexpr double cost_of_fewer = 0.99;

}  // namespace

void SpreadPolicy::note(const Period& seen, std::uint64_t now) {
  const double rate = (last_rate_ + seen.rate) / 2;
  last_rate_ = seen.rate;
  if (before_ != 0) {
    if (++attempted_for_ >= attempt_periods) end_attempt({seen.load, rate, seen.idle_cores}, now);
    return;
  }
  light_for_ = seen.load < light * (spread_ - 1) ? light_for_ + 1 : 0;
  if (light_for_ >= light_periods) {
    light_for_ = 0;
    spread_ = std::clamp(static_cast<unsigned>(std::ceil(seen.load / full)), 1U, spread_ - 1);
    more_.pause = more_.first_pause;
    more_.next = now;
    return;
  }
  const bool is_full = seen.load > full * spread_;
  if (!is_full || seen.idle_cores >= no_core) fewer_.next = now + fewer_.pause;
  if (!is_full || bold_.next == 0) bold_.next = now + bold_.pause;
  if (is_full && spread_ < most_) {
    if (seen.idle_cores >= core_for_one_more && now >= more_.next) {
      const unsigned more = std::max(1U, static_cast<unsigned>(seen.idle_cores));
      return attempt(more_, std::min(most_, spread_ + more), rate);
    }
    if (now >= bold_.next) return attempt(bold_, spread_ + 1, rate);
  }
  if (spread_ > 1 && now >= fewer_.next) attempt(fewer_, spread_ - 1, rate);
}

void SpreadPolicy::attempt(Attempts& attempts, unsigned spread, double rate) {
  attempts_ = &attempts;
  before_ = spread_;
  spread_ = spread;
  attempted_for_ = 0;
  rate_before_ = rate;
}

void SpreadPolicy::end_attempt(const Period& seen, std::uint64_t now) {
  const bool is_wider = spread_ > before_;
  const bool keep =
      is_wider ? seen.rate >= gain_of_more * rate_before_ || seen.idle_cores >= core_left_over
               : seen.rate >= cost_of_fewer * rate_before_;
  Attempts& attempts = *attempts_;
  attempts.pause = keep ? attempts.first_pause : std::min(2 * attempts.pause, longest_pause);
  attempts.next = now + attempts.pause;
  if (!keep) spread_ = before_;
  before_ = 0;
}

Balance::Balance(unsigned workers, bool adapts)
    : workers_(workers),
      adapts_(adapts && workers > 1),
      watched_(std::make_unique<Watched[]>(workers)),
      spread_(Spread{adapts_ ? 1 : workers, 1}),
      policy_(workers) {}

void Balance::wakes(std::size_t worker, std::uint64_t now) {
  Watched& it = watched_[worker];
  const std::uint64_t since = it.asleep_since.load(std::memory_order_relaxed);
  it.asleep.store(it.asleep.load(std::memory_order_relaxed) + (now - std::min(now, since)),
                  std::memory_order_relaxed);
  it.asleep_since.store(0, std::memory_order_relaxed);
}

void Balance::end_period(std::uint64_t now) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || now < next_look_.load(std::memory_order_relaxed)) return;
  next_look_.store(now + SpreadPolicy::length, std::memory_order_relaxed);
  SpreadPolicy::Period seen = served_until(now);
  // Nobody asks for idle cores while the load is light, and to read them costs some 50 us.
  std::optional<double> idle;
  if (seen.load > 0.5) {
    idle = idle_cores_.since_last(now);
  } else {
    idle_cores_.forget();
  }
  seen.idle_cores = idle.value_or(idle_cores_unknown);
  note_period(seen, now);
}

void Balance::note_period(const SpreadPolicy::Period& seen, std::uint64_t now) {
  if (!std::exchange(has_looked_, true)) return;  // it is all that was until now
  policy_.note(seen, now);
  set_spread(policy_.spread());
}

// What the workers have done since the last call.
SpreadPolicy::Period Balance::served_until(std::uint64_t now) {
  const auto length = static_cast<double>(now - std::exchange(last_look_, now));
  SpreadPolicy::Period seen;
  for (std::size_t i = 0; i < workers_; ++i) {
    Watched& it = watched_[i];
    if (it.counters == nullptr) continue;
    const std::uint64_t since = it.asleep_since.load(std::memory_order_relaxed);
    const std::uint64_t asleep =
        it.asleep.load(std::memory_order_relaxed) + (since == 0 ? 0 : now - std::min(now, since));
    std::uint64_t received = 0;
    for (const CounterBlock* const block : it.counters->blocks())
      received += block->get(Counter::bytes_received);
    // The two parts of `asleep` may be read on both sides of a wake-up.
    const auto slept = static_cast<double>(asleep - std::min(asleep, it.asleep_before));
    seen.load += std::clamp(1 - slept / length, 0.0, 1.0);
    seen.rate += static_cast<double>(received - it.received_before) / length;
    it.asleep_before = asleep;
    it.received_before = received;
  }
  return seen;
}

}  // namespace hs::net
