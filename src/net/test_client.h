// The client of the tests of net/, with real sockets. Every wait is bounded by `patience`.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "net/descriptor.h"

namespace hs::net::test {

inline constexpr std::chrono::seconds patience{60};

class Client {
 public:
  // Not connected if that failed.
  static Client tcp(unsigned port, int receive_buffer = 0);
  static Client unix_socket(const std::string& path);

  bool connected() const { return static_cast<bool>(socket_); }
  bool send(std::string_view bytes);
  // Sends until the socket takes no more. Returns how many bytes it took.
  std::size_t send_what_fits(std::string_view bytes);
  // Its own port of a TCP connection.
  unsigned port() const;
  // A line without its LF; "<end>" at the end of file, "<error>" after an error or too long a wait.
  std::string line();
  // Everything up to the end of file.
  std::string rest();
  std::size_t read_some(std::size_t most) { return bytes(most).size(); }
  // Some bytes that line() has not read; none at the end.
  std::string bytes(std::size_t most);
  void finish_sending();
  // Closes with a reset instead of an orderly end.
  void abort();
  void close() { socket_.close(); }

 private:
  explicit Client(Descriptor socket);
  bool fill();

  Descriptor socket_;
  std::string read_;
  bool failed_ = false;
};

}  // namespace hs::net::test
