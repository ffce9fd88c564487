#include "net/peer.h"

#include <arpa/inet.h>

#include <array>
#include <cstring>

namespace hs::net {
namespace {

std::string text_of(const in_addr& host, in_port_t port) {
  std::array<char, INET_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET, &host, text.data(), text.size());
  return std::string(text.data()) + ':' + std::to_string(ntohs(port));
}

std::string text_of(const in6_addr& host, in_port_t port) {
  if (IN6_IS_ADDR_V4MAPPED(&host)) {
    in_addr mapped{};
    std::memcpy(&mapped, &host.s6_addr[12], sizeof mapped);
    return text_of(mapped, port);
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, &host, text.data(), text.size());
  return '[' + std::string(text.data()) + "]:" + std::to_string(ntohs(port));
}

}  // namespace

bool PeerAddress::is_loopback() const {
  constexpr unsigned char loopback_net = 127;
  const auto is_v4_loopback = [](const void* host) {
    return *static_cast<const unsigned char*>(host) == loopback_net;
  };
  switch (address_.any.sa_family) {
    case AF_INET: return is_v4_loopback(&address_.v4.sin_addr);
    case AF_INET6: {
      const in6_addr& host = address_.v6.sin6_addr;
      return IN6_IS_ADDR_LOOPBACK(&host) ||
             (IN6_IS_ADDR_V4MAPPED(&host) && is_v4_loopback(&host.s6_addr[12]));
    }
    default: return false;
  }
}

std::string PeerAddress::text() const {
  switch (address_.any.sa_family) {
    case AF_INET: return text_of(address_.v4.sin_addr, address_.v4.sin_port);
    case AF_INET6: return text_of(address_.v6.sin6_addr, address_.v6.sin6_port);
    case AF_UNIX: return "unix";
    default: return "unknown";
  }
}

}  // namespace hs::net
