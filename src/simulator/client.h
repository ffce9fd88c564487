// Client: the client of one connection, whatever protocol it speaks.
//
// A script says what it asks and checks the replies. step() does one thing at random: it sends some bytes
// of the script, cut anywhere, reads some replies, stalls, finishes or vanishes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "simulator/script.h"
#include "simulator/world.h"

namespace hs::simulator {

class Client {
 public:
  // `connect` makes the connection.
  Client(World& world, const Faults& faults, ClientKind kind, std::unique_ptr<Script> script,
         std::function<std::shared_ptr<Socket>()> connect);

  // Returns whether it could do anything.
  bool step();
  bool done() const { return state_ == State::done; }
  const Script& script() const { return *script_; }
  // What it has sent and what replies it got, for the report of a failure.
  std::string story() const;

 private:
  enum class State : std::uint8_t { connecting, talking, finishing, done };

  bool send_some();
  bool greet();
  void take_replies(std::string bytes);
  bool read_some();
  bool vanish();
  bool end_if_server_has();

  World& world_;
  const Faults& faults_;
  const ClientKind kind_;
  const std::unique_ptr<Script> script_;
  std::function<std::shared_ptr<Socket>()> connect_;
  std::shared_ptr<Socket> socket_;
  State state_ = State::connecting;
  const bool scrambles_;          // it speaks through net::ScrambledFilter
  std::size_t hello_sent_ = 0;    // bytes of the filter's hello
  std::size_t welcome_read_ = 0;  // bytes of the filter's answer
  std::size_t sent_ = 0;
  std::string received_;
  std::string last_replies_;
  std::uint64_t stalled_until_ = 0;
};

}  // namespace hs::simulator
