// The sockets of the tests of net/.
#include "net/test_client.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <utility>

namespace hs::net::test {
namespace {

Descriptor connect_to(int family, const sockaddr* address, socklen_t length, int receive_buffer) {
  Descriptor socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval limit{.tv_sec = patience.count(), .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (receive_buffer != 0) {
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  }
  if (family == AF_INET) {
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  if (::connect(socket.get(), address, length) != 0) socket.close();
  return socket;
}

}  // namespace

Client::Client(Descriptor socket) : socket_(std::move(socket)) {}

Client Client::tcp(unsigned port, int receive_buffer) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return Client(connect_to(AF_INET, reinterpret_cast<const sockaddr*>(&address), sizeof address,
                           receive_buffer));
}

Client Client::unix_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return Client(
      connect_to(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address, 0));
}

unsigned Client::port() const {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(address.sin_port);
}

bool Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

std::size_t Client::send_what_fits(std::string_view bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count = ::send(socket_.get(), bytes.data() + sent, bytes.size() - sent,
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count <= 0) break;
    sent += static_cast<std::size_t>(count);
  }
  return sent;
}

bool Client::fill() {
  char bytes[65536];
  const ssize_t count = ::recv(socket_.get(), bytes, sizeof bytes, 0);
  failed_ = failed_ || count < 0;
  if (count > 0) read_.append(bytes, static_cast<std::size_t>(count));
  return count > 0;
}

std::string Client::line() {
  std::size_t searched = 0;
  while (true) {
    const std::size_t lf = read_.find('\n', searched);
    if (lf != std::string::npos) {
      std::string line = read_.substr(0, lf);
      read_.erase(0, lf + 1);
      return line;
    }
    searched = read_.size();
    if (!fill()) return failed_ ? "<error>" : "<end>";
  }
}

std::string Client::rest() {
  while (fill()) {
  }
  if (failed_) read_.append("<error>");
  return std::exchange(read_, {});
}

std::string Client::bytes(std::size_t most) {
  std::string bytes(most, '\0');
  const ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

void Client::finish_sending() { ::shutdown(socket_.get(), SHUT_WR); }

void Client::abort() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  socket_.close();
}

}  // namespace hs::net::test
