#include "simulator/client.h"

#include <algorithm>

#include "net/scrambled_filter.h"

namespace hs::simulator {
namespace {

constexpr std::uint64_t longest_stall_ns = 300'000'000;
constexpr std::uint64_t longest_silence_ns = 2'000'000'000;
constexpr std::size_t kept_of_replies = 600;

}  // namespace

Client::Client(World& world, const Faults& faults, ClientKind kind, std::unique_ptr<Script> script,
               std::function<std::shared_ptr<Socket>()> connect)
    : world_(world),
      faults_(faults),
      kind_(kind),
      script_(std::move(script)),
      connect_(std::move(connect)),
      scrambles_(kind != ClientKind::light && world.chance(faults.scrambled)) {
  script_->ask_more();
}

bool Client::step() {
  if (done() || stalled_until_ > world_.now()) return false;
  if (state_ == State::connecting) {
    socket_ = connect_();
    script_->connected(socket_->client_address, world_.now());
    state_ = State::talking;
    if (script_->may_be_strange() && world_.chance(20))
      stalled_until_ = world_.now() + world_.below(longest_silence_ns);
    return true;
  }
  if (world_.chance(faults_.reset)) return vanish();
  if (kind_ != ClientKind::light && world_.chance(faults_.stall)) {
    stalled_until_ = world_.now() + world_.below(longest_stall_ns);
    return true;
  }
  return world_.chance(50) ? send_some() || read_some() : read_some() || send_some();
}

bool Client::send_some() {
  if (state_ != State::talking || socket_->server_closed) return false;
  if (scrambles_ && hello_sent_ < net::ScrambledFilter::hello.size()) return greet();
  if (sent_ == script_->bytes().size() && script_->answers_to_come() == 0) script_->ask_more();
  if (sent_ == script_->bytes().size()) {
    // The client may finish before the last replies or long after them.
    if (script_->answers_to_come() != 0 && !world_.chance(5)) return false;
    socket_->client_finished = true;
    state_ = State::finishing;
    return true;
  }
  std::size_t rest = script_->bytes().size() - sent_;
  if (kind_ == ClientKind::light) rest = script_->bytes_of_next(sent_);
  if (rest == 0) return false;
  const std::size_t most = world_.chance(30) ? rest : std::min<std::size_t>(rest, 40);
  const std::size_t size = 1 + world_.below(most);
  std::string bytes = script_->bytes().substr(sent_, size);
  if (scrambles_) net::ScrambledFilter::scramble(bytes);
  socket_->in_flight += bytes;
  sent_ += size;
  script_->sent(sent_, world_.now());
  return true;
}

// What comes behind the hello may follow it at once, before it is answered.
bool Client::greet() {
  const std::string_view hello = net::ScrambledFilter::hello;
  const std::size_t size = 1 + world_.below(hello.size() - hello_sent_);
  socket_->in_flight += hello.substr(hello_sent_, size);
  hello_sent_ += size;
  return true;
}

void Client::take_replies(std::string bytes) {
  if (scrambles_) {
    const std::string_view welcome = net::ScrambledFilter::welcome;
    const std::size_t size = std::min(bytes.size(), welcome.size() - welcome_read_);
    require(bytes.substr(0, size) == welcome.substr(welcome_read_, size),
            "the handshake was answered " + bytes);
    welcome_read_ += size;
    bytes.erase(0, size);
    net::ScrambledFilter::scramble(bytes);
  }
  received_ += bytes;
  last_replies_ += bytes;
}

bool Client::read_some() {
  if (socket_->replies.empty()) return end_if_server_has();
  const std::size_t size = 1 + world_.below(socket_->replies.size());
  take_replies(socket_->replies.substr(0, size));
  if (last_replies_.size() > kept_of_replies)
    last_replies_.erase(0, last_replies_.size() - kept_of_replies);
  socket_->replies.erase(0, size);
  const bool was_full = socket_->room == 0;
  socket_->room = Socket::most_replies - socket_->replies.size();
  if (was_full) world_.notify(*socket_);
  script_->take_replies(received_);
  return true;
}

// The client goes without an end of file. What it has sent may have been executed or not.
bool Client::vanish() {
  socket_->reset = true;
  socket_->in_flight.clear();
  socket_->arrived.clear();
  world_.notify(*socket_);
  state_ = State::done;
  return true;
}

bool Client::end_if_server_has() {
  if (!socket_->server_finished && !socket_->server_closed) return false;
  const std::size_t to_come = script_->answers_to_come();
  require(script_->may_be_ended() || (state_ == State::finishing && to_come == 0),
          "the server closed a connection that it had " + std::to_string(to_come) + " answers for");
  socket_->client_finished = true;
  state_ = State::done;
  return true;
}

std::string Client::story() const {
  return script_->story() + ", " + std::to_string(sent_) + " of " +
         std::to_string(script_->bytes().size()) + " bytes sent, " +
         std::to_string(script_->answers_to_come()) +
         " answers to come, the last bytes read were\n" + last_replies_;
}

}  // namespace hs::simulator
