#include "load/connect.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <iostream>

#include "load/options.h"

namespace hs::bench {

std::optional<Address> Address::of(const Options& options) {
  Address address;
  address.sources_ = options.sources;
  if (!options.unix_socket.empty()) {
    auto& to = reinterpret_cast<sockaddr_un&>(address.storage_);
    if (options.unix_socket.size() >= sizeof to.sun_path) {
      std::cerr << "error: the path of the socket is too long\n";
      return std::nullopt;
    }
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, options.unix_socket.c_str(), options.unix_socket.size() + 1);
    address.size_ = sizeof to;
    return address;
  }
  auto& v4 = reinterpret_cast<sockaddr_in&>(address.storage_);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address.storage_);
  if (inet_pton(AF_INET, options.host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(options.port);
    address.size_ = sizeof v4;
  } else if (inet_pton(AF_INET6, options.host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(options.port);
    address.size_ = sizeof v6;
  } else {
    std::cerr << "error: '" << options.host << "' is no IPv4 or IPv6 address\n";
    return std::nullopt;
  }
  return address;
}

// An address has some 28,000 ports for one server, and each of them rests when its connection is
// closed: who connects more often than that has to come from several.
bool Address::bind_to_next_source(int fd) {
  sockaddr_in source{};
  source.sin_family = AF_INET;
  source.sin_addr.s_addr = htonl(INADDR_LOOPBACK + next_source_);
  next_source_ = next_source_ + 1 == sources_ ? 0 : next_source_ + 1;
  const int on = 1;  // the port is chosen when it is known for which server
  setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  return ::bind(fd, reinterpret_cast<const sockaddr*>(&source), sizeof source) == 0;
}

// Blocking, with a time limit: on one machine nothing is waited for, and a full backlog of a Unix
// socket is. Whoever sends and receives says each time that he does not wait.
Descriptor Address::connect(int timeout_ms) {
  Descriptor fd(::socket(storage_.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return fd;
  const timeval timeout{.tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000L};
  if (setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) != 0) return {};
  if (storage_.ss_family != AF_UNIX) {
    const int on = 1;
    setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (sources_ > 1 && !bind_to_next_source(fd.get())) return {};
  }
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&storage_), size_) != 0) {
    if (errno == EINPROGRESS) errno = ETIMEDOUT;
    return {};
  }
  return fd;
}

bool wait_for(int fd, short events, int timeout_ms) {
  pollfd poll{.fd = fd, .events = events, .revents = 0};
  return ::poll(&poll, 1, timeout_ms) > 0;
}

}  // namespace hs::bench
