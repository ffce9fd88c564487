// HostThread: a worker's life as a thread of the server.
//
// Owns the worker's THD. Made, used and destroyed on the worker's own thread;
// only interrupt_all() is called from another. It makes the worker visible in
// SHOW PROCESSLIST, open to KILL and gone in time for shutdown; it never
// touches a table.
#pragma once

#include <cstdint>
#include <memory>

class THD;

namespace hs::mysqld {

struct HostThreadConfig {
  std::uint32_t lock_wait_timeout_s = 5;  // longest wait for a row lock or a commit's metadata lock
};

class HostThread {
 public:
  // Waits until the server has started. Null if it shuts down, or the plugin is
  // unloaded, before that; or if no THD could be had.
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
  // Forgets a KILL, so that the worker can go on.
  void forgive();

  // What SHOW PROCESSLIST shows of a worker that works; a string literal.
  void show_state(const char* state);
  void show_idle();

  // Takes over what SET GLOBAL may have changed: sql_mode, time zone, row image.
  void refresh_variables();

  // From the thread that unloads the plugin: workers give up waits for locks,
  // and none attaches any more until allow_attach().
  static void interrupt_all();
  static void allow_attach();

 private:
  HostThread() = default;

  THD* thd_ = nullptr;
  HostThreadConfig config_;
};

}  // namespace hs::mysqld
