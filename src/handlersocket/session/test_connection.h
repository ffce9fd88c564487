// TestConnection: handles one connection as net/ would, without a socket.
//
// It is for the tests and the fuzzer of this folder. It keeps the input that is not consumed yet,
// gives the connection its turns, alone in each pass, and hands long finds and log-ins to a
// streamer's runner. Its client stalls at every second piece of a long find. A refused log-in is
// answered without a delay, if the runners' configuration has none.
#pragma once

#include <array>
#include <cassert>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/buffer.h"
#include "handlersocket/session/handlersocket.h"
#include "net/application.h"
#include "passes/pass_runner.h"
#include "passes/stream_runner.h"
#include "passes/waiting.h"

namespace hs::handlersocket {

inline const std::string open_t = "P\t1\thst\tt\t\tid,a,b\n";

// Collects what a streamer sends. A test can make it fail and stall.
class TestStream final : public net::Stream {
 public:
  Sent send(Buffer& out, bool may_stall) override {
    if (sends_left == 0) return Sent::ended;
    --sends_left;
    ++sends;
    const bool stalls = may_stall && stalls_at != 0 && sends % stalls_at == 0;
    const std::size_t taken = stalls ? out.size() / 2 : out.size();
    bytes += out.view(0, taken);
    out.drop_front(taken);
    return stalls ? Sent::stalled : Sent::all;
  }
  bool must_give_way() override { return false; }
  bool must_end() override { return sends_left == 0; }
  // All bytes, with those that run_stream() has left in `out`.
  std::string all(Buffer& out) {
    bytes += out.view();
    out.clear();
    return bytes;
  }
  std::string bytes;
  int sends = 0;
  int sends_left = 1'000'000;
  int stalls_at = 0;  // every `stalls_at`-th send stalls; 0: none does
};

// The runners of a worker and of a streamer that speak HandlerSocket.
struct PassRunner final : passes::PassRunner {
  PassRunner(const RunnerConfig& config, std::unique_ptr<store::Store> store,
             CounterBlock& counters)
      : passes::PassRunner(config, std::move(store), std::array{handlersocket(config)},
                           std::array{&counters}) {}
};
struct StreamRunner final : passes::StreamRunner {
  StreamRunner(const RunnerConfig& config, std::unique_ptr<store::Store> store,
               CounterBlock& counters)
      : passes::StreamRunner(config, std::move(store), std::array{handlersocket(config)},
                             std::array{&counters}) {}
};

// One pass of these turns and no others.
inline void run_pass(PassRunner& runner, std::span<net::Turn> turns, Buffer& out) {
  if (runner.read_first(turns, out)) runner.execute(turns, 0, out);
  runner.end_pass(turns, out);
  runner.release();
}

class TestConnection {
 public:
  TestConnection(PassRunner& worker, StreamRunner& streamer)
      : worker_(worker), streamer_(streamer), dialogue_(worker.open_dialogue(0)) {
    stream_.stalls_at = 2;
  }

  // Returns the replies to `bytes`. Stops early if the connection is closed or blocked.
  std::string send(std::string_view bytes) {
    std::string replies;
    if (closed()) return replies;
    input_ += bytes;
    next_ = net::Next::again;
    while (next_ == net::Next::again || next_ == net::Next::stream || next_ == net::Next::log_in) {
      turn_ = {.dialogue = dialogue_.get(),
               .input = input_,
               .scanned = scanned_,
               .noted = noted_,
               .oversized = oversized(),
               .arrived_at = passes::monotonic_now()};
      if (next_ == net::Next::log_in) {
        log_in();
        next_ = net::Next::again;
        continue;
      }
      if (next_ == net::Next::stream) {
        stream_.bytes.clear();
        streamer_.run_stream(turn_, out_, stream_);
        replies += stream_.all(out_);
      } else {
        run_pass(worker_, {&turn_, 1}, out_);
        replies += out_.view(turn_.reply_begin, turn_.reply_end);
      }
      out_.clear();
      // If a request makes no progress, only a streamer may go on with it. Anything else would loop
      // for ever.
      const bool parked = next_ == net::Next::stream && !stream_.bytes.empty();
      if (turn_.consumed == 0 && turn_.next == next_ && !parked) return "no progress";
      input_.erase(0, turn_.consumed);
      next_ = turn_.next;
      scanned_ = next_ == net::Next::wait ? input_.size() : 0;
      noted_ = next_ == net::Next::wait ? turn_.note : 0;
    }
    return replies;
  }

  bool closed() const { return next_ == net::Next::close; }
  net::Next next() const { return next_; }
  // What is left of the input.
  std::string_view input() const { return input_; }
  net::Dialogue* dialogue() const { return dialogue_.get(); }
  std::size_t max_request_size = std::size_t{64} << 20;
  bool is_loopback = true;

 private:
  // Executes the log-in that is its next request, and forgets the password.
  void log_in() {
    const net::Endpoint endpoint{.is_loopback = is_loopback};
    turn_.endpoint = &endpoint;
    streamer_.run_stream(turn_, out_, stream_);
    turn_.endpoint = nullptr;
    assert(turn_.consumed == 0 && out_.empty());
    input_.replace(turn_.secret_begin, turn_.secret_size, turn_.secret_size, '\0');
  }

  bool oversized() const {
    return input_.size() > max_request_size && input_.find('\n') == std::string::npos;
  }

  PassRunner& worker_;
  StreamRunner& streamer_;
  std::unique_ptr<net::Dialogue> dialogue_;
  net::Turn turn_;
  TestStream stream_;
  net::Next next_ = net::Next::wait;
  std::string input_;
  std::size_t scanned_ = 0;
  std::uint64_t noted_ = 0;
  Buffer out_;
};

}  // namespace hs::handlersocket
