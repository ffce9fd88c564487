// World: everything that happens in one simulated run, decided by one seed.
//
// It owns the clock, the threads and the sockets. A simulated thread is a coroutine with its own
// stack. It runs until it calls the kernel, which may let another thread run first or make it wait.
// run() is the scheduler: at each step it chooses, at random, a thread that can continue, a client
// that can do something, or bytes that are on their way. If nothing can happen, it moves the clock
// to the next moment for which something waits. Nothing in it is real, so a seed always does the
// same.
//
// There is one world at a time, on one thread of the machine.
#pragma once

#include <sys/epoll.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace hs::simulator {

// One connection, as seen by its two ends and the network between them.
struct Socket {
  std::uint32_t client_address = 0;  // IPv4, in the machine's order of bytes
  std::string in_flight;             // sent by the client, and still on its way
  std::string arrived;               // the server can read it
  std::string replies;               // sent by the server; the client can read it
  std::size_t room = 0;              // the kernel takes so many more bytes from the server
  bool client_finished = false;      // the client will send no more
  bool finish_arrived = false;       // and the server's kernel has noticed
  bool reset = false;                // the client is gone without an end of file
  bool server_finished = false;      // the server will send no more
  bool server_closed = false;

  static constexpr std::size_t most_arrived = 8192;
  static constexpr std::size_t most_replies = 4096;
};

class World {
 public:
  explicit World(std::uint64_t seed);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  static World& current();

  // A number less than `bound`; and whether something happens that has this chance in percent.
  std::size_t below(std::size_t bound) { return random_() % bound; }
  bool chance(unsigned percent) { return below(100) < percent; }
  std::uint64_t now() const { return now_; }
  std::uint64_t next_number() { return ++last_number_; }

  // A thread of the server has found that something is not as it must be. It keeps the first of
  // these, because an exception must not leave a simulated thread.
  void fail(const std::string& what) {
    if (failure_.empty()) failure_ = what;
  }
  const std::string& failure() const { return failure_; }

  // Starts a simulated thread.
  void start_thread(std::function<void()> body);
  // Something outside the server, which is tried at random. It returns whether it could do
  // anything.
  void add_actor(std::function<bool()> act) { actors_.push_back(std::move(act)); }

  // Continues until `done`, or until so much simulated time has passed. Returns whether it was
  // done.
  bool run(const std::function<bool()>& done, std::uint64_t most_ns);
  bool all_threads_have_ended() const;

  // Called by the kernel: the running thread waits until `ready` or the deadline.
  void wait(std::function<bool()> ready, std::uint64_t deadline);
  // Called by the kernel: now and then lets the other threads run first.
  void maybe_yield();

  // Descriptors.
  int open_listener();
  int open_epoll();
  int open_event();
  // A client connects: its socket waits until it is accepted.
  std::shared_ptr<Socket> connect(int listener, std::uint32_t client_address);
  int accept(int listener);
  void close(int fd);
  Socket* socket(int fd);
  std::uint64_t* event(int fd);
  // What epoll and poll would report for it.
  std::uint32_t readiness(int fd);
  // Something happened: each edge-triggered watch reports it once.
  void notify(int fd);
  void notify(const Socket& socket);
  int control(int epoll, int operation, int fd, const epoll_event* event);
  int take_events(int epoll, epoll_event* events, int most);
  std::size_t open_descriptors() const { return files_.size(); }

 private:
  struct Thread;
  struct Watch {
    std::uint32_t interest = 0;
    epoll_data_t data{};
    bool happened = false;
  };
  struct File {
    enum class Kind : std::uint8_t { listener, epoll, event, socket } kind;
    std::shared_ptr<Socket> socket{};
    std::deque<std::shared_ptr<Socket>> backlog{};  // of a listener
    std::uint64_t count = 0;                        // of an event
    std::map<int, Watch> watches{};                 // of an epoll set
  };

  static void run_thread();
  void switch_to(Thread& thread);
  bool can_go_on(const Thread& thread) const;
  bool deliver();
  int add_file(File file);

  std::mt19937_64 random_;
  std::uint64_t now_ = 1'000'000'000;
  std::uint64_t last_number_ = 0;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<std::function<bool()>> actors_;
  Thread* running_ = nullptr;
  ucontext_t scheduler_{};
  std::map<int, File> files_;
  int next_fd_ = 1 << 20;  // not a descriptor of the machine
  std::string failure_;
};

}  // namespace hs::simulator
