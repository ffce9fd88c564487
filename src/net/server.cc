#include "net/server.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <exception>
#include <list>
#include <mutex>
#include <shared_mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "net/handshaker.h"
#include "net/question.h"
#include "net/shared.h"
#include "net/streamer.h"
#include "net/waiters.h"
#include "net/worker.h"

namespace hs::net {
namespace {

constexpr std::size_t smallest_read = 1024;
constexpr std::size_t largest_read = std::size_t{16} << 20;

ServerConfig within_bounds(ServerConfig config) {
  assert(!config.ports.empty() && !config.crews.empty());
  for (CrewConfig& crew : config.crews) crew.workers = std::max(crew.workers, 1U);
  config.read_size = std::clamp(config.read_size, smallest_read, largest_read);
  return config;
}

}  // namespace

class Server::Impl {
 public:
  Impl(ServerConfig config, ApplicationFactory factory, LogFunction log)
      : shared_(within_bounds(std::move(config)), std::move(factory), std::move(log)) {
    for (Crew& crew : shared_.crews) {
      if (crew.config.waiters == 0) continue;
      crew.waiters = &waiters_.emplace_back(shared_, crew);
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { stop(); }

  bool start() {
    bool started = false;
    try {
      started = listen() && make_workers() && start_threads();
    } catch (const std::exception& error) {  // no memory, or no thread
      shared_.log(LogLevel::error, std::string("handlersocket: cannot start: ") + error.what());
    }
    if (!started) stop();
    return started;
  }

  void stop() {
    shared_.stopping = true;
    if (shared_.stop_event.fd() >= 0) shared_.stop_event.notify();
    for (Crew& crew : shared_.crews) crew.wake_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    for (Waiters& waiters : waiters_) waiters.join();
    // Who asks waits for its patience at most: workers that have left answer at once.
    const std::lock_guard no_questions(asking_);
    workers_.clear();
    streamers_.clear();
    handshakers_.clear();
    for (Crew& crew : shared_.crews) {
      crew.listeners.clear();
      crew.inboxes.clear();
    }
    shared_.stop_event = Wakeup{};
  }

  ConnectionList describe_connections(std::chrono::milliseconds patience) const {
    const std::shared_lock asks(asking_);
    return ask_for_connections(shared_, patience);
  }
  ReportList ask_applications(std::chrono::milliseconds patience) const {
    const std::shared_lock asks(asking_);
    return net::ask_applications(shared_, patience);
  }
  Closing close_connection(std::uint64_t id, std::chrono::milliseconds patience) const {
    const std::shared_lock asks(asking_);
    return ask_to_close(shared_, id, patience);
  }
  ServerConfig& config() { return shared_.config; }
  void set_spread(unsigned workers) {
    for (Crew& crew : shared_.crews) {
      crew.balance.set_spread(std::clamp(workers, 1U, crew.config.workers));
      for (const auto& inbox : crew.inboxes) inbox->wake();
    }
  }
  std::size_t connections() const {
    std::size_t count = 0;
    for (const Port& port : shared_.ports)
      count += port.connections.load(std::memory_order_relaxed);
    return count;
  }
  const Port& port(std::size_t number) const { return shared_.ports[number]; }

 private:
  bool listen() {
    for (Port& port : shared_.ports) {
      std::list<Listener>& listeners = shared_.crews[port.config.crew].listeners;
      if (!port.config.port.empty())
        open_tcp_listeners(shared_.config, port, listeners, shared_.log);
      if (!port.config.socket_path.empty())
        open_unix_listener(shared_.config, port, listeners, shared_.log);
    }
    bool listens = false;
    for (const Crew& crew : shared_.crews) {
      for (const Listener& listener : crew.listeners)
        listener.port().places.push_back(listener.place());
      listens = listens || !crew.listeners.empty();
    }
    return listens;
  }

  // Does everything that may fail for lack of descriptors or memory, before any thread runs.
  bool make_workers() {
    const auto failed = [this] {
      shared_.log(LogLevel::error,
                  "handlersocket: cannot start: " + std::generic_category().message(errno));
      return false;
    };
    const std::lock_guard no_questions(asking_);
    if (!shared_.stop_event.open()) return failed();
    for (Crew& crew : shared_.crews) {
      for (unsigned i = 0; i < crew.config.workers; ++i) {
        Inbox& inbox = *crew.inboxes.emplace_back(std::make_unique<Inbox>(i, shared_.waiting));
        if (!inbox.open()) return failed();
        workers_.push_back(std::make_unique<Worker>(shared_, crew, inbox));
        if (!workers_.back()->open()) return failed();
      }
      crew.workers_left = crew.config.workers;
      add_carriers(crew);
    }
    threads_.reserve(workers_.size() + streamers_.size() + handshakers_.size());
    return true;
  }

  void add_carriers(Crew& crew) {
    // Waiters are started when they are needed.
    for (const Role role : {Role::streamer, Role::log_in, Role::remote})
      add_streamers(crew, role, crew.config.*carrier_of(role).count);
    const unsigned handshakers = shared_.config.filter == nullptr ? 0 : crew.config.handshakers;
    for (unsigned i = 0; i < handshakers; ++i)
      handshakers_.push_back(std::make_unique<Handshaker>(shared_, crew));
  }

  void add_streamers(Crew& crew, Role role, unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      streamers_.push_back(std::make_unique<Streamer>(shared_, crew, role));
  }

  bool start_threads() {
    // Streamers come first, so that no find ever meets a queue without streamers.
    for (const auto& streamer : streamers_) {
      streamer->queue().join();
      threads_.emplace_back(&Streamer::run, streamer.get());
    }
    for (const auto& handshaker : handshakers_) {
      handshaker->queue().join();
      threads_.emplace_back(&Handshaker::run, handshaker.get());
    }
    for (const auto& worker : workers_) threads_.emplace_back(&Worker::run, worker.get());
    return true;
  }

  Shared shared_;
  mutable std::shared_mutex asking_;  // held by those who use the inboxes from outside
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Streamer>> streamers_;
  std::vector<std::unique_ptr<Handshaker>> handshakers_;
  std::list<Waiters> waiters_;  // of those crews that have any
  std::vector<std::thread> threads_;
};

Server::Server(ServerConfig config, ApplicationFactory factory, LogFunction log)
    : impl_(std::make_unique<Impl>(std::move(config), std::move(factory), std::move(log))) {}

Server::~Server() = default;

ServerConfig& Server::config() { return impl_->config(); }
void Server::set_spread(unsigned workers) { impl_->set_spread(workers); }
bool Server::start() { return impl_->start(); }
void Server::stop() { impl_->stop(); }
std::size_t Server::connections() const { return impl_->connections(); }
unsigned Server::bound_port(std::size_t port) const { return impl_->port(port).bound_port; }
ConnectionList Server::describe_connections(std::chrono::milliseconds patience) const {
  return impl_->describe_connections(patience);
}
ReportList Server::ask_applications(std::chrono::milliseconds patience) const {
  return impl_->ask_applications(patience);
}
Closing Server::close_connection(std::uint64_t id, std::chrono::milliseconds patience) {
  return impl_->close_connection(id, patience);
}
const std::vector<std::string>& Server::places(std::size_t port) const {
  return impl_->port(port).places;
}

}  // namespace hs::net
