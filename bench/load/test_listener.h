// How the tests of this folder make their own servers.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>

namespace hs::bench {

// Makes the TCP socket listen on a free port of 127.0.0.1, and returns the port.
inline std::uint16_t listen_on_loopback(int fd, int backlog) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* place = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(fd, place, size), 0);
  EXPECT_EQ(::listen(fd, backlog), 0);
  EXPECT_EQ(::getsockname(fd, place, &size), 0);
  return ntohs(address.sin_port);
}

}  // namespace hs::bench
