// Connection: one client's socket and what net/ remembers of it between passes.
//
// Owned by its worker for life; only the worker's thread touches it, except
// while a streamer carries a long find for it (State::streaming): then the
// members marked [streamer] are the streamer's. An idle connection holds no
// buffer, just this object and the application's Dialogue. All bytes go through
// receive() and send(), the one place where a byte filter such as TLS would sit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string_view>

#include "base/buffer.h"
#include "net/application.h"
#include "net/descriptor.h"

namespace hs::net {

class Inbox;

// What an event of a worker's epoll set is about; the event carries its address.
struct Source {
  enum class Kind : std::uint8_t { listener, inbox, connection };
  explicit Source(Kind kind_of_source) : kind(kind_of_source) {}
  const Kind kind;
};

// How a read or a send of a socket ended.
struct Transfer {
  enum class Result : std::uint8_t { done, would_block, failed };
  Result result = Result::done;
  std::size_t bytes = 0;  // done with no bytes read: end of file
};

// Closes `socket` so that the peer reads an end of file: closing one that holds unread bytes
// resets the connection, and with it replies on their way.
void end_with_eof(Descriptor& socket, std::span<char> scratch);

struct Connection : Source {
  enum class State : std::uint8_t {
    open,       // waits for bytes or for its turn
    flushing,   // the client does not take its replies: not read, no turns
    blocked,    // said `retry`: not read, a turn when its delay is over
    streaming,  // at a streamer
    lingering,  // closed for sending; what still arrives is thrown away
  };

  Connection(Descriptor accepted, std::unique_ptr<Dialogue> state_of_application, Inbox& inbox)
      : Source(Kind::connection),
        socket(std::move(accepted)),
        dialogue(std::move(state_of_application)),
        home(inbox) {}

  Transfer receive(std::span<char> room);
  Transfer send(std::string_view bytes);

  // Forgets the first `count` bytes of the input and memory that is no longer needed.
  void consume(std::size_t count);
  // Makes `rest`, which begins with what was already kept if nothing was
  // consumed, the input kept for the next turn.
  void keep(std::string_view rest, bool consumed);
  // Remembers since when the first request of the input is blocked.
  void note_blocked(const Turn& turn, std::uint64_t now);

  Descriptor socket;                    // [streamer] too, which only sends
  std::unique_ptr<Dialogue> dialogue;   // [streamer]
  Buffer input;                         // [streamer] received, kept for a later turn
  std::uint64_t blocked_since = 0;      // [streamer]
  Next next = Next::wait;               // [streamer] what the application said last
  bool broken = false;                  // [streamer] could not send: the client is gone or too slow
  Connection* next_in_queue = nullptr;  // [streamer] of a StreamQueue or an Inbox

  Inbox& home;  // its worker's
  State state = State::open;
  bool queued = false;     // in the worker's list of those that want a turn
  bool in_pass = false;    // has a turn in the pass at work
  bool readable = false;   // an event came since a read last found nothing more
  bool peer_done = false;  // the client has shut its side down
  bool eof = false;        // and everything it sent was read
  bool due = false;        // wants a turn on the input it has, without a read
  bool oversized = false;  // its input is a part of a request that is too large
  std::uint8_t retries = 0;
  std::size_t scanned = 0;      // bytes at the front of `input` known to hold no complete request
  std::size_t drained = 0;      // thrown away while lingering
  Buffer output;                // replies that the socket did not take
  std::size_t output_sent = 0;  // of `output`
  std::uint64_t listed_at = 0;  // ns; what the list that it is in is ordered by

  std::list<Connection>* list = nullptr;  // the one that it is in
  std::list<Connection>::iterator in_list;
};

}  // namespace hs::net
