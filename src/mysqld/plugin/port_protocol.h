// PortProtocol: what a port of the table in base/ports.h speaks.
//
// Plain data, for any thread. A protocol's part is the function that makes it for a thread that serves
// the port; from there on the passes know it as any other (passes/dialogue.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/ports.h"
#include "base/setting.h"
#include "handlersocket/session/handlersocket.h"
#include "keys/containers.h"
#include "memcached/session/config.h"
#include "passes/dialogue.h"
#include "redis/session/config.h"

namespace hs {

// The settings of one port, for whichever protocol it speaks.
struct PortSettings : handlersocket::RunnerConfig {
  std::string default_database{};
  std::shared_ptr<const keys::ContainerSource> containers{};  // of all ports
  // For a protocol that tells of the server, and of the port's connections.
  std::function<redis::ServerFacts()> facts{};
  std::function<net::ConnectionList()> connections{};
  std::function<net::Closing(std::uint64_t)> close{};
  Setting<bool> may_flush = false;
  std::function<memcached::ServerFacts()> memcached_facts{};
};

struct PortProtocol {
  std::string_view name;  // for people
  // The settings are those of one port, and outlive what is made.
  passes::MakeProtocol (*with)(const PortSettings& settings);
};

}  // namespace hs
