// KernelCalls: what net/ asks of the kernel while it serves, under the kernel's own names. passes/
// has its clock from here, and connections the numbers of the process.
//
// Any thread may call it. It holds names only, so a call costs what the kernel's call costs. The
// simulator has a header of the same name with a kernel of its own. CMake chooses which of the two
// is compiled.
#pragma once

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <thread>

namespace hs::net::kernel {

using ::accept4;
using ::close;
using ::epoll_create1;
using ::epoll_ctl;
using ::epoll_wait;
using ::eventfd;
using ::eventfd_read;
using ::eventfd_write;
using ::poll;
using ::recv;
using ::send;
using ::shutdown;

using Condition = std::condition_variable;
using Thread = std::thread;

// Nanoseconds.
inline std::uint64_t monotonic_now() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

// One that was never given before in this process, whichever server of it asks. Not 0.
inline std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Lets other threads on the same core run first.
inline void yield() { std::this_thread::yield(); }

}  // namespace hs::net::kernel
