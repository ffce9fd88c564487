#include "mysqld/thread/wait_watch.h"

#include <pthread.h>

#include "mysqld/server/api.h"
#include "mysqld/server/worker_thd.h"

namespace hs::mysqld {
namespace {

constexpr unsigned looks_before_kill = 2;
// So many looks at which nobody has written: with the default about a second.
constexpr unsigned looks_before_sleep = 200;

}  // namespace

WaitWatch::Place::Place(WaitWatch& watch, THD* thd) : watch_(watch), thd_(thd) {
  const std::lock_guard lock(watch_.mutex_);
  watch_.places_.push_back(this);
}

WaitWatch::Place::~Place() {
  const std::lock_guard lock(watch_.mutex_);
  std::erase(watch_.places_, this);
}

WaitWatch::WaitWatch(std::chrono::milliseconds wait) : wait_(wait), thread_([this] { run(); }) {}

WaitWatch::~WaitWatch() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  condition_.notify_one();
  thread_.join();
}

void WaitWatch::run() {
  ::pthread_setname_np(::pthread_self(), "hs-watch");
  if (my_thread_init()) return;
  {
    std::unique_lock lock(mutex_);
    unsigned idle_looks = 0;
    while (!stops_) {
      if (wait_.count() == 0) {
        condition_.wait(lock, [this] { return stops_ || wait_.count() != 0; });
        continue;
      }
      idle_looks = look_at_all() ? 0 : idle_looks + 1;
      if (idle_looks < looks_before_sleep) {
        condition_.wait_for(lock, std::chrono::microseconds(wait_) / looks_before_kill);
        continue;
      }
      asleep_ = true;
      // A write that has begun just now may not have seen that the watch sleeps.
      if (!look_at_all()) condition_.wait(lock, [this] { return stops_ || !asleep_; });
      asleep_ = false;
      idle_looks = 0;
    }
  }
  my_thread_end();
}

void WaitWatch::set_wait(std::chrono::milliseconds wait) {
  {
    const std::lock_guard lock(mutex_);
    wait_ = wait;
  }
  condition_.notify_one();
}

// Returns whether anybody has written since the last look.
bool WaitWatch::look_at_all() {
  bool anybody = false;
  for (Place* const place : places_) anybody |= look(*place);
  return anybody;
}

bool WaitWatch::look(Place& place) {
  std::uint64_t number = place.number_.load();
  const bool is_new = number != place.seen_;
  const bool writes = number % 2 == 1;
  place.seen_ = number;
  if (is_new || !writes) {
    place.looks_ = 0;
    return is_new;
  }
  if (++place.looks_ < looks_before_kill) return true;
  // If the write ends in this moment, either end() finds the number changed, or this does.
  if (place.number_.compare_exchange_strong(number, number + 1)) server::kill_statement(place.thd_);
  return true;
}

void WaitWatch::wake() {
  {
    const std::lock_guard lock(mutex_);
    asleep_ = false;
  }
  condition_.notify_one();
}

// The watch has changed the number and may still be about to kill.
void WaitWatch::await_kill() { const std::lock_guard lock(mutex_); }

}  // namespace hs::mysqld
