// ByteFilter: what stands between the socket of a connection and its dialogue, TLS for example.
//
// Its connection owns it. The thread that has the connection calls it: the worker, a streamer for
// send(), or a handshaker for shake_hands(). So no two threads use it at a time. It reads and writes
// the socket itself, and never waits for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace hs::net {

// How a read or a send ended.
struct Transfer {
  enum class Result : std::uint8_t {
    done,
    would_block,
    wants_output,  // of a filter: it cannot read on before the socket takes what it has to send
    failed,
  };
  Result result = Result::done;
  std::size_t bytes = 0;  // `done` with 0 bytes read means end of file
  // Of a read: there was no more. If there comes more, that is an event.
  bool emptied = false;
  // Of a read by a filter: behind these bytes the peer has said that no more come.
  bool ended = false;
};

class ByteFilter {
 public:
  virtual ~ByteFilter() = default;

  enum class Progress : std::uint8_t {
    done,
    wants_input,
    wants_output,
    failed,
    unavailable,  // this side has nothing to shake hands with, a certificate for example
  };
  // Goes on with the handshake as far as the bytes reach that have come. May take milliseconds of
  // CPU time, so it has a thread of its own. Called until it has answered `done`, `failed` or
  // `unavailable`; before the last nothing was sent.
  virtual Progress shake_hands() = 0;

  // After the handshake. One call reads and writes a bounded number of bytes of the socket.
  virtual Transfer receive(std::span<char> room) = 0;
  // Copies what receive() would read, or the beginning of it, and leaves it where it is.
  virtual std::size_t peek(std::span<char> room) = 0;
  // If it answers `would_block`, the same bytes have to come first in the next call.
  virtual Transfer send(std::string_view bytes) = 0;
  // The last call, at any time: says that nothing more comes, if the socket has room for that.
  virtual void say_farewell() = 0;

  // How much it takes of the budget for what waits, in bytes; always the same.
  virtual std::size_t memory() const = 0;
  // After the handshake: what is spoken, "TLSv1.3" for example. Valid for ever.
  virtual const char* protocol() const = 0;
  // The same: the TLS library's session, for a log-in. Null: this is no TLS.
  virtual void* session() { return nullptr; }
};

// Makes the filter for a connection whose client has begun a handshake; on the worker's thread.
// `begin` are the bytes that have been read from the socket already. May throw bad_alloc.
using FilterFactory =
    std::function<std::unique_ptr<ByteFilter>(int socket, std::string_view begin)>;

}  // namespace hs::net
