#include "net/server.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <exception>
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
  assert(!config.ports.empty());
  config.workers = std::max(config.workers, 1U);
  config.read_size = std::clamp(config.read_size, smallest_read, largest_read);
  return config;
}

}  // namespace

class Server::Impl {
 public:
  Impl(ServerConfig config, ApplicationFactory factory, LogFunction log)
      : shared_(within_bounds(std::move(config)), std::move(factory), std::move(log)) {
    if (shared_.config.waiters != 0) shared_.waiters = &waiters_;
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
    shared_.streams.wake_all();
    shared_.handshakes.wake_all();
    shared_.log_ins.wake_all();
    shared_.remotes.wake_all();
    shared_.lock_waits.wake_all();
    for (const auto& inbox : shared_.inboxes) inbox->wake();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    waiters_.join();
    // Who asks waits for its patience at most: workers that have left answer at once.
    const std::lock_guard no_questions(asking_);
    workers_.clear();
    streamers_.clear();
    handshakers_.clear();
    shared_.listeners.clear();
    shared_.inboxes.clear();
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
    shared_.balance.set_spread(std::clamp(workers, 1U, shared_.config.workers));
    for (const auto& inbox : shared_.inboxes) inbox->wake();
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
      if (!port.config.port.empty())
        open_tcp_listeners(shared_.config, port, shared_.listeners, shared_.log);
      if (!port.config.socket_path.empty())
        open_unix_listener(shared_.config, port, shared_.listeners, shared_.log);
    }
    for (const Listener& listener : shared_.listeners)
      listener.port().places.push_back(listener.place());
    return !shared_.listeners.empty();
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
    for (unsigned i = 0; i < shared_.config.workers; ++i) {
      Inbox& inbox = *shared_.inboxes.emplace_back(std::make_unique<Inbox>(shared_.waiting));
      if (!inbox.open()) return failed();
      workers_.push_back(std::make_unique<Worker>(shared_, inbox));
      if (!workers_.back()->open()) return failed();
    }
    add_streamers(Role::streamer, shared_.config.streamers);
    add_streamers(Role::log_in, shared_.config.log_in_threads);
    add_streamers(Role::remote, shared_.config.remote_threads);
    const unsigned handshakers = shared_.config.filter == nullptr ? 0 : shared_.config.handshakers;
    for (unsigned i = 0; i < handshakers; ++i) {
      handshakers_.push_back(std::make_unique<Handshaker>(shared_));
    }
    threads_.reserve(workers_.size() + streamers_.size() + handshakers_.size());
    shared_.workers_left = workers_.size();
    return true;
  }

  void add_streamers(Role role, unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      streamers_.push_back(std::make_unique<Streamer>(shared_, role));
  }

  bool start_threads() {
    // Streamers come first, so that no find ever meets a queue without streamers.
    for (const auto& streamer : streamers_) {
      streamer->queue().join();
      threads_.emplace_back(&Streamer::run, streamer.get());
    }
    for (const auto& handshaker : handshakers_) {
      shared_.handshakes.join();
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
  Waiters waiters_{shared_};
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
