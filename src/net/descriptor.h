// Descriptor and Wakeup: file descriptors that close themselves.
//
// A Descriptor belongs to one owner at a time. A Wakeup (an eventfd) may be
// notified by any thread; one that is watched edge-triggered needs no reset.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace hs::net {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Descriptor() { close(); }

  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

class Wakeup {
 public:
  // False: no descriptor to be had, errno says why.
  bool open() {
    descriptor_ = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    return static_cast<bool>(descriptor_);
  }
  int fd() const { return descriptor_.get(); }
  // Cannot fail short of 2^64 calls.
  void reset() const {
    eventfd_t count = 0;
    ::eventfd_read(descriptor_.get(), &count);
  }
  void notify() const { ::eventfd_write(descriptor_.get(), 1); }

 private:
  Descriptor descriptor_;
};

}  // namespace hs::net
