// PeerAddress: where a client has connected from.
//
// It holds the bytes that the kernel gave when it accepted the socket, so it is known even after
// the client has gone. The text is made only when somebody asks. A value: any thread may have a
// copy.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
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

}  // namespace hs::net
