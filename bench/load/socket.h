// Socket: a connection to the server, as plain bytes or with TLS.
//
// It owns the descriptor and the TLS session, and belongs to one thread. Nothing waits: a call that
// can do nothing at the moment fails with EAGAIN, as recv() and send() do.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <span>
#include <string_view>
#include <utility>

#include "load/tls_client.h"

namespace hs::bench {

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

class Socket {
 public:
  Socket() = default;
  // Without a session the bytes are plain.
  explicit Socket(Descriptor fd, SslSession session = {})
      : fd_(std::move(fd)), session_(std::move(session)) {}

  int get() const { return fd_.get(); }
  bool valid() const { return fd_.valid(); }
  void reset() {
    session_.reset();
    fd_.reset();
  }

  // As recv(). Fewer bytes than there is room for: there are no more at the moment.
  ssize_t receive(std::span<char> room);
  // As send(). What is left has to be sent again from its first byte.
  ssize_t send(std::string_view bytes);

 private:
  Descriptor fd_;
  SslSession session_;
};

}  // namespace hs::bench
