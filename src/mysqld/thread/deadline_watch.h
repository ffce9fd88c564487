// DeadlineWatch: ends a write that waits inside an engine when the time of its request is over.
//
// A waiter or a streamer waits for a locked row for a second at a time, and the engine's clock knows
// nothing shorter. So a client's own time (`within`) needs a clock beside it. The watch has a thread
// of its own, which is started by the first write that has a deadline, and sleeps until the next
// deadline. It owns no THD. Threads that write make a Write for as long as it takes. It never looks
// at a write without a deadline, nor at a commit, nor at a write that cannot be undone.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

class THD;

namespace hs::mysqld {

class DeadlineWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // A write that is under way. If there is no memory or no thread to watch it, nobody ends it.
  class Write {
   public:
    Write(DeadlineWatch& watch, THD* thd, Time ends);
    ~Write();
    Write(const Write&) = delete;
    Write& operator=(const Write&) = delete;

    // The write is over. Returns whether the watch has killed its statement; then the THD has to
    // forget that.
    bool end();

   private:
    friend class DeadlineWatch;

    DeadlineWatch& watch_;
    THD* const thd_;
    const Time ends_;
    bool is_watched_ = false;
    bool was_killed_ = false;
  };

  DeadlineWatch() = default;
  ~DeadlineWatch();
  DeadlineWatch(const DeadlineWatch&) = delete;
  DeadlineWatch& operator=(const DeadlineWatch&) = delete;

 private:
  void run();
  Time end_overdue();

  std::mutex mutex_;  // of all that follows, and held while a statement is killed
  std::condition_variable condition_;
  std::vector<Write*> writes_;
  bool stops_ = false;
  std::thread thread_;
};

}  // namespace hs::mysqld
