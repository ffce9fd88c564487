#include "net/listener.h"

#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

namespace hs::net {
namespace {

std::string error_text(int error) { return std::generic_category().message(error); }

std::string cannot_listen(const std::string& where, const std::string& why) {
  return "handlersocket: cannot listen on " + where + ": " + why;
}

void set_option(int fd, int level, int option, int value) {
  // Each option is only a hint: if the kernel refuses it, the socket still serves.
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

std::string numeric_host(const addrinfo& address) {
  std::array<char, NI_MAXHOST> host{};
  const int error = ::getnameinfo(address.ai_addr, address.ai_addrlen, host.data(), host.size(),
                                  nullptr, 0, NI_NUMERICHOST);
  return error == 0 ? host.data() : "?";
}

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// 0, or the errno of what failed.
int open_tcp(const addrinfo& address, const ServerConfig& config, Port& port, bool only_this_family,
             std::list<Listener>& listeners) {
  Descriptor socket(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return errno;
  const int fd = socket.get();
  // Linux copies these options to the accepted sockets, which saves a call for each of them.
  set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  if (address.ai_family == AF_INET6) {
    set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, only_this_family ? 1 : 0);
  }
  set_buffers(fd, config);
  if (::bind(fd, address.ai_addr, address.ai_addrlen) != 0) return errno;
  if (::listen(fd, config.backlog) != 0) return errno;
  const std::string number = std::to_string(port_of(fd));
  listeners.emplace_back(std::move(socket), port, name_of(numeric_host(address), number));
  return 0;
}

// Opens every address that `host` stands for. If this machine lacks an address, that is no failure
// as long as another one is opened, or if the address is `optional`.
void open_host(const std::string& host, const std::string& number, bool optional,
               const ServerConfig& config, Port& port, std::list<Listener>& listeners,
               const LogFunction& log) {
  const auto failed = [&log](const std::string& where, const std::string& why) {
    log(LogLevel::error, cannot_listen(where, why));
  };
  // getaddrinfo also takes "99980" and "-1" for ports: it uses their last 16 bits.
  if (!port_number(number)) return failed(name_of(host, number), "a port is a number up to 65535");
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), number.c_str(), &hints, &found); error != 0) {
    return failed(name_of(host, number),
                  error == EAI_SYSTEM ? error_text(errno) : ::gai_strerror(error));
  }
  const AddressList addresses(found, &::freeaddrinfo);
  const std::size_t opened_before = listeners.size();
  std::string lacking;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    const int error = open_tcp(*address, config, port, found->ai_next != nullptr, listeners);
    if (error == EADDRNOTAVAIL || error == EAFNOSUPPORT) {
      lacking = error_text(error);
    } else if (error != 0) {
      failed(name_of(numeric_host(*address), number), error_text(error));
      optional = true;  // the reason is told
    }
  }
  if (!lacking.empty() && !optional && listeners.size() == opened_before)
    failed(name_of(host, number), lacking);
}

std::optional<unsigned> number_up_to(unsigned most, std::string_view text, int base) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  const bool is_one = error == std::errc{} && end == text.data() + text.size() && number <= most;
  return is_one ? std::optional(number) : std::nullopt;
}

// Lets those connect who may. Nobody can before the socket listens. Returns why it failed; empty if
// it did not.
std::string set_access(const char* path, const ServerConfig& config) {
  if (!config.socket_group.empty()) {
    std::vector<char> texts(std::size_t{64} << 10);
    group entry{};
    group* found = nullptr;
    ::getgrnam_r(config.socket_group.c_str(), &entry, texts.data(), texts.size(), &found);
    if (found == nullptr) return "there is no group " + config.socket_group;
    constexpr auto same_user = static_cast<uid_t>(-1);
    if (::lchown(path, same_user, found->gr_gid) != 0) {
      return "it cannot be given to the group " + config.socket_group + ": " + error_text(errno);
    }
  }
  return ::chmod(path, config.socket_mode) == 0 ? std::string{} : error_text(errno);
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

std::optional<unsigned> port_number(std::string_view text) { return number_up_to(65535, text, 10); }

std::optional<unsigned> file_mode(std::string_view text) { return number_up_to(0777, text, 8); }

Listener::~Listener() {
  if (path_.empty()) return;
  // Somebody else may have replaced the file meanwhile.
  struct stat file {};
  if (::lstat(path_.c_str(), &file) == 0 && file.st_dev == device_ && file.st_ino == inode_) {
    ::unlink(path_.c_str());
  }
}

void Listener::complete(const Descriptor& accepted, const ServerConfig& config) const {
  if (!path_.empty()) set_buffers(accepted.get(), config);
}

void open_tcp_listeners(const ServerConfig& config, Port& port, std::list<Listener>& listeners,
                        const LogFunction& log) {
  const std::string host = config.address.empty() ? "127.0.0.1" : config.address;
  const std::size_t opened_before = listeners.size();
  open_host(host, port.config.port, false, config, port, listeners, log);
  if (listeners.size() == opened_before) return;
  port.bound_port = port_of(listeners.back().fd());
  // Loopback is one place to a user, whichever family his client tries first;
  // but many machines have no ::1.
  if (config.address.empty()) {
    open_host("::1", std::to_string(port.bound_port), true, config, port, listeners, log);
  }
}

void open_unix_listener(const ServerConfig& config, Port& port, std::list<Listener>& listeners,
                        const LogFunction& log) {
  const std::string& path = port.config.socket_path;
  const auto failed = [&](const std::string& why) {
    log(LogLevel::error, cannot_listen(path, why));
  };
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return failed("a socket's path has at most " + std::to_string(sizeof address.sun_path - 1) +
                  " bytes");
  }
  std::memcpy(address.sun_path, path.data(), path.size());

  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return failed(error_text(errno));
  const int fd = socket.get();
  const auto bind_to_path = [&] {
    return ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  };
  // A server that was killed leaves its socket's file behind.
  if (!bind_to_path()) {
    const int error = errno;
    if (error != EADDRINUSE || !is_stale_socket(address)) return failed(error_text(error));
    ::unlink(address.sun_path);
    if (!bind_to_path()) return failed(error_text(errno));
  }
  Listener& listener = listeners.emplace_back(std::move(socket), port, path);
  struct stat file {};
  if (::lstat(path.c_str(), &file) == 0) {
    listener.path_ = path;
    listener.device_ = file.st_dev;
    listener.inode_ = file.st_ino;
  }
  std::string why = set_access(address.sun_path, config);
  if (why.empty() && ::listen(fd, config.backlog) != 0) why = error_text(errno);
  if (why.empty()) return;
  listeners.pop_back();
  failed(why);
}

}  // namespace hs::net
