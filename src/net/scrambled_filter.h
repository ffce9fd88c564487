// ScrambledFilter: a ByteFilter that is as easy as one can be, for tests and the simulator.
//
// The client says "\x16hello!" and the filter answers "\x16welcome". From then on every byte of
// both directions is turned around. A client that says anything else has failed. Owned by its
// connection and called as net/byte_filter.h says.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "kernel_calls.h"
#include "net/byte_filter.h"

namespace hs::net {

class ScrambledFilter final : public ByteFilter {
 public:
  static constexpr std::string_view hello = "\x16hello!";
  static constexpr std::string_view welcome = "\x16welcome";
  static void scramble(std::span<char> bytes) {
    for (char& byte : bytes) byte = static_cast<char>(byte ^ 0x55);
  }

  ScrambledFilter(int socket, std::string_view begin, std::size_t memory = 0)
      : socket_(socket), memory_(memory), read_(begin) {}

  Progress shake_hands() override {
    std::array<char, 16> room;
    while (read_.size() < hello.size()) {
      const ssize_t count = kernel::recv(socket_, room.data(), hello.size() - read_.size(), 0);
      if (count < 0 && errno == EAGAIN) return Progress::wants_input;
      if (count <= 0) return Progress::failed;
      read_.append(room.data(), static_cast<std::size_t>(count));
      if (!hello.starts_with(read_)) return Progress::failed;
    }
    if (!read_.starts_with(hello)) return Progress::failed;
    while (written_ < welcome.size()) {
      const ssize_t count =
          kernel::send(socket_, welcome.data() + written_, welcome.size() - written_, MSG_NOSIGNAL);
      if (count < 0 && errno == EAGAIN) return Progress::wants_output;
      if (count <= 0) return Progress::failed;
      written_ += static_cast<std::size_t>(count);
    }
    read_.erase(0, hello.size());
    is_open_ = true;
    return Progress::done;
  }

  // Reads more from the socket than is asked for, as a library of TLS does that reads whole records.
  Transfer receive(std::span<char> room) override {
    if (read_.empty()) {
      std::array<char, record_size> record;
      const ssize_t count = kernel::recv(socket_, record.data(), record.size(), 0);
      if (count < 0) return {.result = failure(), .emptied = true};
      read_.assign(record.data(), static_cast<std::size_t>(count));
      is_emptied_ = read_.size() < record.size();
    }
    const std::size_t size = peek_read(room);
    read_.erase(0, size);
    return {.bytes = size, .emptied = read_.empty() && is_emptied_};
  }

  std::size_t peek(std::span<char> room) override {
    if (!read_.empty()) return peek_read(room);
    const ssize_t count = kernel::recv(socket_, room.data(), room.size(), MSG_PEEK);
    const std::size_t size = count < 0 ? 0 : static_cast<std::size_t>(count);
    scramble(room.first(size));
    return size;
  }

  Transfer send(std::string_view bytes) override {
    if (!is_open_) return {.result = Transfer::Result::failed};
    std::string scrambled(bytes);
    scramble(scrambled);
    const ssize_t count = kernel::send(socket_, scrambled.data(), scrambled.size(), MSG_NOSIGNAL);
    if (count < 0) return {.result = failure()};
    return {.bytes = static_cast<std::size_t>(count)};
  }

  void say_farewell() override {}
  std::size_t memory() const override { return memory_; }
  const char* protocol() const override { return "scrambled"; }

 private:
  static constexpr std::size_t record_size = 16384;

  // Copies what has been read and not been received.
  std::size_t peek_read(std::span<char> room) const {
    const std::size_t size = std::min(read_.size(), room.size());
    std::copy_n(read_.begin(), size, room.begin());
    scramble(room.first(size));
    return size;
  }
  static Transfer::Result failure() {
    return errno == EAGAIN ? Transfer::Result::would_block : Transfer::Result::failed;
  }

  const int socket_;
  const std::size_t memory_;
  std::string read_;         // as it came, and not received yet
  bool is_emptied_ = false;  // the socket had no more when it was last read
  std::size_t written_ = 0;
  bool is_open_ = false;
};

}  // namespace hs::net
