// Address: where the server under load is, and how it is spoken to.
//
// Each thread has its own copy. A failed system call gives a message, never an exception.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "load/socket.h"
#include "load/tls_client.h"

namespace hs::bench {

struct Options;

class Address {
 public:
  // The address of the options' host and port, or Unix socket. If there is none, returns nothing
  // and writes a message to stderr.
  static std::optional<Address> of(const Options& options);

  // A connected socket that has shaken hands, or an invalid one: error() says why. Waits for the
  // server for `timeout_ms` at most, and with TLS as long again for each step of the handshake.
  Socket connect(int timeout_ms);
  const std::string& error() const { return error_; }

 private:
  Descriptor connect_plainly(int timeout_ms);
  bool bind_to_next_source(int fd);

  sockaddr_storage storage_{};
  socklen_t size_ = 0;
  std::uint32_t sources_ = 1;
  std::uint32_t next_source_ = 0;
  std::shared_ptr<const TlsClient> tls_;  // null: plain bytes
  std::string error_;
};

// Waits for `events` (POLLIN …) of a socket. False if the time is over.
bool wait_for(int fd, short events, int timeout_ms);

}  // namespace hs::bench
