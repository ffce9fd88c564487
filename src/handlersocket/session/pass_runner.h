// HandlerSocket: the protocol as a runner of passes wants it.
//
// Each worker, streamer or log-in thread has one for each port that speaks it. It makes the sessions
// of the port's connections, and owns what they share while they work. PassRunner is a runner for a
// server whose only port speaks HandlerSocket.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "base/setting.h"
#include "handlersocket/protocol/foreign.h"
#include "handlersocket/session/failed_tries.h"
#include "handlersocket/session/session.h"
#include "passes/runner.h"

namespace hs::session {

using passes::LongRequest;

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
  std::string_view foreign_protocol(std::string_view begin) const override {
    return protocol::foreign_protocol(begin);
  }
  std::size_t whole_requests(std::string_view input) const override {
    return input.rfind('\n') + 1;  // npos + 1 is 0
  }
  void append_error(Status status, Buffer& out) const override;
  void refuse(net::Refusal why, Buffer& out) const override;
  void keep_changes() override { workspace_.changes.clear(); }
  void undo_changes() override;
  void give_back() override { workspace_.parser.give_back(); }

 private:
  const RunnerConfig& config_;
  CounterBlock& counters_;
  Workspace workspace_;
};

// For a port with this configuration.
passes::Runner::MakeProtocol handlersocket(const RunnerConfig& config);

class PassRunner : public passes::Runner {
 public:
  PassRunner(const RunnerConfig& config, std::unique_ptr<store::Store> store,
             CounterBlock& counters);
};

}  // namespace hs::session
