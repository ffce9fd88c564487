// PassRunner: executes passes over a store.
//
// It is the application of a worker's thread, and every call comes from that thread. It has the
// dialogues execute the requests of their turns as one transaction of the store. It makes sure that
// no reply says more than what the commit has made true. It knows no protocol, no socket, and no
// clock except the one for lock waits. Hosts derive from it to prepare their thread.
//
// A pass executes the finds at the front of all turns before its first write, so they need not wait
// for the commit. As long as a pass has writes to commit, it takes turns that arrive meanwhile, so
// that one commit serves them all. Of these it executes no finds: its snapshot is older than they
// are. A pass has a budget, which its turns share: a connection that asks for much goes on in the
// next pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/counters.h"
#include "net/application.h"
#include "passes/dialogue.h"
#include "passes/pass.h"
#include "passes/runner_config.h"
#include "passes/thread_ports.h"
#include "store/store.h"

namespace hs::passes {

class PassRunner : public net::WorkerApplication {
 public:
  // What it executes. If only reads, a connection whose next request writes has to go to another
  // worker: net::Next::write.
  enum class Duty : std::uint8_t { reads, all };

  // Both lists are in the order of the server's ports.
  PassRunner(const RunnerConfig& config, std::unique_ptr<store::Store> store,
             std::span<const MakeProtocol> protocols, std::span<CounterBlock* const> counters,
             Duty duty = Duty::all);

  bool start() override { return true; }
  void stop() override {}
  bool keep_running() override { return true; }
  void idle() override {}

  std::unique_ptr<net::Dialogue> open_dialogue(std::size_t port) final {
    return ports_.open_dialogue(port);
  }
  bool read_first(std::span<net::Turn> turns, Buffer& out) final;
  void execute(std::span<net::Turn> turns, std::size_t first, Buffer& out) final;
  bool takes_more() final;
  void end_pass(std::span<net::Turn> turns, Buffer& out) final;
  void release() final {
    ports_.give_back();
    store_->release();
  }
  void answer_late(net::Turn& turn, Buffer& out) final;

 protected:
  store::Store& store() { return *store_; }

 private:
  // What the pass has to execute of a turn behind its reads. `consumed` and the replies are those
  // of the requests before it.
  struct Rest {
    std::size_t turn;
    std::size_t consumed;
    RequestCounts answered;
    std::size_t reply_begin;
    std::size_t reply_end;
    Runs runs;
  };
  // Everything up to the mark is final. A broken pass is executed again from its mark.
  struct Mark {
    std::size_t turn = 0;
    bool in_turn = false;      // the mark is within that turn, not before it
    std::size_t consumed = 0;  // of that turn's input
    RequestCounts answered{};  // by that turn
    std::size_t out = 0;
  };
  static constexpr std::size_t no_turn = static_cast<std::size_t>(-1);

  void hand_on_writes(std::span<net::Turn> turns);
  bool execute_reads(std::span<net::Turn> turns, Buffer& out);
  bool execute_rests(std::size_t first, std::span<net::Turn> turns, Buffer& out);
  void rewind(Buffer& out);
  void replay(std::span<net::Turn> turns, Buffer& out);
  bool go_on(std::size_t number, std::span<net::Turn> turns, Buffer& out);
  bool execute_turn(std::size_t number, std::span<net::Turn> turns, Buffer& out);
  bool commit_so_far(std::size_t number, std::span<net::Turn> turns, Buffer& out);
  void set_mark(const Buffer& out);
  void set_mark_in(std::size_t number, const net::Turn& turn, const Buffer& out);
  void answer_writes(Status status, std::span<net::Turn> turns, Buffer& out);
  void fail_pass();

  const RunnerConfig& config_;
  const std::unique_ptr<store::Store> store_;
  ThreadPorts ports_;  // may use the store

  Pass pass_;
  bool in_pass_ = false;
  std::size_t pass_bytes_ = 0;  // of its replies, when execute() has returned
  bool joins_help_ = false;     // what joined the pass last has brought a write
  Mark mark_;
  std::vector<Rest> rests_;            // in the order of their turns
  std::size_t failed_turn_ = no_turn;  // its request has thrown, so it is not executed again
  Buffer patched_;
};

}  // namespace hs::passes
