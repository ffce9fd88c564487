// The kernel's calls, made on a World. They promise the same as Linux's calls, and no more.
#include "kernel_calls.h"

#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "simulator/world.h"

namespace hs::net::kernel {
namespace {

using simulator::Socket;
using simulator::World;

int fail(int error) {
  errno = error;
  return -1;
}

std::uint64_t deadline_in(int timeout_ms) {
  constexpr std::uint64_t ns_in_ms = 1'000'000;
  if (timeout_ms < 0) return std::numeric_limits<std::uint64_t>::max();
  return World::current().now() + static_cast<std::uint64_t>(timeout_ms) * ns_in_ms;
}

}  // namespace

int accept4(int listener, sockaddr* address, socklen_t* length, int /*flags*/) {
  World::current().maybe_yield();
  const int fd = World::current().accept(listener);
  if (fd < 0) return fail(EAGAIN);
  if (address != nullptr) {
    sockaddr_in from{};
    from.sin_family = AF_INET;
    from.sin_addr.s_addr = htonl(World::current().socket(fd)->client_address);
    std::memcpy(address, &from, std::min<std::size_t>(*length, sizeof from));
    *length = sizeof from;
  }
  return fd;
}

int close(int fd) {
  World::current().close(fd);
  return 0;
}

int epoll_create1(int /*flags*/) { return World::current().open_epoll(); }

int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) {
  return World::current().control(epoll, operation, fd, event);
}

int epoll_wait(int epoll, epoll_event* events, int most, int timeout_ms) {
  World& world = World::current();
  world.maybe_yield();
  int count = world.take_events(epoll, events, most);
  if (count != 0 || timeout_ms == 0) return count;
  world.wait([&] { return (count = world.take_events(epoll, events, most)) != 0; },
             deadline_in(timeout_ms));
  return count;
}

int eventfd(unsigned /*count*/, int /*flags*/) { return World::current().open_event(); }

int eventfd_read(int fd, eventfd_t* count) {
  std::uint64_t& stored = *World::current().event(fd);
  if (stored == 0) return fail(EAGAIN);
  *count = std::exchange(stored, 0);
  return 0;
}

int eventfd_write(int fd, eventfd_t count) {
  *World::current().event(fd) += count;
  World::current().notify(fd);
  return 0;
}

int poll(pollfd* waits, nfds_t count, int timeout_ms) {
  World& world = World::current();
  int ready = 0;
  const auto look = [&] {
    ready = 0;
    for (nfds_t i = 0; i < count; ++i) {
      const std::uint32_t now = world.readiness(waits[i].fd);
      const auto wanted = static_cast<std::uint32_t>(waits[i].events);
      waits[i].revents = static_cast<short>(now & (wanted | EPOLLERR | EPOLLHUP));
      if (waits[i].revents != 0) ++ready;
    }
    return ready != 0;
  };
  world.maybe_yield();
  if (!look() && timeout_ms != 0) world.wait(look, deadline_in(timeout_ms));
  return ready;
}

// As TCP does: reads what is there, up to `size`. A read of fewer bytes has taken everything.
ssize_t recv(int fd, void* to, std::size_t size, int flags) {
  World& world = World::current();
  world.maybe_yield();
  Socket& socket = *world.socket(fd);
  if (socket.reset) return fail(ECONNRESET);
  if (socket.arrived.empty()) return socket.finish_arrived ? 0 : fail(EAGAIN);
  const std::size_t taken = std::min(size, socket.arrived.size());
  std::memcpy(to, socket.arrived.data(), taken);
  if ((flags & MSG_PEEK) == 0) socket.arrived.erase(0, taken);
  return static_cast<ssize_t>(taken);
}

// The kernel takes fewer bytes than there are only if it has no room for more.
ssize_t send(int fd, const void* from, std::size_t size, int /*flags*/) {
  World& world = World::current();
  world.maybe_yield();
  Socket& socket = *world.socket(fd);
  if (socket.reset) return fail(ECONNRESET);
  if (socket.server_finished) return fail(EPIPE);
  if (socket.room == 0) return fail(EAGAIN);
  std::size_t taken = std::min(size, socket.room);
  socket.room -= taken;
  if (world.chance(20)) {
    taken = 1 + world.below(taken);
    socket.room = 0;
  }
  socket.replies.append(static_cast<const char*>(from), taken);
  return static_cast<ssize_t>(taken);
}

int shutdown(int fd, int /*how*/) {
  Socket& socket = *World::current().socket(fd);
  if (socket.reset) return fail(ENOTCONN);
  socket.server_finished = true;
  return 0;
}

std::uint64_t monotonic_now() { return World::current().now(); }

// Of the run, so that a seed does the same whatever ran before it: replies show these numbers.
std::uint64_t next_number() { return World::current().next_number(); }

void yield() { World::current().maybe_yield(); }

Thread::Thread(std::function<void()> body) { World::current().start_thread(std::move(body)); }

void Condition::wait_for(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds patience) {
  const std::uint64_t before = notified_;
  lock.unlock();
  World::current().wait([&] { return notified_ != before; },
                        deadline_in(static_cast<int>(patience.count())));
  lock.lock();
}

}  // namespace hs::net::kernel
