// TestConnection: one connection as net/ would handle it, without a socket.
//
// For the tests and the fuzzer of this folder: keeps the input that is not yet
// consumed, gives the connection its turns, alone in each pass, and hands long
// finds to a streamer's runner.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/buffer.h"
#include "net/application.h"
#include "session/pass_runner.h"

namespace hs::session {

// Collects what a streamer sends; can be made to fail.
class TestStream final : public net::Stream {
 public:
  bool send(Buffer& out) override {
    if (sends_left == 0) return false;
    --sends_left;
    ++sends;
    bytes += out.view();
    out.clear();
    return true;
  }
  std::string bytes;
  int sends = 0;
  int sends_left = 1'000'000;
};

// One pass of these turns and no others.
inline void run_pass(PassRunner& runner, std::span<net::Turn> turns, Buffer& out) {
  runner.execute(turns, 0, out);
  runner.end_pass(turns, out);
  runner.release();
}

class TestConnection {
 public:
  TestConnection(PassRunner& worker, PassRunner& streamer)
      : worker_(worker), streamer_(streamer), dialogue_(worker.open_dialogue()) {}

  // What `bytes` make the connection answer. Stops early if it is closed or blocked.
  std::string send(std::string_view bytes) {
    std::string replies;
    if (closed()) return replies;
    input_ += bytes;
    next_ = net::Next::again;
    while (next_ == net::Next::again || next_ == net::Next::stream) {
      turn_ = {.dialogue = dialogue_.get(),
               .input = input_,
               .scanned = scanned_,
               .oversized = oversized()};
      if (next_ == net::Next::stream) {
        TestStream stream;
        streamer_.run_stream(turn_, out_, stream);
        replies += stream.bytes;
      } else {
        run_pass(worker_, {&turn_, 1}, out_);
        replies += out_.view(turn_.reply_begin, turn_.reply_end);
      }
      out_.clear();
      // Without progress only a streamer can go on: anything else would go round for ever.
      if (turn_.consumed == 0 && turn_.next == next_) return "no progress";
      input_.erase(0, turn_.consumed);
      next_ = turn_.next;
      scanned_ = next_ == net::Next::wait ? input_.size() : 0;
    }
    return replies;
  }

  bool closed() const { return next_ == net::Next::close; }
  net::Next next() const { return next_; }
  net::Dialogue* dialogue() const { return dialogue_.get(); }
  std::size_t max_request_size = std::size_t{64} << 20;

 private:
  bool oversized() const {
    return input_.size() > max_request_size && input_.find('\n') == std::string::npos;
  }

  PassRunner& worker_;
  PassRunner& streamer_;
  std::unique_ptr<net::Dialogue> dialogue_;
  net::Turn turn_;
  net::Next next_ = net::Next::wait;
  std::string input_;
  std::size_t scanned_ = 0;
  Buffer out_;
};

}  // namespace hs::session
