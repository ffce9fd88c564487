#include "simulator/world.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <limits>

namespace hs::simulator {
namespace {

constexpr std::size_t stack_size = std::size_t{256} << 10;
constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t longest_step_ns = 20'000;
constexpr std::uint32_t nothing = 0;  // nothing is reported for a descriptor

World* world = nullptr;

}  // namespace

struct World::Thread {
  std::function<void()> body;
  std::unique_ptr<char[]> stack = std::make_unique_for_overwrite<char[]>(stack_size);
  ucontext_t context{};
  std::function<bool()> ready;  // null: the thread can continue at once
  std::uint64_t deadline = never;
  bool ended = false;
};

World::World(std::uint64_t seed) : random_(seed) { world = this; }

World::~World() { world = nullptr; }

World& World::current() { return *world; }

void World::run_thread() {
  Thread& self = *world->running_;
  self.body();
  self.ended = true;
  ::swapcontext(&self.context, &world->scheduler_);
}

void World::start_thread(std::function<void()> body) {
  Thread& thread = *threads_.emplace_back(std::make_unique<Thread>());
  thread.body = std::move(body);
  ::getcontext(&thread.context);
  thread.context.uc_stack.ss_sp = thread.stack.get();
  thread.context.uc_stack.ss_size = stack_size;
  thread.context.uc_link = nullptr;
  ::makecontext(&thread.context, &World::run_thread, 0);
}

void World::switch_to(Thread& thread) {
  running_ = &thread;
  ::swapcontext(&scheduler_, &thread.context);
  running_ = nullptr;
}

void World::wait(std::function<bool()> ready, std::uint64_t deadline) {
  assert(running_ != nullptr);
  Thread& self = *running_;
  self.ready = std::move(ready);
  self.deadline = deadline;
  ::swapcontext(&self.context, &scheduler_);
  self.ready = nullptr;
  self.deadline = never;
}

void World::maybe_yield() {
  if (running_ != nullptr && chance(50)) wait(nullptr, never);
}

bool World::can_go_on(const Thread& thread) const {
  return !thread.ended && (thread.ready == nullptr || thread.deadline <= now_ || thread.ready());
}

bool World::all_threads_have_ended() const {
  return std::ranges::all_of(threads_, [](const auto& thread) { return thread->ended; });
}

bool World::run(const std::function<bool()>& done, std::uint64_t most_ns) {
  const std::uint64_t end = now_ + most_ns;
  while (!done()) {
    if (now_ >= end) return false;
    now_ += 1 + below(longest_step_ns);
    // Tries the threads, the actors and the network in turn, from a random one on, until one can do
    // something.
    const std::size_t count = threads_.size() + actors_.size() + 1;
    const std::size_t first = below(count);
    bool happened = false;
    for (std::size_t i = 0; i < count && !happened; ++i) {
      const std::size_t chosen = (first + i) % count;
      if (chosen < threads_.size()) {
        happened = can_go_on(*threads_[chosen]);
        if (happened) switch_to(*threads_[chosen]);
      } else if (chosen < threads_.size() + actors_.size()) {
        happened = actors_[chosen - threads_.size()]();
      } else {
        happened = deliver();
      }
    }
    if (happened) continue;
    std::uint64_t next = end;
    for (const auto& thread : threads_) {
      if (!thread->ended) next = std::min(next, thread->deadline);
    }
    now_ = std::max(now_, next);
  }
  return true;
}

// Some bytes of some connection arrive at the server, or the end of file behind them.
bool World::deliver() {
  std::vector<int> waiting;
  for (const auto& [fd, file] : files_) {
    if (file.socket == nullptr) continue;
    const Socket& socket = *file.socket;
    const bool has_bytes =
        !socket.in_flight.empty() && socket.arrived.size() < Socket::most_arrived;
    const bool has_farewell =
        socket.in_flight.empty() && socket.client_finished && !socket.finish_arrived;
    if (has_bytes || has_farewell) waiting.push_back(fd);
  }
  if (waiting.empty()) return false;
  const int fd = waiting[below(waiting.size())];
  Socket& socket = *files_[fd].socket;
  if (socket.in_flight.empty()) {
    socket.finish_arrived = true;
  } else {
    const std::size_t most = chance(50) ? socket.in_flight.size() : 20;
    const std::size_t size = std::min(
        {1 + below(most), socket.in_flight.size(), Socket::most_arrived - socket.arrived.size()});
    socket.arrived.append(socket.in_flight, 0, size);
    socket.in_flight.erase(0, size);
  }
  notify(fd);
  return true;
}

int World::add_file(File file) {
  files_.emplace(next_fd_, std::move(file));
  return next_fd_++;
}

int World::open_listener() { return add_file({.kind = File::Kind::listener}); }
int World::open_epoll() { return add_file({.kind = File::Kind::epoll}); }
int World::open_event() { return add_file({.kind = File::Kind::event}); }

std::shared_ptr<Socket> World::connect(int listener, std::uint32_t client_address) {
  auto socket = std::make_shared<Socket>();
  socket->client_address = client_address;
  socket->room = Socket::most_replies;
  files_.at(listener).backlog.push_back(socket);
  notify(listener);
  return socket;
}

int World::accept(int listener) {
  File& file = files_.at(listener);
  if (file.backlog.empty()) return -1;
  std::shared_ptr<Socket> socket = std::move(file.backlog.front());
  file.backlog.pop_front();
  return add_file({.kind = File::Kind::socket, .socket = std::move(socket)});
}

void World::close(int fd) {
  const auto found = files_.find(fd);
  assert(found != files_.end());
  if (found->second.socket != nullptr) found->second.socket->server_closed = true;
  for (const std::shared_ptr<Socket>& waiting : found->second.backlog)
    waiting->server_closed = true;
  files_.erase(found);
  for (auto& [number, file] : files_) file.watches.erase(fd);
}

Socket* World::socket(int fd) {
  const auto found = files_.find(fd);
  return found == files_.end() ? nullptr : found->second.socket.get();
}

std::uint64_t* World::event(int fd) {
  const auto found = files_.find(fd);
  return found == files_.end() ? nullptr : &found->second.count;
}

std::uint32_t World::readiness(int fd) {
  const File& file = files_.at(fd);
  switch (file.kind) {
    case File::Kind::listener: return file.backlog.empty() ? nothing : std::uint32_t{EPOLLIN};
    case File::Kind::event: return file.count == 0 ? nothing : std::uint32_t{EPOLLIN};
    case File::Kind::epoll: return 0;
    case File::Kind::socket: break;
  }
  const Socket& socket = *file.socket;
  std::uint32_t ready = 0;
  if (!socket.arrived.empty() || socket.finish_arrived || socket.reset) ready |= EPOLLIN;
  if (socket.finish_arrived || socket.reset) ready |= EPOLLRDHUP;
  if (socket.room != 0 || socket.reset) ready |= EPOLLOUT;
  if (socket.reset) ready |= EPOLLERR | EPOLLHUP;
  return ready;
}

void World::notify(int fd) {
  for (auto& [number, file] : files_) {
    if (const auto watch = file.watches.find(fd); watch != file.watches.end()) {
      watch->second.happened = true;
    }
  }
}

void World::notify(const Socket& socket) {
  for (const auto& [fd, file] : files_) {
    if (file.socket.get() == &socket) return notify(fd);
  }
}

int World::control(int epoll, int operation, int fd, const epoll_event* event) {
  std::map<int, Watch>& watches = files_.at(epoll).watches;
  if (operation == EPOLL_CTL_DEL) return watches.erase(fd) == 1 ? 0 : -1;
  if (operation == EPOLL_CTL_ADD && watches.contains(fd)) {
    errno = EEXIST;
    return -1;
  }
  // What is there already counts as if it had happened now.
  watches[fd] = {.interest = event->events, .data = event->data, .happened = true};
  return 0;
}

int World::take_events(int epoll, epoll_event* events, int most) {
  int count = 0;
  for (auto& [fd, watch] : files_.at(epoll).watches) {
    if (count == most) break;
    if (!watch.happened) continue;
    const std::uint32_t ready =
        readiness(fd) & (watch.interest | static_cast<std::uint32_t>(EPOLLERR | EPOLLHUP));
    // A watch that is not edge-triggered reports as long as there is something to report.
    const bool edge = (watch.interest & static_cast<std::uint32_t>(EPOLLET)) != 0;
    watch.happened = ready != 0 && !edge;
    if (ready != 0) events[count++] = {.events = ready, .data = watch.data};
  }
  return count;
}

}  // namespace hs::simulator
