// Runner: executes passes and long finds over a store.
//
// It is the application that net/ asks for. Each worker or streamer thread has one object, and
// every call comes from that thread. It has the dialogues execute the requests of their turns as one
// transaction of the store. It makes sure that no reply says more than what the commit has made
// true. It knows no protocol, no socket, and no clock except the one for lock waits. Hosts derive
// from it to prepare their thread.
//
// A pass executes the finds at the front of all turns before its first write, so they need not wait
// for the commit. As long as a pass has writes to commit, it takes turns that arrive meanwhile, so
// that one commit serves them all. Of these it executes no finds: its snapshot is older than they
// are. A pass has a budget, which its turns share: a connection that asks for much goes on in the
// next pass.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/counters.h"
#include "base/setting.h"
#include "net/application.h"
#include "passes/dialogue.h"
#include "store/store.h"

namespace hs::passes {

// What there is to say about a request that took long. The views are valid only during the call.
struct LongRequest {
  std::uint64_t connection;
  const net::PeerAddress* peer;  // null in tests
  std::string_view account;      // empty: it is no account of the server
  std::string_view kind;
  store::IndexNames names;
  std::uint64_t rows_examined;
  std::chrono::nanoseconds time;
};

// Outlives the runners.
struct RunnerConfig {
  Setting<std::chrono::nanoseconds> lock_wait_timeout{std::chrono::seconds{50}};
  // A long request that has been worked on for so long is ended. 0: none is.
  Setting<std::chrono::nanoseconds> max_request_time{std::chrono::nanoseconds{0}};
  // Who is told of each request that has been worked on for so long. 0: of none. Any streamer's
  // thread may call it.
  Setting<std::chrono::nanoseconds> long_request_time{std::chrono::nanoseconds{0}};
  std::function<void(const LongRequest&)> note_long_request{};
  // A pass is full when it has written so many bytes or spent so many steps (store/budget.h). Each
  // request costs one step in addition.
  std::size_t max_pass_bytes = std::size_t{1} << 20;
  std::uint64_t max_pass_steps = 20'000;
};

class Runner : public net::Application {
 public:
  // Makes the protocol of a port for the runner's thread. The counters are the thread's for the port.
  using MakeProtocol =
      std::function<std::unique_ptr<Protocol>(store::Store& store, CounterBlock& counters)>;
  // Both lists are in the order of the server's ports. What belongs to no port is counted with the
  // first.
  Runner(const RunnerConfig& config, std::unique_ptr<store::Store> store,
         std::span<const MakeProtocol> protocols, std::span<CounterBlock* const> counters);

  bool start() override { return true; }
  void stop() override {}
  bool keep_running() override { return true; }
  void idle() override {}

  std::unique_ptr<net::Dialogue> open_dialogue(std::size_t port) final {
    return ports_[port].protocol->open_dialogue();
  }
  std::string_view foreign_protocol(std::size_t port, std::string_view begin) const final {
    return ports_[port].protocol->foreign_protocol(begin);
  }
  std::size_t whole_requests(std::size_t port, std::string_view input) const final {
    return ports_[port].protocol->whole_requests(input);
  }
  bool read_first(std::span<net::Turn> turns, Buffer& out) final;
  void execute(std::span<net::Turn> turns, std::size_t first, Buffer& out) final;
  bool takes_more() final;
  void end_pass(std::span<net::Turn> turns, Buffer& out) final;
  void release() final {
    for (const Port& port : ports_) port.protocol->give_back();
    store_->release();
  }
  void refuse(std::size_t port, net::Refusal why, Buffer& out) final;
  void run_stream(net::Turn& turn, Buffer& out, net::Stream& stream) final;
  void answer_late(net::Turn& turn, Buffer& out) final;

 protected:
  store::Store& store() { return *store_; }

 private:
  friend class Requests;

  using Tally = std::array<std::uint32_t, counter_count>;

  // A port of the server, as this thread serves it.
  struct Port {
    std::unique_ptr<Protocol> protocol;  // may use the store
    CounterBlock* counters;
    Tally tally{};  // the counts of the present pass; see tally()
    Tally tally_at_mark{};
  };

