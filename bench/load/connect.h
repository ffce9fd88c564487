// Sockets to the server under load, and their addresses.
//
// Each thread has its own Address. A failed system call gives a message, never an exception.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace hs::bench {

struct Options;

// A descriptor that is closed when its owner is destroyed.
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
  // The address of the options' host and port, or Unix socket. If there is none, returns nothing
  // and writes a message to stderr.
  static std::optional<Address> of(const Options& options);

  // A connected socket, or an invalid one with errno set. Waits for room in a server's backlog for
  // `timeout_ms` at most.
  Descriptor connect(int timeout_ms);

 private:
  bool bind_to_next_source(int fd);

  sockaddr_storage storage_{};
  socklen_t size_ = 0;
  std::uint32_t sources_ = 1;
  std::uint32_t next_source_ = 0;
};

// Waits for `events` (POLLIN …) of a socket. False if the time is over.
bool wait_for(int fd, short events, int timeout_ms);

}  // namespace hs::bench
