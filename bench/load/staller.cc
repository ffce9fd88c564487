#include "load/staller.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "load/key_chooser.h"
#include "load/options.h"

namespace hs::bench {
namespace {

constexpr int connect_timeout_ms = 10'000;
// How often it looks at the clock, and how soon it comes again after the server has closed a
// connection.
constexpr std::chrono::milliseconds step{10};
// A half request that is kept for ever costs memory. One that comes again and again costs work,
// too.
constexpr std::chrono::milliseconds held{500};

void write_request(Buffer& out, Wire& wire, const Options& options) {
  std::atomic<std::uint64_t> newest = options.keys.first + options.keys.count - 1;
  KeyChooser chooser(options.keys, newest, options.seed);
  std::vector<std::uint64_t> keys(options.keys_per_find);
  std::ranges::generate(keys, [&] { return chooser.existing(); });
  wire.write(out, Action::find, keys);
}

}  // namespace

Staller::Staller(Greed greed, const Options& options, Address address)
    : ends_(greed == Greed::half),
      address_(std::move(address)),
      wire_(make_wire(options)),
      connections_(options.connections) {
  if (greed == Greed::half) {
    request_.append(half_request(options));
  } else {
    write_request(request_, *wire_, options);
  }
}

std::string Staller::connect() {
  for (Connection& connection : connections_) {
    if (!open(connection)) return "cannot connect: " + address_.error();
  }
  return {};
}

void Staller::run(const Timeline& timeline) {
  std::vector<pollfd> polled(connections_.size());
  for (auto now = Clock::now(); now < timeline.to; now = Clock::now()) {
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      Connection& connection = connections_[i];
      const bool done = connection.socket.valid() && ends_ && connection.sent == request_.size();
      if (done && now >= connection.until) connection.socket.reset();
      if (!connection.socket.valid() && now >= connection.until && !open(connection)) {
        close(connection);
      }
      polled[i] = {
          .fd = connection.socket.get(), .events = wanted_events(connection), .revents = 0};
    }
    if (::poll(polled.data(), polled.size(), step.count()) <= 0) continue;
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      if (polled[i].revents != 0) handle(connections_[i], polled[i].revents);
    }
  }
  connections_.clear();
}

bool Staller::open(Connection& connection) {
  connection.socket = address_.connect(connect_timeout_ms);
  if (!connection.socket.valid()) return false;
  connection.counter = wire_->counter();
  connection.sent = 0;
  connection.greeting.clear();
  connection.greetings = wire_->greet(connection.greeting);
  const Buffer& greeting = connection.greeting;
  if (greeting.empty()) return true;
  const ssize_t sent = connection.socket.send(greeting.view());
  return sent == static_cast<ssize_t>(greeting.size());
}

void Staller::close(Connection& connection) {
  ++outcome_.lost_connections;
  connection.socket.reset();
  connection.until = Clock::now() + step;
}

short Staller::wanted_events(const Connection& connection) const {
  if (connection.greetings != 0) return POLLIN;
  // It notices without reading that the server has closed the connection.
  return static_cast<short>(POLLRDHUP | (connection.sent < request_.size() ? POLLOUT : 0));
}

void Staller::handle(Connection& connection, short events) {
  // What a server sends before it closes has to be read first.
  if ((events & POLLIN) != 0) return read_greeting(connection);
  if ((events & (POLLRDHUP | POLLHUP | POLLERR)) != 0) return close(connection);
  if ((events & POLLOUT) != 0) send(connection);
}

void Staller::read_greeting(Connection& connection) {
  std::array<char, 4096> bytes;
  const ssize_t count = connection.socket.receive(bytes);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return close(connection);
  Tally tally;
  connection.counter->feed({bytes.data(), static_cast<std::size_t>(count)}, tally);
  connection.greetings -= std::min<std::size_t>(connection.greetings, tally.replies);
  outcome_.tally.errors += tally.errors;
  if (outcome_.tally.first_error.empty()) outcome_.tally.first_error = tally.first_error;
}

void Staller::send(Connection& connection) {
  const ssize_t sent = connection.socket.send(request_.view(connection.sent, request_.size()));
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (sent < 0) return close(connection);
  connection.sent += static_cast<std::size_t>(sent);
  if (connection.sent < request_.size()) return;
  ++outcome_.tally.replies;
  connection.until = Clock::now() + held;
}

}  // namespace hs::bench
