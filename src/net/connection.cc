#include "net/connection.h"

#include <cerrno>
#include <cstring>
#include <numeric>

#include "net/inbox.h"

namespace hs::net {
namespace {

// A smaller buffer is not worth a move to a new one.
constexpr std::size_t small_capacity = WaitingBytes::default_allowance;

Transfer ended(ssize_t count) {
  if (count >= 0) return {Transfer::Result::done, static_cast<std::size_t>(count)};
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
    return {Transfer::Result::would_block, 0};
  }
  return {Transfer::Result::failed, 0};
}

}  // namespace

void hide_secret(const Turn& turn) {
  if (turn.secret_size == 0) [[likely]]
    return;
  char* const input = const_cast<char*>(turn.input.data());
  ::explicit_bzero(input + turn.secret_begin, turn.secret_size);
}

void end_with_eof(Descriptor& socket, std::span<char> scratch) {
  kernel::shutdown(socket.get(), SHUT_WR);
  kernel::recv(socket.get(), scratch.data(), scratch.size(), 0);
  socket.close();
}

Connection::Connection(Accepted accepted, std::unique_ptr<Dialogue> state_of_application,
                       Inbox& inbox, std::uint64_t now)
    : Source(Kind::connection),
      Carried(std::move(accepted.socket), std::move(state_of_application)),
      home(&inbox),
      share(inbox.waiting, *this, inbox),
      port(accepted.port),
      id(kernel::next_number()),
      peer(accepted.peer),
      accepted_at(now) {
  share.introduce(dialogue != nullptr && dialogue->most_waiting != Dialogue::no_limit);
}

// The socket does not block, so no wait can be interrupted. EINTR is treated as "later" all the
// same.
Transfer Connection::receive(std::span<char> room) {
  Transfer read;
  if (filter == nullptr) [[likely]] {
    read = ended(kernel::recv(socket.get(), room.data(), room.size(), 0));
    // A read that does not fill its room has emptied the socket.
    read.emptied = read.bytes < room.size();
  } else {
    read = filter->receive(room);
  }
  received += read.bytes;
  return read;
}

std::size_t Connection::peek(std::span<char> room) {
  if (filter != nullptr) return filter->peek(room);
  return ended(kernel::recv(socket.get(), room.data(), room.size(), MSG_PEEK)).bytes;
}

Transfer Connection::send(std::string_view bytes) {
  const Transfer taken =
      filter == nullptr
          ? ended(kernel::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL))
          : filter->send(bytes);
  sent.store(sent.load(std::memory_order_relaxed) + taken.bytes, std::memory_order_relaxed);
  return taken;
}

bool Connection::is_introduced() const {
  const bool shakes_hands = filter != nullptr && *tls == '\0';
  return !shakes_hands && dialogue != nullptr && dialogue->most_waiting == Dialogue::no_limit;
}

bool Connection::recount() {
  // A client that fails to log in again does not become a stranger.
  bool has_room = true;
  if (share.is_stranger() && is_introduced()) [[unlikely]] {
    has_room = share.introduce(false);
    place.give_back();
  }
  return share.set(input.capacity() + output.capacity() +
                   (filter == nullptr ? 0 : filter->memory())) &&
         has_room;
}

void Connection::end_filter() {
  if (filter == nullptr) return;
  filter->say_farewell();
  filter.reset();
}

void Connection::consume(std::size_t count) {
  const std::size_t rest = input.size() - count;
  if (rest == 0) {
    input.free_memory();
  } else if (count != 0 && input.capacity() > small_capacity && rest < input.capacity() / 4) {
    Buffer smaller;
    smaller.append(input.view().substr(count));
    input = std::move(smaller);
  } else if (count != 0) {
    input.drop_front(count);
  }
}

void Connection::keep(std::string_view rest, bool consumed) {
  if (rest.empty()) return input.free_memory();
  if (consumed) {
    input.clear();
    if (rest.size() <= small_capacity && input.capacity() > small_capacity) input.free_memory();
  }
  // By itself the buffer would double, and take more than is free of charge for less than that.
  if (rest.size() > input.capacity() && rest.size() <= small_capacity &&
      2 * input.capacity() > small_capacity) {
    input.set_capacity(small_capacity);
  }
  input.append(rest.substr(input.size()));
}

Endpoint Connection::endpoint() const {
  return {.socket = socket.get(),
          .is_unix_socket = !peer.is_tcp(),
          .is_loopback = peer.is_loopback(),
          .tls = filter != nullptr ? filter->session() : nullptr};
}

void Connection::note_blocked(const Turn& turn, std::uint64_t now) {
  if (turn.consumed != 0 || turn.next == Next::wait) {
    blocked_since = 0;
    retries = 0;
  }
  const bool is_blocked =
      turn.next == Next::retry || turn.next == Next::queue || turn.next == Next::in_line;
  if (is_blocked && blocked_since == 0) blocked_since = now;
}

void Connection::note_answered(const RequestCounts& answered) {
  if (answered.last == RequestKind::count_) return;
  const std::uint64_t count =
      std::accumulate(answered.of_kind.begin(), answered.of_kind.end(), std::uint64_t{0});
  requests.store(requests.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  last_request.store(answered.last, std::memory_order_relaxed);
}

}  // namespace hs::net
