// StreamRunner: executes single requests over a store, each in a pass of its own.
//
// It is the application of a thread that is no worker, and every call comes from that thread. A
// streamer executes long finds and writes that take long, a waiter writes that wait for a row, and a
// remote thread any request to a table on another server. A log-in thread has the dialogue make a
// log-in. It knows no protocol and no socket. Hosts derive from it to prepare their thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/counters.h"
#include "net/application.h"
#include "passes/dialogue.h"
#include "passes/runner_config.h"
#include "passes/thread_ports.h"
#include "store/store.h"

namespace hs::passes {

class StreamRunner : public net::StreamerApplication {
 public:
  // Both lists are in the order of the server's ports.
  StreamRunner(const RunnerConfig& config, std::unique_ptr<store::Store> store,
               std::span<const MakeProtocol> protocols, std::span<CounterBlock* const> counters);

  bool start() override { return true; }
  void stop() override {}
  bool keep_running() override { return true; }
  void idle() override {}

  void run_stream(net::Turn& turn, Buffer& out, net::Stream& stream) final;
  void answer_late(net::Turn& turn, Buffer& out) final;

 private:
  void run_find(net::Turn& turn, const Plan& plan, Buffer& out, net::Stream& stream);
  void run_write(net::Turn& turn, const Plan& plan, Buffer& out, net::Stream& stream);
  void run_open(net::Turn& turn, const Plan& plan);
  template <class Execute>
  store::Outcome run_pass(store::PassMode mode, std::uint64_t deadline, Execute execute);
  bool may_wait(const net::Turn& turn) const;
  store::Outcome run_planned(store::PassMode mode, net::Turn& turn, const Plan& plan, Place& place);
  store::Outcome open_indexes(const Plan& plan);
  void end_request(net::Turn& turn, const Plan& plan, Status ended, bool goes_on);
  void note_time(const net::Turn& turn, const Plan& plan, std::chrono::nanoseconds worked,
                 std::uint64_t rows) const;

  const RunnerConfig& config_;
  const std::unique_ptr<store::Store> store_;
  ThreadPorts ports_;  // may use the store; attends to the present request's turn
  store::Budget budget_;
  std::vector<store::IndexUse> uses_;  // of the present request
  // The indexes that are open on its store, by their names. All callers share them.
  std::map<std::string, std::shared_ptr<store::Index>, std::less<>> opened_;
};

}  // namespace hs::passes
