// Script: what one client asks, and which replies to it are right.
//
// Each protocol has its own. The client (client.h) asks for the bytes, cuts them and sends them, and hands
// over the bytes of the replies as they come. The script checks each reply against its model when it is
// complete. It makes no fault and touches no socket. If a reply cannot be right, it throws a Failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "simulator/faults.h"
#include "simulator/world.h"

namespace hs::simulator {

enum class ClientKind : std::uint8_t {
  ordinary,
  light,    // asks for little, sends one request at a time, and reads at once
  guesser,  // tries many wrong secrets and passwords, and a right one at last
};

class Script {
 public:
  Script(World& world, const Faults& faults, ClientKind kind)
      : world_(world), faults_(faults), kind_(kind), may_be_strange_(faults.strangers) {}
  virtual ~Script() = default;
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  // Asks for something, or for more. It is called before the client connects, and then when nothing is left
  // to send and all is answered.
  virtual void ask_more() = 0;
  // All that is asked, from the beginning.
  const std::string& bytes() const { return bytes_; }
  // Of a client that sends one request at a time and has sent so many bytes: how many it may send now.
  virtual std::size_t bytes_of_next(std::size_t sent) const = 0;
  // So many bytes are on their way now.
  virtual void sent(std::size_t /*bytes*/, std::uint64_t /*now*/) {}
  // How many answers are still to come, to what was sent and to what was not.
  virtual std::size_t answers_to_come() const = 0;
  // What has come. It begins with the first reply that is not complete yet.
  virtual void take_replies(std::string& received) = 0;
  // To be called after the server has stopped.
  virtual void check_end() const = 0;
  virtual std::string story() const = 0;
  virtual std::uint64_t waited_too_long() const { return 0; }
  virtual std::uint64_t timed_out() const { return 0; }

  void connected(std::uint32_t address, std::uint64_t now) {
    address_ = address;
    connected_at_ = now;
  }
  // It may have to log in, and has not been told that it has.
  bool may_be_strange() const { return may_be_strange_; }
  // Whether the server may end the connection before everything is answered.
  bool may_be_ended() const {
    return faults_.no_memory != 0 || faults_.closes != 0 || may_be_strange_ ||
           (faults_.little_room && kind_ != ClientKind::light);
  }

 protected:
  World& world_;
  const Faults& faults_;
  const ClientKind kind_;
  std::string bytes_;
  bool may_be_strange_;
  std::uint32_t address_ = 0;
  std::uint64_t connected_at_ = 0;
};

}  // namespace hs::simulator
