// Application: what net/ asks of the layer above it.
//
// net/ moves bytes and knows no protocol; the application turns the bytes that
// all ready connections hold into replies, a whole pass at a time. One object a
// worker thread; every call comes from that thread, so nothing here locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/buffer.h"

namespace hs::net {

// The application's state of one connection. It may move to another worker
// between passes (a long find does), never during one.
class Dialogue {
 public:
  virtual ~Dialogue() = default;
};

// What is to become of a connection after its turn.
enum class Next : std::uint8_t {
  wait,    // for more bytes; the rest of the input is an incomplete request
  again,   // the pass was full: complete requests remain, give it a turn in the next pass
  retry,   // its next request is blocked: give it a turn again after a short delay
  stream,  // its next request is a long find: hand the connection to a streamer
  close,   // once the replies are sent
};

// One ready connection in a pass: first five in, the rest out.
struct Turn {
  Dialogue* dialogue = nullptr;
  std::string_view input;  // bytes received and not yet consumed; stays valid for the pass
  std::uint64_t blocked_since =
      0;                    // when it first said `retry`, ns of the monotonic clock; 0: it did not
  std::size_t scanned = 0;  // so many first bytes are known to hold no full request
  bool oversized = false;   // the input is over the largest request and still has no LF
  std::size_t consumed = 0;
  std::size_t reply_begin = 0;  // its replies are out[reply_begin, reply_end)
  std::size_t reply_end = 0;
  Next next = Next::wait;
};

// Where a streamer's replies go. Blocks (bounded by the idle time-out) while
// the client does not read.
class Stream {
 public:
  // Sends and clears `out`; false when the client is gone or too slow, or the
  // thread has to leave. Sends nothing if `out` is empty, but answers all the same.
  virtual bool send(Buffer& out) = 0;

 protected:
  ~Stream() = default;
};

class Application {
 public:
  virtual ~Application() = default;

  // First and last call on the worker's thread. False from start(): the worker cannot serve.
  virtual bool start() = 0;
  virtual void stop() = 0;

  // Between passes, at least every tick: false asks the worker to leave its
  // loop (the host is shutting down). A streamer also asks while it sends.
  virtual bool keep_running() = 0;
  // The worker is about to sleep.
  virtual void idle() = 0;

  virtual std::unique_ptr<Dialogue> open_dialogue() = 0;

  // A pass:  execute (takes_more execute)* end_pass release
  //
  // Executes the complete requests of `turns` in order, their replies appended to
  // `out`. `turns` is the whole pass so far; those before `first` have been
  // executed, and 0 begins a pass. Nothing is sent before end_pass().
  virtual void execute(std::span<Turn> turns, std::size_t first, Buffer& out) = 0;
  // Whether turns that are ready by now had better join this pass than wait for
  // the next: its end is dear (a commit), and there is room.
  virtual bool takes_more() = 0;
  // `turns` are all of the pass: may change replies, and says what becomes of each.
  virtual void end_pass(std::span<Turn> turns, Buffer& out) = 0;
  // The replies are on their way: gives back what the pass still holds.
  virtual void release() = 0;

  // Executes the first request of `turn.input` as a long find, its reply sent
  // as it grows. Called on a streamer thread's own application object. Sets
  // consumed and next; what it leaves in `out` is sent too.
  virtual void run_stream(Turn& turn, Buffer& out, Stream& stream) = 0;
};

}  // namespace hs::net
