#include "load/connect.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "load/options.h"

namespace hs::bench {

std::optional<Address> Address::of(const Options& options) {
  Address address;
  address.sources_ = options.sources;
  if (options.tls != Tls::off && (address.tls_ = TlsClient::make(options)) == nullptr)
    return std::nullopt;
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
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(options.port);
  if (const int error = getaddrinfo(options.host.c_str(), port.c_str(), &hints, &found);
      error != 0) {
    std::cerr << "error: --host " << options.host << ": " << gai_strerror(error) << '\n';
    return std::nullopt;
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, &freeaddrinfo);
  // A name may have several addresses, and a server may listen on one of them only.
  const addrinfo* chosen = found;
  for (const addrinfo* next = found; next != nullptr && found->ai_next != nullptr;
       next = next->ai_next) {
    const Descriptor probe(::socket(next->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!probe.valid() || ::connect(probe.get(), next->ai_addr, next->ai_addrlen) != 0) continue;
    chosen = next;
    break;
  }
  std::memcpy(&address.storage_, chosen->ai_addr, chosen->ai_addrlen);
  address.size_ = chosen->ai_addrlen;
  return address;
}

// An address has about 28,000 ports for one server, and a port cannot be used for a while after its
// connection was closed. A client that connects more often needs several addresses.
bool Address::bind_to_next_source(int fd) {
  sockaddr_in source{};
  source.sin_family = AF_INET;
  source.sin_addr.s_addr = htonl(INADDR_LOOPBACK + next_source_);
  next_source_ = next_source_ + 1 == sources_ ? 0 : next_source_ + 1;
  const int on = 1;  // the port is chosen later, when the server's address is known
  setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  return ::bind(fd, reinterpret_cast<const sockaddr*>(&source), sizeof source) == 0;
}

// Blocking, with a time limit. On one machine a connection is made at once, but a Unix socket waits
// if the backlog is full.
Descriptor Address::connect_plainly(int timeout_ms) {
  Descriptor fd(::socket(storage_.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return fd;
  const timeval timeout{.tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000L};
  if (setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) != 0 ||
      setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0)
    return {};
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

Socket Address::connect(int timeout_ms) {
  Descriptor fd = connect_plainly(timeout_ms);
  if (!fd.valid()) {
    error_ = std::strerror(errno);
    return {};
  }
  if (tls_ == nullptr) return Socket(std::move(fd));
  SslSession session = tls_->shake_hands(fd.get(), error_);
  if (session == nullptr) return {};
  // From now on the library must not wait in its own calls.
  if (::fcntl(fd.get(), F_SETFL, O_NONBLOCK) != 0) {
    error_ = std::strerror(errno);
    return {};
  }
  return Socket(std::move(fd), std::move(session));
}

bool wait_for(int fd, short events, int timeout_ms) {
  pollfd poll{.fd = fd, .events = events, .revents = 0};
  return ::poll(&poll, 1, timeout_ms) > 0;
}

}  // namespace hs::bench
