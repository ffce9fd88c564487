// HostThread: a worker's life as a thread of the server.
//
// It owns the worker's THD. It is made, used and destroyed on the worker's own thread; only
// interrupt_all() is called from another. It makes the worker visible in SHOW PROCESSLIST, lets
// KILL reach it, and makes it leave in time when the server shuts down. It never touches a table.
#pragma once

#include <cstdint>
#include <memory>

class THD;

namespace hs::mysqld {

struct HostThreadConfig {
  // longest wait for a row, or for a metadata lock at a commit
  std::uint32_t lock_wait_timeout_s = 5;
  // A streamer waits for a row for a while, and then lets others have their turn. A worker gives up
  // a locked row as early as the engine allows.
  bool waits_for_rows = false;
};

class HostThread {
 public:
  // Waits until the server has started. Null if the server shuts down or the plugin is unloaded
  // before that, or if the server cannot prepare the thread.
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

  // What SHOW PROCESSLIST shows while the worker works. It must be a string literal.
  void show_state(const char* state);
  void show_idle();

  // How long InnoDB waits for a row: for the whole lock wait time-out, or as long as suits the kind
  // of thread. Must not be called while a table is open.
  void wait_for_rows(bool to_the_end);

  // Takes over what SET GLOBAL may have changed: sql_mode, time zone, row image, auto-increment
  // steps.
  void refresh_variables();

  // Called by the thread that unloads the plugin: workers give up waits for locks, and no worker
  // attaches until allow_attach().
  static void interrupt_all();
  static void allow_attach();

 private:
  HostThread() = default;

  THD* thd_ = nullptr;
  HostThreadConfig config_;
};

}  // namespace hs::mysqld
