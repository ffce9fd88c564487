// PassRunner: executes passes and long finds over a store.
//
// The application that net/ asks for; one object a worker or streamer thread,
// every call from that thread. Cuts the input of each turn into lines, has the
// sessions execute them as one transaction of the store, and sees to it that no
// reply says more than the commit has made true. As long as a pass has writes to
// commit it takes what arrives meanwhile: one commit then serves them all. Knows no
// socket and no clock but the one for lock waits. Hosts derive from it to prepare
// their thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/counters.h"
#include "net/application.h"
#include "session/session.h"
#include "store/store.h"

namespace hs::session {

// Outlives the runners and their sessions.
struct RunnerConfig {
  SessionConfig session;
  std::size_t max_request_size = std::size_t{64} << 20;
  std::chrono::nanoseconds lock_wait_timeout = std::chrono::seconds{50};
  // A pass is full when it has written so many bytes or executed so many requests.
  std::size_t max_pass_bytes = std::size_t{1} << 20;
  std::size_t max_pass_requests = 10'000;
};

class PassRunner : public net::Application {
 public:
  PassRunner(const RunnerConfig& config, std::unique_ptr<store::Store> store,
             CounterBlock& counters);

  bool start() override { return true; }
  void stop() override {}
  bool keep_running() override { return true; }
  void idle() override {}

  std::unique_ptr<net::Dialogue> open_dialogue() final;
  void execute(std::span<net::Turn> turns, std::size_t first, Buffer& out) final;
  bool takes_more() final;
  void end_pass(std::span<net::Turn> turns, Buffer& out) final;
  void release() final { store_->release(); }
  void run_stream(net::Turn& turn, Buffer& out, net::Stream& stream) final;

 protected:
  store::Store& store() { return *store_; }

 private:
  // The reply to a write that waits for its commit.
  struct WriteReply {
    std::size_t turn;
    std::size_t begin;
    std::size_t end;
  };
  enum class Step : std::uint8_t { done, stop, broken };

  void begin_pass(store::PassMode mode);
  bool execute_turns(std::span<net::Turn> turns, std::size_t first, Buffer& out);
  void replay(std::span<net::Turn> turns, Buffer& out);
  bool execute_turn(std::size_t number, net::Turn& turn, Buffer& out);
  Step execute_line(std::size_t number, net::Turn& turn, std::string_view line, Buffer& out);
  void answer_writes(Status status, std::span<net::Turn> turns, std::size_t begin, Buffer& out);
  bool has_waited_enough(const net::Turn& turn) const;
  store::Outcome open_for_stream(const std::string& names, std::shared_ptr<store::Index>& index);

  // Counts of the pass at work: nothing is counted twice when it is executed again.
  void tally(Counter counter) { ++tally_[static_cast<std::size_t>(counter)]; }
  void count();

  const RunnerConfig& config_;
  const std::unique_ptr<store::Store> store_;
  CounterBlock& counters_;
  Workspace workspace_;

  store::PassMode mode_ = store::PassMode::together;
  std::size_t pass_begin_ = 0;  // in `out`
  std::size_t pass_end_ = 0;    // so far
  std::size_t requests_ = 0;
  std::vector<WriteReply> writes_;
  std::array<std::uint32_t, counter_count> tally_{};
  Buffer patched_;

  // A streamer's: indexes opened on its own store, by their names.
  std::map<std::string, std::shared_ptr<store::Index>, std::less<>> opened_;
};

}  // namespace hs::session
