#include "mysqld/thread/deadline_watch.h"

#include <pthread.h>

#include <algorithm>
#include <exception>

#include "mysqld/server/api.h"
#include "mysqld/server/worker_thd.h"

namespace hs::mysqld {

DeadlineWatch::Write::Write(DeadlineWatch& watch, THD* thd, Time ends)
    : watch_(watch), thd_(thd), ends_(ends) {
  {
    const std::lock_guard lock(watch_.mutex_);
    try {
      watch_.writes_.push_back(this);
      is_watched_ = true;
      if (!watch_.thread_.joinable()) watch_.thread_ = std::thread([&watch] { watch.run(); });
    } catch (const std::exception&) {
      return;
    }
  }
  watch_.condition_.notify_one();
}

DeadlineWatch::Write::~Write() { end(); }

bool DeadlineWatch::Write::end() {
  if (!is_watched_) return false;
  const std::lock_guard lock(watch_.mutex_);
  std::erase(watch_.writes_, this);
  is_watched_ = false;
  return was_killed_;
}

DeadlineWatch::~DeadlineWatch() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  condition_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void DeadlineWatch::run() {
  ::pthread_setname_np(::pthread_self(), "hs-deadlines");
  if (my_thread_init()) return;
  {
    std::unique_lock lock(mutex_);
    while (!stops_) {
      const Time next = end_overdue();
      if (next == Time::max()) {
        condition_.wait(lock);
      } else {
        condition_.wait_until(lock, next);
      }
    }
  }
  my_thread_end();
}

// Returns the next deadline.
DeadlineWatch::Time DeadlineWatch::end_overdue() {
  const Time now = std::chrono::steady_clock::now();
  Time next = Time::max();
  for (Write* const write : writes_) {
    if (write->was_killed_) continue;
    if (write->ends_ > now) {
      next = std::min(next, write->ends_);
    } else {
      write->was_killed_ = true;
      server::kill_statement(write->thd_);
    }
  }
  return next;
}

}  // namespace hs::mysqld
