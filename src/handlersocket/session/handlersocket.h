// HandlerSocket: the protocol's part of a worker, streamer or log-in thread, for one port.
//
// Each of these threads has one for each port that speaks it, and every call comes from that thread.
// It makes the sessions of the port's connections, and owns what they share while they work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/setting.h"
#include "handlersocket/session/session.h"
#include "passes/dialogue.h"
#include "passes/runner_config.h"

namespace hs::handlersocket {

// Outlives the runners and their sessions.
struct RunnerConfig : passes::RunnerConfig {
  SessionConfig session;
  Setting<std::size_t> max_request_size = std::size_t{64} << 20;
};

class HandlerSocket final : public passes::Protocol {
 public:
  HandlerSocket(const RunnerConfig& config, store::Store& store, CounterBlock& counters)
      : config_(config), counters_(counters), workspace_(store) {}

  const RunnerConfig& config() const { return config_; }
  // Those of the thread for the port. What a pass counts, it counts by itself.
  CounterBlock& counters() { return counters_; }
  Workspace& workspace() { return workspace_; }

  std::unique_ptr<passes::Dialogue> open_dialogue() override;
  bool writes() const override { return config_.session.writable; }
  void give_back() override {
    workspace_.parser.give_back();
    hs::give_back(workspace_.inserted, kept_rows);
  }

 private:
  static constexpr std::size_t kept_rows = 4096;

  const RunnerConfig& config_;
  CounterBlock& counters_;
  Workspace workspace_;
};

// For passes::PassRunner and passes::StreamRunner. The configuration outlives what is made.
passes::MakeProtocol handlersocket(const RunnerConfig& config);

}  // namespace hs::handlersocket
