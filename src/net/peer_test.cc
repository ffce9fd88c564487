#include "net/peer.h"

#include <gtest/gtest.h>

#include <cstring>

namespace hs::net {
namespace {

PeerAddress peer_of(const sockaddr* address, std::size_t size) {
  PeerAddress peer;
  std::memcpy(peer.room(), address, size);
  return peer;
}

TEST(PeerAddress, IsATextThatSaysWhereAClientIs) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(40000);
  v4.sin_addr.s_addr = htonl(0xc0a80102);
  EXPECT_EQ(peer_of(reinterpret_cast<sockaddr*>(&v4), sizeof v4).text(), "192.168.1.2:40000");
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(7);
  v6.sin6_addr = in6addr_loopback;
  EXPECT_EQ(peer_of(reinterpret_cast<sockaddr*>(&v6), sizeof v6).text(), "[::1]:7");
  v6.sin6_addr = {};
  v6.sin6_addr.s6_addr[10] = v6.sin6_addr.s6_addr[11] = 0xff;
  v6.sin6_addr.s6_addr[12] = 10;
  v6.sin6_addr.s6_addr[15] = 1;
  EXPECT_EQ(peer_of(reinterpret_cast<sockaddr*>(&v6), sizeof v6).text(), "10.0.0.1:7");
  sockaddr unnamed{};
  unnamed.sa_family = AF_UNIX;
  EXPECT_EQ(peer_of(&unnamed, sizeof unnamed.sa_family).text(), "unix");
}

sockaddr_in6 v6_of(const in6_addr& host) {
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_addr = host;
  return v6;
}

in6_addr mapped(std::uint8_t first) {
  in6_addr host{};
  host.s6_addr[10] = host.s6_addr[11] = 0xff;
  host.s6_addr[12] = first;
  host.s6_addr[15] = 1;
  return host;
}

TEST(PeerAddress, BelongsToANetwork) {
  const auto network_of = [](const auto& address) {
    return peer_of(reinterpret_cast<const sockaddr*>(&address), sizeof address).network();
  };
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_addr.s_addr = htonl(0x0a000001);
  sockaddr_in another = v4;
  another.sin_port = 1;
  EXPECT_EQ(network_of(v4), network_of(another));
  EXPECT_EQ(network_of(v4), network_of(v6_of(mapped(10))));
  another.sin_addr.s_addr = htonl(0x0a000002);
  EXPECT_NE(network_of(v4), network_of(another));

  in6_addr host{};
  host.s6_addr[0] = 0x20;
  const PeerAddress::Network network = network_of(v6_of(host));
  EXPECT_NE(network, network_of(v4));
  host.s6_addr[8] = 1;
  EXPECT_EQ(network, network_of(v6_of(host)));
  host.s6_addr[7] = 1;
  EXPECT_NE(network, network_of(v6_of(host)));

  sockaddr unnamed{};
  unnamed.sa_family = AF_UNIX;
  EXPECT_EQ(network_of(unnamed), PeerAddress::Network{});
}

TEST(PeerAddress, KnowsThisMachine) {
  const auto is_loopback = [](const auto& address) {
    return peer_of(reinterpret_cast<const sockaddr*>(&address), sizeof address).is_loopback();
  };
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_addr.s_addr = htonl(0x7f000001);
  EXPECT_TRUE(is_loopback(v4));
  v4.sin_addr.s_addr = htonl(0x7fffff00);
  EXPECT_TRUE(is_loopback(v4));
  v4.sin_addr.s_addr = htonl(0x0100007f);
  EXPECT_FALSE(is_loopback(v4));
  EXPECT_TRUE(is_loopback(v6_of(in6addr_loopback)));
  EXPECT_TRUE(is_loopback(v6_of(mapped(127))));
  EXPECT_FALSE(is_loopback(v6_of(mapped(10))));
  EXPECT_FALSE(is_loopback(v6_of(in6addr_any)));
  in6_addr other = in6addr_loopback;
  other.s6_addr[0] = 0x20;
  EXPECT_FALSE(is_loopback(v6_of(other)));
  sockaddr unnamed{};
  unnamed.sa_family = AF_UNIX;
  EXPECT_FALSE(peer_of(&unnamed, sizeof unnamed.sa_family).is_loopback()) << "that is no TCP";
}

}  // namespace
}  // namespace hs::net
