// HostThread: a worker's life as a thread of the server.
//
// It owns the worker's THD. It is made, used and destroyed on the worker's own thread; only
// interrupt_all() is called from another. It makes the worker visible in SHOW PROCESSLIST, lets
// KILL reach it, and makes it leave in time when the server shuts down. It never touches a table.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/setting.h"
#include "mysqld/server/instrumented_thread.h"
#include "mysqld/thread/deadline_watch.h"
#include "mysqld/thread/wait_watch.h"

class THD;

namespace hs::mysqld {

struct HostThreadConfig {
  // What SHOW PROCESSLIST shows while the thread has nothing to do: a string literal.
  const char* idle_state = "handlersocket";
  // longest wait for a row, or for a metadata lock at a commit
  const Setting<std::uint32_t>* lock_wait_timeout_s = nullptr;  // outlives the thread
  // A waiter or a streamer waits for a row for a while, and then lets others have their turn. A worker gives up
  // a locked row as early as the engine allows.
  bool waits_for_rows = false;
  // Of a worker that writes; it outlives the thread. Null: no wait is ended from outside.
  WaitWatch* watch = nullptr;
  // Of a thread that writes aside; it outlives the thread. Null: no request has a time of its own.
  DeadlineWatch* deadlines = nullptr;
};

class HostThread {
 public:
  // Waits until the server has started. Null if the server shuts down or the plugin is unloaded
  // before that. Throws if the server cannot prepare the thread.
  static std::unique_ptr<HostThread> attach(const HostThreadConfig& config);
  ~HostThread();
  HostThread(const HostThread&) = delete;
  HostThread& operator=(const HostThread&) = delete;

  THD* thd() { return thd_; }
  const HostThreadConfig& config() const { return config_; }

  // The server is shutting down: the worker has to leave.
  bool must_leave() const;
  // Somebody killed the worker's statement or connection.
  bool killed() const;
  // Forgets a KILL, so that the worker can continue.
  void forgive();

  // What SHOW PROCESSLIST shows while the worker works. It must be a string literal. Its time
  // begins when the worker has had nothing to do.
  void show_state(const char* state);
  void show_idle();

  // How long InnoDB waits for a row: for the whole lock wait time-out, or as long as suits the kind
  // of thread. Must not be called while a table is open.
  void wait_for_rows(bool to_the_end);

  // Around each write that can be undone, see WaitWatch. end_write() returns whether the write was
  // ended from outside, because it waited for a row. That is forgotten, so that the worker can
  // continue.
  void begin_write() {
    if (place_) place_->begin();
  }
  bool end_write() {
    if (!place_ || !place_->end()) [[likely]]
      return false;
    forgive();
    return true;
  }

  // Takes over what SET GLOBAL may have changed: sql_mode, time zone, row image, auto-increment
  // steps.
  void refresh_variables();

  // Takes back what statements have left in the session, as if the thread had just been attached. No
  // transaction is active, and no table is open. A thread that has to leave keeps its session.
  void reset_session();

  // Called by the thread that unloads the plugin: workers give up waits for locks, and no worker
  // attaches until allow_attach().
  static void interrupt_all();
  static void allow_attach();

 private:
  HostThread() = default;
  void set_up_session();

  THD* thd_ = nullptr;
  std::optional<server::InstrumentedThread> instrumented_;
  HostThreadConfig config_;
  std::optional<WaitWatch::Place> place_;
};

// A write is under way as long as this exists, or until end(). Something may throw meanwhile. A
// write that cannot be undone is not watched, because it must not stop half way.
class WatchedWrite {
 public:
  enum class Ended : std::uint8_t {
    by_itself,
    by_watch,     // because it waited for a row
    by_deadline,  // because the time of its request was over
  };

  // `deadline`: as store::Budget::interrupted_at().
  WatchedWrite(HostThread& host, bool can_undo, DeadlineWatch::Time deadline)
      : host_(host), is_over_(!can_undo) {
    if (!can_undo) return;
    DeadlineWatch* const deadlines = host.config().deadlines;
    if (deadline != DeadlineWatch::Time::max() && deadlines != nullptr) [[unlikely]]
      timed_.emplace(*deadlines, host.thd(), deadline);
    host_.begin_write();
  }
  ~WatchedWrite() { end(); }
  WatchedWrite(const WatchedWrite&) = delete;
  WatchedWrite& operator=(const WatchedWrite&) = delete;

  // How the write was ended. Both watches may have killed its statement, and neither kill may reach the
  // next request of the pass.
  Ended end() {
    if (std::exchange(is_over_, true)) return Ended::by_itself;
    const bool by_watch = host_.end_write();
    const bool by_deadline = timed_ && timed_->end();
    if (by_deadline) [[unlikely]]
      host_.forgive();
    if (by_watch) return Ended::by_watch;
    return by_deadline ? Ended::by_deadline : Ended::by_itself;
  }

 private:
  HostThread& host_;
  std::optional<DeadlineWatch::Write> timed_;
  bool is_over_;
};

}  // namespace hs::mysqld
