// GreedyClient: a client that makes the server hold as much memory as possible.
//
// It asks for many rows, sends a long request without an end, and reads nothing. Or it only sends
// the long request, for which its buffer has to grow. It stays until the server ends its
// connection, and then comes back.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "simulator/world.h"

namespace hs::simulator {

class GreedyClient {
 public:
  // `most_bytes`: the length of a long request.
  GreedyClient(World& world, std::size_t most_bytes,
               std::function<std::shared_ptr<Socket>()> connect)
      : world_(world), most_bytes_(most_bytes), connect_(std::move(connect)) {}

  // Returns whether it could do anything.
  bool step();

 private:
  static constexpr std::size_t most_requests = 40;
  // The other clients have to finish, too.
  static constexpr int most_connections = 20;

  World& world_;
  const std::size_t most_bytes_;
  std::function<std::shared_ptr<Socket>()> connect_;
  std::shared_ptr<Socket> socket_;
  int connections_ = 0;
  std::string script_;
  std::size_t sent_ = 0;
};

}  // namespace hs::simulator
