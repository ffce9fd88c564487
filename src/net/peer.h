// PeerAddress: where a client has connected from.
//
// It holds the bytes that the kernel gave when it accepted the socket, so it is known even after
// the client has gone. The text is made only when somebody asks. A value: any thread may have a
// copy.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>

namespace hs::net {

class PeerAddress {
 public:
  // Who counts as one client: an IPv4 address, 64 bits of an IPv6 address, or all Unix sockets.
  using Network = std::array<unsigned char, 9>;

  // For accept4(). A longer address, of a Unix socket with a name, is cut off.
  sockaddr* room() { return &address_.any; }
  socklen_t* length() { return &length_; }

  bool is_tcp() const { return address_.any.sa_family != AF_UNIX; }
  // Whether the client is on this machine and speaks TCP.
  bool is_loopback() const;
  Network network() const;
  // "127.0.0.1:40000", "[::1]:40000" or "unix". An IPv4 client of an IPv6 socket looks like any
  // other IPv4 client.
  std::string text() const;

 private:
  union Address {
    sockaddr_in6 v6;
    sockaddr_in v4;
    sockaddr any;
  };
  Address address_{};
  socklen_t length_ = sizeof(Address);
};

// The first byte says what follows.
inline PeerAddress::Network PeerAddress::network() const {
  Network network{};
  const auto take = [&network](unsigned char kind, const void* bytes, std::size_t size) {
    network[0] = kind;
    std::memcpy(&network[1], bytes, size);
  };
  if (address_.any.sa_family == AF_INET) {
    take(4, &address_.v4.sin_addr, sizeof(in_addr));
  } else if (address_.any.sa_family == AF_INET6) {
    const in6_addr& host = address_.v6.sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&host)) {
      take(4, &host.s6_addr[12], sizeof(in_addr));
    } else {
      take(6, &host, network.size() - 1);
    }
  }
  return network;
}

}  // namespace hs::net