  // A reply that is true only if the commit succeeds: of a write, or of a request behind a write.
  struct WriteReply {
    std::size_t turn;
    std::size_t begin;
    std::size_t end;
    bool ok;
  };
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
    std::size_t moved_bytes = 0;
    std::size_t requests = 0;
    std::uint64_t spent = 0;
  };
  static constexpr std::size_t no_turn = static_cast<std::size_t>(-1);

  void begin_pass(store::PassMode mode);
  void begin_share(std::size_t turns_left);
  bool is_full(const Buffer& out) const;
  std::size_t bytes_of_pass(const Buffer& out) const;
  bool execute_reads(std::span<net::Turn> turns, Buffer& out);
  bool execute_rests(std::size_t first, std::span<net::Turn> turns, Buffer& out);
  void rewind(Buffer& out);
  void replay(std::span<net::Turn> turns, Buffer& out);
  bool go_on(std::size_t number, std::span<net::Turn> turns, Buffer& out);
  bool execute_turn(std::size_t number, std::span<net::Turn> turns, Buffer& out);
  void keep_changes();
  void set_mark(const Buffer& out);
  void set_mark_in(std::size_t number, const net::Turn& turn, const Buffer& out);
  void answer_writes(Status status, std::span<net::Turn> turns, Buffer& out);

  FirstRequest begin_alone(net::Turn& turn);
  void run_find(net::Turn& turn, const FirstRequest& request, Buffer& out, net::Stream& stream);
  void run_write(net::Turn& turn, const FirstRequest& request, Buffer& out);
  void run_open(net::Turn& turn, const FirstRequest& request);
  void hand_on(net::Turn& turn, Buffer& out);
  template <class Execute>
  store::Outcome run_pass(store::PassMode mode, Execute execute);
  store::Outcome run_alone(store::PassMode mode, net::Turn& turn, const FirstRequest& request,
                           Alone& alone);
  store::Outcome open_for_stream(const FirstRequest& request, store::IndexUse& use);
  void end_request(net::Turn& turn, std::size_t consumed, bool goes_on);
  void note_time(const net::Turn& turn, const FirstRequest& request,
                 std::chrono::nanoseconds worked, std::uint64_t rows) const;

  // What follows is about this turn: protocol() is that of its port, and tally() counts for it.
  void attend(const net::Turn& turn) { port_ = &ports_[turn.port]; }
  Protocol& protocol() const { return *port_->protocol; }
  // The counts of the present pass. They are kept apart, so that nothing is counted twice if it is
  // executed again.
  void tally(Counter counter, std::uint32_t count = 1) {
    port_->tally[static_cast<std::size_t>(counter)] += count;
  }
  void tally_pass(Counter counter) { ++ports_.front().tally[static_cast<std::size_t>(counter)]; }
  void begin_tally();
  void count();
  void note_answered(net::Turn& turn, Counter counter);

  const RunnerConfig& config_;
  const std::unique_ptr<store::Store> store_;
  std::vector<Port> ports_;
  Port* port_;  // that of the present turn

  store::PassMode mode_ = store::PassMode::together;
  bool in_pass_ = false;
  std::size_t pass_begin_ = 0;   // its place in `out`
  std::size_t pass_bytes_ = 0;   // of its replies, when execute() has returned
  std::size_t moved_bytes_ = 0;  // of its replies, which are in `out` twice
  bool joins_help_ = false;      // what joined the pass last has brought a write
  std::size_t request_begin_ = 0;
  std::size_t requests_ = 0;
  Runs runs_ = Runs::all;
  std::size_t most_bytes_ = 0;
  store::Budget budget_;
  // when so many steps are spent, the present turn has had its share
  std::uint64_t share_ends_at_ = 0;
  Mark mark_;
  std::vector<Rest> rests_;            // in the order of their turns
  std::size_t failed_turn_ = no_turn;  // its request has thrown, so it is not executed again
  std::vector<WriteReply> writes_;
  Buffer patched_;

  // Only for a streamer: the indexes that are open on its own store, by their names. All callers
  // share them.
  std::map<std::string, std::shared_ptr<store::Index>, std::less<>> opened_;
};

}  // namespace hs::passes
