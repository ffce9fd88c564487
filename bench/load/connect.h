// Sockets to the server under load, and their addresses.
//
// Each thread has an Address of its own. A failed system call is a message, never an exception.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace hs::bench {

struct Options;

// A descriptor that is closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

class Address {
 public:
  // Of the options' host and port, or Unix socket; nothing, and a message on stderr, if it is none.
  static std::optional<Address> of(const Options& options);

  // A connected socket, or an invalid one with errno set. Does not wait for a server's backlog for
  // longer than `timeout_ms`.
  Descriptor connect(int timeout_ms);

 private:
  bool bind_to_next_source(int fd);

  sockaddr_storage storage_{};
  socklen_t size_ = 0;
  std::uint32_t sources_ = 1;
  std::uint32_t next_source_ = 0;
};

// Waits until `events` (POLLIN …) of a socket; false when the time is over.
bool wait_for(int fd, short events, int timeout_ms);

}  // namespace hs::bench
