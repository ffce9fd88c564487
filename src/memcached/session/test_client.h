// TestClient: a client of memcached's protocol without a socket, whose server has its tables in memory.
//
// It is for the tests and the fuzzer of this folder. It keeps the input that is not consumed yet, gives
// the connection its turns, alone in each pass, and hands what takes long and log-ins to a streamer's
// runner. A refused log-in is answered without a delay. Another client of the same server has a
// TestClient of its own.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <memory>
#include <string>
#include <string_view>

#include "base/buffer.h"
#include "base/counters.h"
#include "memcached/session/memcached.h"
#include "net/application.h"
#include "passes/pass_runner.h"
#include "passes/stream_runner.h"
#include "store/memory_store.h"

namespace hs::memcached {

// How a client takes what a streamer has for it.
struct TestReading {
  std::size_t most_bytes = ~std::size_t{0};  // it takes so many in each run, and then stalls
  bool others_wait = false;                  // for the streamer
};

// Gives a streamer's bytes on. A client that stalls and may not is gone.
class TestStream final : public net::Stream {
 public:
  explicit TestStream(const TestReading& reading) : reading_(reading) {}
  Sent send(Buffer& out, bool may_stall) override {
    const std::size_t taken = std::min(out.size(), reading_.most_bytes - bytes.size());
    bytes += out.view().substr(0, taken);
    out.drop_front(taken);
    if (out.empty()) return Sent::all;
    if (may_stall) return Sent::stalled;
    out.clear();
    return Sent::ended;
  }
  bool must_give_way() override { return reading_.others_wait; }
  bool must_end() override { return false; }
  std::string bytes;

 private:
  const TestReading& reading_;
};

// A server: its settings, its tables, a worker and a streamer.
struct TestServer {
  explicit TestServer(store::MemoryBounds bounds = {})
      : config(std::make_shared<Config>(log_in, max_request_size, may_flush)),
        bounds_of_store(bounds) {
    passes.lock_wait_timeout = std::chrono::nanoseconds{0};
  }
  // After the settings are made.
  void start() {
    auto of_worker = std::make_unique<store::MemoryStore>(database, store::Access::write, counters,
                                                          bounds_of_store);
    worker_store = of_worker.get();
    worker = std::make_unique<hs::passes::PassRunner>(
        passes, std::move(of_worker), std::array{memcached(config)}, std::array{&counters});
    streamer = std::make_unique<hs::passes::StreamRunner>(
        passes,
        std::make_unique<store::MemoryStore>(database, store::Access::write, counters,
                                             bounds_of_store),
        std::array{memcached(config)}, std::array{&counters});
  }

  hs::passes::LogInConfig log_in;
  Setting<std::size_t> max_request_size = std::size_t{64} << 20;
  Setting<bool> may_flush = false;
  std::shared_ptr<Config> config;
  store::MemoryBounds bounds_of_store;
  hs::passes::RunnerConfig passes;
  TestReading reading;
  store::MemoryDatabase database;
  CounterBlock counters;
  store::MemoryStore* worker_store = nullptr;
  std::unique_ptr<hs::passes::PassRunner> worker;
  std::unique_ptr<hs::passes::StreamRunner> streamer;
};

class TestClient {
 public:
  explicit TestClient(TestServer& server)
      : server_(server), dialogue_(server.worker->open_dialogue(0)) {
    dialogue_->number = 7;
  }

  // The replies to these bytes.
  std::string send(std::string_view bytes) {
    std::string replies;
    if (closed()) return replies;
    input_ += bytes;
    next_ = net::Next::again;
    turns = runs_of_streamer = 0;
    while (next_ == net::Next::again || next_ == net::Next::stream || next_ == net::Next::log_in) {
      ++turns;
      net::Turn turn{.dialogue = dialogue_.get(),
                     .input = input_,
                     .scanned = scanned_,
                     .oversized = input_.size() > server_.max_request_size.get()};
      if (next_ == net::Next::again) {
        hs::passes::PassRunner& worker = *server_.worker;
        if (worker.read_first({&turn, 1}, out_)) worker.execute({&turn, 1}, 0, out_);
        worker.end_pass({&turn, 1}, out_);
        worker.release();
        replies += out_.view(turn.reply_begin, turn.reply_end);
      } else {
        const net::Endpoint endpoint{.is_loopback = true};
        const bool logs_in = next_ == net::Next::log_in;
        if (logs_in) turn.endpoint = &endpoint;
        TestStream stream(server_.reading);
        ++runs_of_streamer;
        if (late_behind_part && runs_of_streamer == 2) {
          server_.streamer->answer_late(turn, out_);
        } else {
          server_.streamer->run_stream(turn, out_, stream);
        }
        replies += stream.bytes;
        replies += out_.view();
        if (logs_in) input_.replace(turn.secret_begin, turn.secret_size, turn.secret_size, '\0');
        if (logs_in) turn.next = net::Next::again;
      }
      out_.clear();
      input_.erase(0, turn.consumed);
      next_ = turn.next;
      scanned_ = next_ == net::Next::wait ? input_.size() : 0;
      if (turns > most_turns) return "no progress";
    }
    return replies;
  }
  bool closed() const { return next_ == net::Next::close; }
  net::Next next() const { return next_; }
  std::size_t left() const { return input_.size(); }
  net::Dialogue& dialogue() { return *dialogue_; }
  int turns = 0;
  int runs_of_streamer = 0;
  // What comes back for its second run has waited too long for it.
  bool late_behind_part = false;

 private:
  static constexpr int most_turns = 100'000;

  TestServer& server_;
  std::unique_ptr<net::Dialogue> dialogue_;
  net::Next next_ = net::Next::wait;
  std::string input_;
  std::size_t scanned_ = 0;
  Buffer out_;
};

}  // namespace hs::memcached
