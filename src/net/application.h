// Application: what net/ asks of the layer above it.
//
// net/ moves bytes and knows no protocol. A worker's application turns the bytes that all ready
// connections hold into replies, a whole pass at a time. A streamer's executes one request at a
// time. Each thread has one object, and every call comes from that thread, so nothing here needs a
// lock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>

#include "base/buffer.h"
#include "base/latency.h"

namespace hs::net {

class PeerAddress;

// Why net/ answers a client itself.
enum class Refusal : std::uint8_t {
  no_room,    // the waiting bytes take too much memory for its request
  needs_tls,  // it has to speak TLS
  foreign,    // it speaks another protocol
};

// The application's state of one connection, and what its protocol knows of bytes. It may be used on
// another thread (a streamer's, for a long find) when its turn is over.
class Dialogue {
 public:
  virtual ~Dialogue() = default;

  // As whom the client acts, for whoever looks at the connections; empty: as nobody. Valid until a
  // turn of the dialogue.
  virtual std::string_view user() const { return {}; }

  // How many bytes at the front of the connection's input are whole requests.
  virtual std::size_t whole_requests(std::string_view input) const = 0;
  // The name of the protocol that a client speaks whose first bytes are these, if it is another one
  // than the dialogue's, and the client would wait for an answer in it. Empty: nothing shows that.
  // Asked only until the connection's first request has been executed.
  virtual std::string_view foreign_protocol(std::string_view /*begin*/) const { return {}; }
  // Appends the reply to a request that is not executed. The connection is closed after it.
  virtual void refuse(Refusal why, Buffer& out) const = 0;
  // Another thread's application gets the connection for good: forgets what belongs to this one's.
  // Called on its old thread, between two turns.
  virtual void depart() {}

  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max() / 2;
  // At most so many bytes are kept for the connection, counted separately for an incomplete request
  // and for unsent replies. The server has a limit of its own, too.
  std::size_t most_waiting = no_limit;

  // The number of the connection, as everybody knows it who looks at the connections. Set by net/ when
  // the dialogue is opened; 0 in tests.
  std::uint64_t number = 0;
};

// What net/ does with a connection after its turn.
enum class Next : std::uint8_t {
  wait,   // for more bytes; the rest of the input is an incomplete request
  again,  // the pass was full: complete requests remain, give it a turn in the next pass
  retry,  // its next request is blocked: give it a turn again after a short delay
  // blocked for some time: as `retry`, but a waiter waits for the lock if there is room for one
  queue,
  // its next request needs a waiter, which waits for the lock; until there is room for one, its turns
  // only check the time
  in_line,
  // its next request takes long, or is the rest of a long find: hand the connection to a streamer
  stream,
  log_in,  // its next request is a log-in: hand the connection to a log-in thread
  remote,  // its next request has to ask another server: hand the connection to a remote thread
  // its next request writes, and this worker's crew only reads: give the connection to a worker of the
  // crew that executes the writes of its port
  write,
  close,  // once the replies are sent
};

// Where a client is, for its log-in.
struct Endpoint {
  int socket = -1;
  bool is_unix_socket = false;
  bool is_loopback = false;  // of a TCP client
  void* tls = nullptr;       // the TLS library's session; null: plain bytes
};

// One ready connection in a pass. net/ fills the first members up to `peer_done`, the
// application fills the others.
struct Turn {
  Dialogue* dialogue = nullptr;
  std::size_t port = 0;    // of the server, through which the client has come
  std::string_view input;  // bytes received and not yet consumed; stays valid for the pass
  std::uint64_t blocked_since =
      0;  // when it first said `retry`, ns of the monotonic clock; 0: it did not
  // so many bytes at the front hold no complete request, as an earlier turn has found
  std::size_t scanned = 0;
  // what that turn has noted about the incomplete request at the front; 0: nothing
  std::uint64_t noted = 0;
  bool oversized = false;        // the input is larger than what may be kept and still has no LF
  bool in_line = false;          // it said `in_line` in its last turn
  bool peer_done = false;        // the client has shut down its side, or is gone
  std::uint64_t arrived_at = 0;  // when its input was found to have come, like blocked_since
  // When the time of its first request is over, like blocked_since; 0: it has no end. As an earlier
  // turn has said; the application says it anew with each `next` that hands the request to others.
  std::uint64_t deadline = 0;
  const Endpoint* endpoint = nullptr;  // only on a log-in thread
  // what takes it may wait for other servers; also if it is answered as late
  bool on_remote_thread = false;
  std::uint64_t connection = 0;       // only on a streamer: whose turn it is
  const PeerAddress* peer = nullptr;  // null in tests
  std::size_t consumed = 0;
  RequestCounts answered{};     // the requests that it has answered
  std::size_t reply_begin = 0;  // its replies are out[reply_begin, reply_end)
  std::size_t reply_end = 0;
  Next next = Next::wait;
  // For the turn that comes behind `wait`: whatever says how far the incomplete request was read.
  std::uint64_t note = 0;
  bool put_off = false;  // read_first() has left requests to execute()
  // The request that it has come to is done in part, and goes on from there in the next turn. Nothing of
  // its reply may be there yet.
  bool has_part = false;
  // So many bytes of `input`, from `secret_begin` on, are a secret. Whoever owns the memory that
  // `input` points to writes over them when it is done.
  std::size_t secret_begin = 0;
  std::size_t secret_size = 0;

