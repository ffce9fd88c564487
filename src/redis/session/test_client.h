// TestClient: a client of Redis's protocol without a socket, whose server has its tables in memory.
//
// It is for the tests and the fuzzer of this folder. It keeps the input that is not consumed yet, gives
// the connection its turns, alone in each pass, and hands what takes long and log-ins to a streamer's
// runner. A refused log-in is answered without a delay. Another client of the same server has a
// TestClient of its own.
#pragma once

#include <array>
#include <cassert>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/buffer.h"
#include "base/counters.h"
#include "net/application.h"
#include "passes/pass_runner.h"
#include "passes/stream_runner.h"
#include "redis/session/redis.h"
#include "store/memory_store.h"

namespace hs::redis {

// Gives a streamer's bytes on.
class TestStream final : public net::Stream {
 public:
  Sent send(Buffer& out, bool /*may_stall*/) override {
    bytes += out.view();
    out.clear();
    return Sent::all;
  }
  bool must_give_way() override { return false; }
  bool must_end() override { return false; }
  std::string bytes;
};

// A server: its settings, its tables, a worker and a streamer.
struct TestServer {
  explicit TestServer(store::MemoryBounds bounds = {})
      : config(std::make_shared<Config>(log_in, max_request_size)), bounds_of_store(bounds) {
    passes.lock_wait_timeout = std::chrono::nanoseconds{0};
  }
  // After the settings are made.
  void start() {
    auto of_worker = std::make_unique<store::MemoryStore>(database, store::Access::write, counters,
                                                          bounds_of_store);
    worker_store = of_worker.get();
    worker = std::make_unique<hs::passes::PassRunner>(
        passes, std::move(of_worker), std::array{redis(config)}, std::array{&counters});
    streamer = std::make_unique<hs::passes::StreamRunner>(
        passes,
        std::make_unique<store::MemoryStore>(database, store::Access::write, counters,
                                             bounds_of_store),
        std::array{redis(config)}, std::array{&counters});
  }

  hs::passes::LogInConfig log_in;
  Setting<std::size_t> max_request_size = std::size_t{64} << 20;
  std::shared_ptr<Config> config;
  store::MemoryBounds bounds_of_store;
  hs::passes::RunnerConfig passes;
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
    turns = turns_left_out = 0;
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
        if (turn.was_left_out()) ++turns_left_out;
      } else {
        const net::Endpoint endpoint{.is_loopback = true};
        const bool logs_in = next_ == net::Next::log_in;
        if (logs_in) turn.endpoint = &endpoint;
        TestStream stream;
        server_.streamer->run_stream(turn, out_, stream);
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
  std::string send(std::initializer_list<std::string_view> words) { return send(packed(words)); }

  static std::string packed(std::initializer_list<std::string_view> words) {
    return packed(std::span(words.begin(), words.size()));
  }
  static std::string packed(std::span<const std::string_view> words) {
    std::string request = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string_view word : words)
      request += "$" + std::to_string(word.size()) + "\r\n" + std::string(word) + "\r\n";
    return request;
  }

  bool closed() const { return next_ == net::Next::close; }
  net::Next next() const { return next_; }
  std::size_t left() const { return input_.size(); }
  net::Dialogue& dialogue() { return *dialogue_; }
  int turns = 0;           // that the last bytes took
  int turns_left_out = 0;  // those of them that would come first in the next pass

 private:
  static constexpr int most_turns = 100'000;

  TestServer& server_;
  std::unique_ptr<net::Dialogue> dialogue_;
  net::Next next_ = net::Next::wait;
  std::string input_;
  std::size_t scanned_ = 0;
  Buffer out_;
};

}  // namespace hs::redis
