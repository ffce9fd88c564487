// Descriptor and Wakeup: file descriptors that close themselves.
//
// A Descriptor belongs to one owner at a time. A Wakeup (an eventfd) may be
// notified by any thread; one that is watched edge-triggered needs no reset.
#pragma once

#include <cstdint>
#include <utility>

#include "kernel_calls.h"

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
    if (fd_ >= 0) kernel::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

class Wakeup {
 public:
  // False: there is no descriptor, and errno says why.
  bool open() {
    descriptor_ = Descriptor(kernel::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    return static_cast<bool>(descriptor_);
  }
  int fd() const { return descriptor_.get(); }
  // Cannot fail: the counter would overflow only after 2^64 calls.
  void reset() const {
    eventfd_t count = 0;
    kernel::eventfd_read(descriptor_.get(), &count);
  }
  void notify() const { kernel::eventfd_write(descriptor_.get(), 1); }

 private:
  Descriptor descriptor_;
};

}  // namespace hs::net
