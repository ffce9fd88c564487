#include "net/connection.h"

#include <sys/socket.h>

#include <cerrno>

namespace hs::net {
namespace {

// Below this a buffer is not worth moving to a smaller one.
constexpr std::size_t small_capacity = 4096;

Transfer ended(ssize_t count) {
  if (count >= 0) return {Transfer::Result::done, static_cast<std::size_t>(count)};
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
    return {Transfer::Result::would_block, 0};
  }
  return {Transfer::Result::failed, 0};
}

}  // namespace

void end_with_eof(Descriptor& socket, std::span<char> scratch) {
  ::shutdown(socket.get(), SHUT_WR);
  ::recv(socket.get(), scratch.data(), scratch.size(), 0);
  socket.close();
}

// The socket does not block, so EINTR cannot interrupt a wait; it is taken for
// "later" all the same.
Transfer Connection::receive(std::span<char> room) {
  return ended(::recv(socket.get(), room.data(), room.size(), 0));
}

Transfer Connection::send(std::string_view bytes) {
  return ended(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

void Connection::consume(std::size_t count) {
  const std::size_t rest = input.size() - count;
  if (rest == 0) {
    input.release();
  } else if (count != 0 && input.capacity() > small_capacity && rest < input.capacity() / 4) {
    Buffer smaller;
    smaller.append(input.view().substr(count));
    input = std::move(smaller);
  } else if (count != 0) {
    input.drop_front(count);
  }
}

void Connection::keep(std::string_view rest, bool consumed) {
  if (rest.empty()) {
    input.release();
  } else if (!consumed) {
    input.append(rest.substr(input.size()));
  } else {
    input.clear();
    input.append(rest);
  }
}

void Connection::note_blocked(const Turn& turn, std::uint64_t now) {
  if (turn.consumed != 0 || turn.next == Next::wait) {
    blocked_since = 0;
    retries = 0;
  }
  if (turn.next == Next::retry && blocked_since == 0) blocked_since = now;
}

}  // namespace hs::net
