#include "net/listener.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

namespace hs::net {
namespace {

std::string error_text(int error) { return std::generic_category().message(error); }

std::string cannot_listen(const std::string& where, const std::string& why) {
  return "handlersocket: cannot listen on " + where + ": " + why;
}

void set_option(int fd, int level, int option, int value) {
  // A hint at most: a kernel that refuses it serves all the same.
  ::setsockopt(fd, level, option, &value, sizeof value);
}

void set_buffers(int fd, const ServerConfig& config) {
  if (config.send_buffer > 0) set_option(fd, SOL_SOCKET, SO_SNDBUF, config.send_buffer);
  if (config.receive_buffer > 0) set_option(fd, SOL_SOCKET, SO_RCVBUF, config.receive_buffer);
}

std::string name_of(const std::string& host, const std::string& port) {
  return (host.find(':') == std::string::npos ? host : '[' + host + ']') + ':' + port;
}

unsigned port_of(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
  if (address.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// 0, or the errno of what failed.
int open_tcp(const addrinfo& address, const ServerConfig& config, bool only_this_family,
             std::list<Listener>& listeners) {
  Descriptor socket(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return errno;
  const int fd = socket.get();
  // Linux hands these down to the accepted sockets, which saves a call for each of them.
  set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  if (address.ai_family == AF_INET6) {
    set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, only_this_family ? 1 : 0);
  }
  set_buffers(fd, config);
  if (::bind(fd, address.ai_addr, address.ai_addrlen) != 0) return errno;
  if (::listen(fd, config.backlog) != 0) return errno;
  listeners.emplace_back(std::move(socket));
  return 0;
}

// Opens every address that `host` stands for. A family that this machine lacks
// is no failure as long as another one was opened.
bool open_host(const std::string& host, const std::string& port, const ServerConfig& config,
               std::list<Listener>& listeners, std::string& why) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0) {
    why = error == EAI_SYSTEM ? error_text(errno) : ::gai_strerror(error);
    return false;
  }
  const AddressList addresses(found, &::freeaddrinfo);
  bool opened = false;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    const int error = open_tcp(*address, config, found->ai_next != nullptr, listeners);
    if (error == 0) {
      opened = true;
      continue;
    }
    why = error_text(error);
    if (error != EADDRNOTAVAIL && error != EAFNOSUPPORT) return false;
  }
  return opened;
}

// True if `path` is the file of a socket that nobody listens on.
bool is_stale_socket(const sockaddr_un& address) {
  struct stat file {};
  if (::lstat(address.sun_path, &file) != 0 || !S_ISSOCK(file.st_mode)) return false;
  const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!probe) return false;
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
         errno == ECONNREFUSED;
}

}  // namespace

Listener::~Listener() {
  if (path_.empty()) return;
  // The file may have been replaced by somebody else's meanwhile.
  struct stat file {};
  if (::lstat(path_.c_str(), &file) == 0 && file.st_dev == device_ && file.st_ino == inode_) {
    ::unlink(path_.c_str());
  }
}

void Listener::complete(const Descriptor& accepted, const ServerConfig& config) const {
  if (!path_.empty()) set_buffers(accepted.get(), config);
}

bool open_tcp_listeners(const ServerConfig& config, std::list<Listener>& listeners,
                        unsigned& bound_port, const LogFunction& log) {
  const std::string host = config.address.empty() ? "127.0.0.1" : config.address;
  std::string why;
  if (!open_host(host, config.port, config, listeners, why)) {
    log(cannot_listen(name_of(host, config.port), why));
    return false;
  }
  bound_port = port_of(listeners.back().fd());
  // Loopback is one place to a user, whichever family his client tries first;
  // but many machines have no ::1.
  if (config.address.empty()) {
    const std::string port = std::to_string(bound_port);
    if (!open_host("::1", port, config, listeners, why) && why != error_text(EADDRNOTAVAIL) &&
        why != error_text(EAFNOSUPPORT)) {
      log(cannot_listen(name_of("::1", port), why) + "; only " + name_of(host, port) +
          " is served");
    }
  }
  return true;
}

bool open_unix_listener(const ServerConfig& config, std::list<Listener>& listeners,
                        const LogFunction& log) {
  const std::string& path = config.socket_path;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    log(cannot_listen(path, "a socket's path has at most " +
                                std::to_string(sizeof address.sun_path - 1) + " bytes"));
    return false;
  }
  std::memcpy(address.sun_path, path.data(), path.size());

  const auto failed = [&](int error) {
    log(cannot_listen(path, error_text(error)));
    return false;
  };
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return failed(errno);
  const int fd = socket.get();
  const auto bind_to_path = [&] {
    return ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  };
  // A server that was killed leaves its socket's file behind.
  if (!bind_to_path()) {
    const int error = errno;
    if (error != EADDRINUSE || !is_stale_socket(address)) return failed(error);
    ::unlink(address.sun_path);
    if (!bind_to_path()) return failed(errno);
  }
  Listener& listener = listeners.emplace_back(std::move(socket));
  struct stat file {};
  if (::lstat(path.c_str(), &file) == 0) {
    listener.path_ = path;
    listener.device_ = file.st_dev;
    listener.inode_ = file.st_ino;
  }
  if (::listen(fd, config.backlog) != 0) {
    const int error = errno;
    listeners.pop_back();
    return failed(error);
  }
  return true;
}

}  // namespace hs::net
