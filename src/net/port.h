// Port: where clients of one protocol come in.
//
// A server has one or several, and all its workers serve all of them together. Shared owns them. What
// the configuration says, and where the port listens, is set before any thread starts. All threads may
// use the other members at the same time. It knows its protocol by a number and a name only: the
// application opens the dialogues of its connections.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/once_a_minute.h"
#include "base/setting.h"
#include "net/server.h"
#include "net/strangers.h"

namespace hs::net {

struct Port {
  Port(std::size_t number_in_server, PortConfig port_config,
       const Setting<std::size_t>& max_strangers)
      : number(number_in_server), config(std::move(port_config)), strangers(max_strangers) {}

  const std::size_t number;  // among those of its server
  const PortConfig config;
  unsigned bound_port = 0;          // 0: it has no TCP listener
  std::vector<std::string> places;  // where it listens
  std::atomic<std::size_t> connections{0};
  Strangers strangers;
  OnceAMinute foreign_line;
  OnceAMinute silent_line;
};

}  // namespace hs::net
