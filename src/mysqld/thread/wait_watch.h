// WaitWatch: ends a worker's wait inside an engine, so that the worker's other clients need not
// wait.
//
// Not every engine can be told to refuse a locked row at once. MySQL's InnoDB waits for a second at
// least if a trigger, a foreign key or a duplicate key meets the lock, and so does MyRocks. The
// watch has a thread of its own. It looks at all workers every few milliseconds, and kills the
// statement of a worker that it finds in the same write again and again. It sleeps as long as
// nobody writes. It owns no THD. It never looks at a waiter, which may wait, nor at a commit, nor
// at a write that cannot be undone.
//
// A write that takes long without waiting is killed, too. If it notices that, a waiter executes
// it, and otherwise nothing has happened.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

class THD;

namespace hs::mysqld {

class WaitWatch {
 public:
  // What the watch knows of one worker, who makes it, and calls begin() and end().
  class Place {
   public:
    Place(WaitWatch& watch, THD* thd);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // A write begins.
    void begin() {
      number_.store(++last_);
      if (watch_.asleep_.load()) [[unlikely]]
        watch_.wake();
    }
    // The write is over. Returns whether the watch has killed its statement; then the THD has to
    // forget that.
    bool end() {
      std::uint64_t number = last_++;
      if (number_.compare_exchange_strong(number, last_)) [[likely]]
        return false;
      watch_.await_kill();
      return true;
    }

   private:
    friend class WaitWatch;

    WaitWatch& watch_;
    THD* const thd_;
    std::uint64_t last_ = 0;  // as the worker has written it
    // Odd: the write of this number is under way. The watch adds one when it kills the statement.
    std::atomic<std::uint64_t> number_{0};
    std::uint64_t seen_ = 0;  // the watch's: the number at its last look
    unsigned looks_ = 0;      // the watch's: how often it has seen the write before
  };

  // A write is ended when it has taken so long, or half as much longer. 0: none is.
  explicit WaitWatch(std::chrono::milliseconds wait);
  ~WaitWatch();
  WaitWatch(const WaitWatch&) = delete;
  WaitWatch& operator=(const WaitWatch&) = delete;

  // Any thread.
  void set_wait(std::chrono::milliseconds wait);

 private:
  void run();
  bool look(Place& place);
  bool look_at_all();
  void wake();
  void await_kill();

  std::mutex mutex_;  // of the wait and the places, and held while a statement is killed
  std::condition_variable condition_;
  std::chrono::milliseconds wait_;
  std::vector<Place*> places_;
  std::atomic<bool> asleep_{false};
  bool stops_ = false;
  std::thread thread_;
};

}  // namespace hs::mysqld
