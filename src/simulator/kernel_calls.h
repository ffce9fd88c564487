// KernelCalls: the simulator's kernel, under the names that net/ calls.
//
// All of it runs on one thread. Each call may let other simulated threads run first. No call
// reaches the machine's kernel. What the calls work on is in world.h.
#pragma once

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>

namespace hs::net::kernel {

int accept4(int listener, sockaddr* address, socklen_t* length, int flags);
int close(int fd);
int epoll_create1(int flags);
int epoll_ctl(int epoll, int operation, int fd, epoll_event* event);
int epoll_wait(int epoll, epoll_event* events, int most, int timeout_ms);
int eventfd(unsigned count, int flags);
int eventfd_read(int fd, eventfd_t* count);
int eventfd_write(int fd, eventfd_t count);
int poll(pollfd* waits, nfds_t count, int timeout_ms);
ssize_t recv(int fd, void* to, std::size_t size, int flags);
ssize_t send(int fd, const void* from, std::size_t size, int flags);
int shutdown(int fd, int how);

std::uint64_t monotonic_now();
std::uint64_t next_number();
void yield();

class Condition {
 public:
  void notify_one() noexcept { ++notified_; }
  void notify_all() noexcept { ++notified_; }
  void wait_for(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds patience);

 private:
  std::uint64_t notified_ = 0;
};

// A thread of the world, which waits for all of its threads in the end.
class Thread {
 public:
  Thread() = default;
  explicit Thread(std::function<void()> body);
  void join() {}
};

}  // namespace hs::net::kernel
