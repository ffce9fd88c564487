// hs-echo: answers each line with the same reply, and does nothing else. It measures the least that
// the network costs.
//
//   hs-echo ADDRESS PORT | hs-echo PATH      (a Unix socket)
//
// It has one thread and one epoll, and needs one read and one send for what a connection has sent.
// What a server needs beyond this is the server's own cost.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

// The reply to a lookup in the sample table.
constexpr std::string_view reply =
    "0\t3\tuser_0500000\tuser_0500000@example.com\t2021-07-15 17:46:40\n";

int listen_tcp(const char* host, const char* port_text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  std::uint16_t port = 0;
  const auto parsed = std::from_chars(port_text, port_text + std::strlen(port_text), port);
  if (parsed.ec != std::errc{} || inet_pton(AF_INET, host, &address.sin_addr) != 1) return -1;
  address.sin_port = htons(port);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return -1;
  return listen(fd, SOMAXCONN) == 0 ? fd : -1;
}

int listen_unix(std::string_view path) {
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path) return -1;
  address.sun_family = AF_UNIX;
  std::ranges::copy(path, address.sun_path);
  unlink(address.sun_path);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return -1;
  return listen(fd, SOMAXCONN) == 0 ? fd : -1;
}

class Echo {
 public:
  explicit Echo(int listener) : listener_(listener), epoll_(epoll_create1(0)) { watch(listener); }

  void run() {
    std::array<epoll_event, 1024> events;
    while (true) {
      const int count = epoll_wait(epoll_, events.data(), events.size(), -1);
      for (int i = 0; i < count; ++i) {
        const int fd = events[i].data.fd;
        if (fd == listener_) {
          accept_all();
        } else if (!answer(fd, events[i].events)) {
          waiting_.erase(fd);
          was_waiting_[static_cast<std::size_t>(fd)] = false;
          close(fd);
        }
      }
    }
  }

 private:
  void watch(int fd) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }

  void accept_all() {
    int fd = -1;
    while ((fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK)) >= 0) {
      const int on = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      watch(fd);
    }
  }

  // Returns false if the connection is over.
  bool answer(int fd, std::uint32_t events) {
    if ((events & EPOLLOUT) == 0) {
      const ssize_t got = read(fd, input_.data(), input_.size());
      if (got <= 0) return got < 0 && errno == EAGAIN;
      const auto lines =
          static_cast<std::size_t>(std::count(input_.begin(), input_.begin() + got, '\n'));
      while (replies_.size() < lines * reply.size()) replies_ += reply;
      return send_all(fd, std::string_view(replies_).substr(0, lines * reply.size()));
    }
    // The client has not read its replies yet. Nothing more is read from it until it has.
    const std::string rest = std::move(waiting_[fd]);
    waiting_.erase(fd);
    return send_all(fd, rest);
  }

  bool send_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN) return false;
      if (sent < 0) break;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    const bool waits = !bytes.empty();
    if (waits) waiting_[fd] = bytes;
    if (waits != was_waiting_[static_cast<std::size_t>(fd)]) {
      was_waiting_[static_cast<std::size_t>(fd)] = waits;
      epoll_event event{.events = waits ? std::uint32_t{EPOLLOUT} : std::uint32_t{EPOLLIN},
                        .data = {.fd = fd}};
      epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
    }
    return true;
  }

  int listener_;
  int epoll_;
  std::vector<char> input_ = std::vector<char>(std::size_t{64} << 10);
  std::string replies_;
  std::map<int, std::string> waiting_;
  std::vector<bool> was_waiting_ = std::vector<bool>(std::size_t{1} << 20);
};

}  // namespace

int main(int argc, char** argv) {
  int listener = -1;
  if (argc == 3) listener = listen_tcp(argv[1], argv[2]);
  if (argc == 2) listener = listen_unix(argv[1]);
  if (listener < 0) {
    std::cerr << "usage: hs-echo ADDRESS PORT, or hs-echo PATH\n";
    return 2;
  }
  Echo(listener).run();
}