  // The pass was full before its first request.
  bool was_left_out() const {
    return next == Next::again && consumed == 0 && reply_begin == reply_end && !has_part;
  }
};

// Where a streamer's replies go.
class Stream {
 public:
  enum class Sent : std::uint8_t {
    all,      // `out` is empty
    stalled,  // the client does not read, or others wait for this streamer: `out` holds the rest
    // the client is gone or too slow, the thread has to leave, KILL has ended the find, or somebody
    // has asked that the connection is closed
    ended,
  };
  // Sends from the front of `out` and removes what the client takes. If `may_stall`, waits for the
  // client only for a moment. Otherwise waits as long as ServerConfig::stream_patience says; all
  // waits of one find count together. If `out` is empty, sends nothing, but its answer is as valid.
  virtual Sent send(Buffer& out, bool may_stall) = 0;
  // Whether the find has had its share of this streamer and others wait for it: a find that can be
  // parked is to be.
  virtual bool must_give_way() = 0;
  // For a find that has nothing to send for long: whether nobody waits for its reply any more,
  // because somebody has closed the connection or the server stops. If so, send() answers `ended`.
  virtual bool must_end() = 0;
  // For how long send() has waited for the client so far. Nobody worked on the request meanwhile.
  virtual std::chrono::nanoseconds waited() const { return {}; }

 protected:
  ~Stream() = default;
};

// What an application tells about itself. Whoever asks knows what kind of application it is.
class Report {
 public:
  virtual ~Report() = default;
};

// Of any thread that serves connections.
class Application {
 public:
  virtual ~Application() = default;

  // The first and the last call on the thread. If start() returns false, the thread cannot serve.
  virtual bool start() = 0;
  virtual void stop() = 0;

  // Called between passes, at least once a tick. False asks the thread to leave its loop because
  // the host is shutting down. A streamer also asks while it sends.
  virtual bool keep_running() = 0;
  // The thread is about to sleep.
  virtual void idle() = 0;

  // The first request of `turn.input` has waited too long for a remote thread, or its deadline has
  // come while it waited for a streamer or a remote thread: appends the reply to it, and does not
  // execute it. Sets `consumed` and `next`. A request that has no need of such a thread is left to the
  // next pass. Called on a worker, between two passes, and on remote threads. If it throws, the
  // connection is closed.
  virtual void answer_late(Turn& turn, Buffer& out) = 0;
};

// Of a worker.
class WorkerApplication : public Application {
 public:
  // For Server::ask_applications(), which asks workers between two passes. Null: nothing to tell.
  virtual std::unique_ptr<Report> report() { return nullptr; }

  // For a connection of the port, in the port's protocol. The numbers are those of the server's ports.
  virtual std::unique_ptr<Dialogue> open_dialogue(std::size_t port) = 0;

  // A pass:  read_first (execute (takes_more execute)*)? end_pass release
  // If one of them throws, for lack of memory for example, the pass is over, and the application
  // keeps nothing of it. Nobody can then say which of its requests were executed, so their
  // connections are closed.
  //
  // Begins a pass. Executes the complete requests of each turn in order, up to the first one that
  // must not be answered before the pass ends: a write. A turn that has such a request is put off.
  // The others are over: their replies in `out` and their `next` are final. Returns whether any
  // turn was put off.
  virtual bool read_first(std::span<Turn> turns, Buffer& out) = 0;
  // Executes what is left of the turns that were put off, and appends their replies to `out`.
  // `turns` is the whole pass so far, and those from `first` on have come since the last call. Of
  // what is executed here nothing is sent before end_pass(). The turns that are over are not
  // touched, and what they point to may be gone.
  virtual void execute(std::span<Turn> turns, std::size_t first, Buffer& out) = 0;
  // Whether turns that are ready by now should join this pass instead of waiting for the next. They
  // should if ending the pass is expensive (a commit) and there is room.
  virtual bool takes_more() = 0;
  // `turns` are all turns of the pass. May change the replies and `next` of those that were put
  // off; after it they are final.
  virtual void end_pass(std::span<Turn> turns, Buffer& out) = 0;
  // The replies have been sent: gives back what the pass still holds.
  virtual void release() = 0;
};

// Of a streamer, and of whatever is a streamer with a queue of its own: a log-in thread, a waiter, a
// remote thread.
class StreamerApplication : public Application {
 public:
  // Whether somebody has killed (KILL) what the thread is doing. Asked while it sends.
  virtual bool killed() { return false; }

  // Executes the first request of `turn.input` alone: a long find, whose reply is sent as it grows, or
  // a write that takes long or waits for a lock. Sets `consumed` and `next`. What it leaves in `out`
  // is sent too. `Next::stream` parks the find: run_stream() is called again, on any streamer, when
  // the client has taken all of `out`. If it throws, nothing of the find is left in the application,
  // and the connection is closed. On a log-in thread the request is a log-in; on a remote thread any.
  virtual void run_stream(Turn& turn, Buffer& out, Stream& stream) = 0;
};

}  // namespace hs::net
