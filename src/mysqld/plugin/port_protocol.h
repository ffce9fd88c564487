// PortProtocol: what a port of the table in base/ports.h speaks.
//
// Plain data, for any thread. A protocol's part is the function that makes it for a thread that serves
// the port; from there on the passes know it as any other (passes/dialogue.h).
#pragma once

#include <string_view>

#include "base/ports.h"
#include "handlersocket/session/pass_runner.h"

namespace hs {

struct PortProtocol {
  std::string_view name;  // for people
  // The settings are those of one port, and outlive what is made.
  passes::Runner::MakeProtocol (*with)(const session::RunnerConfig& settings);
};

}  // namespace hs
