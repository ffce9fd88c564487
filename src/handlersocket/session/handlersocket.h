// HandlerSocket: the protocol's part of a worker, streamer or log-in thread.
//
// Each of these threads has one, and every call comes from that thread. It makes the sessions of the
// thread's connections, and owns what they share while they work.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/setting.h"
#include "handlersocket/session/failed_tries.h"
#include "handlersocket/session/session.h"
#include "passes/dialogue.h"
#include "passes/runner_config.h"

namespace hs::session {

// Outlives the runners and their sessions.
struct RunnerConfig : passes::RunnerConfig {
  SessionConfig session;
  Setting<std::size_t> max_request_size = std::size_t{64} << 20;
  // A wrong secret or password is answered after this time, so that nobody can try many on a
  // connection that stays open.
  std::chrono::nanoseconds wrong_secret_delay{0};
  // Keeps addresses to so many wrong ones, and outlives the runners. Null: it is not done.
  FailedTries* tries = nullptr;
  // Who is told, at a bounded rate, of how many wrong ones an address has sent since the last time.
  std::function<void(const net::PeerAddress&, std::uint64_t count)> note_wrong_tries{};
};

class HandlerSocket final : public passes::Protocol {
 public:
  HandlerSocket(const RunnerConfig& config, store::Store& store, CounterBlock& counters)
      : config_(config), counters_(counters), workspace_(store) {}

  const RunnerConfig& config() const { return config_; }
  // Those of the thread. What a pass counts, it counts by itself.
  CounterBlock& counters() { return counters_; }
  Workspace& workspace() { return workspace_; }

  std::unique_ptr<passes::Dialogue> open_dialogue() override;
  bool writes() const override { return config_.session.writable; }
  void give_back() override { workspace_.parser.give_back(); }

 private:
  const RunnerConfig& config_;
  CounterBlock& counters_;
  Workspace workspace_;
};

// For passes::PassRunner and passes::StreamRunner. The configuration outlives what is made.
passes::MakeProtocol handlersocket(const RunnerConfig& config);

}  // namespace hs::session
