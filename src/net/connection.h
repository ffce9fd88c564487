// Connection: one client's socket and what net/ remembers of it between passes.
//
// Its worker owns it, and only that worker's thread touches it. While it waits, its worker may give
// it to another worker, through the other's inbox (worker_moves.cc). The exception is the time while
// a carrier has it: then its part Carried belongs to the carrier. Its state says who has it
// (net/connection_state.h). An idle connection holds no buffer, only this object and the application's
// Dialogue. All bytes go through receive() and send(), and there through the byte filter if the client
// speaks TLS.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/buffer.h"
#include "net/application.h"
#include "net/byte_filter.h"
#include "net/connection_state.h"
#include "net/descriptor.h"
#include "net/peer.h"
#include "net/strangers.h"
#include "net/waiting_bytes.h"

namespace hs::net {

class Inbox;
struct Port;
struct Connection;

// What an event of a worker's epoll set is about. The event carries the address of this object.
struct Source {
  enum class Kind : std::uint8_t { listener, inbox, connection };
  explicit Source(Kind kind_of_source) : kind(kind_of_source) {}
  const Kind kind;
};

// A socket that was accepted, and where its client is.
struct Accepted {
  Descriptor socket;
  PeerAddress peer;
  Port* port = nullptr;  // through which it has come; null in tests
};

// Closes `socket` so that the peer reads an end of file. To close a socket that holds unread bytes
// would reset the connection, and the peer would lose replies that are on their way.
void end_with_eof(Descriptor& socket, std::span<char> scratch);

// Writes over the secret that the turn has found in its input, which is memory of net/.
void hide_secret(const Turn& turn);

// What belongs to whoever has the connection: its worker, or a carrier (net/carrier.h).
struct Carried {
  Carried(Descriptor accepted, std::unique_ptr<Dialogue> state_of_application)
      : socket(std::move(accepted)), dialogue(std::move(state_of_application)) {}

  Descriptor socket;                   // carriers only send, but for a handshaker
  std::unique_ptr<ByteFilter> filter;  // null: plain bytes
  // Of a handshaker: what its last step has answered.
  ByteFilter::Progress progress = ByteFilter::Progress::wants_input;
  std::unique_ptr<Dialogue> dialogue;
  Buffer input;                     // received, kept for a later turn
  std::uint64_t blocked_since = 0;  // as in Turn, as are the next two
  std::uint64_t arrived_at = 0;
  std::uint64_t deadline = 0;
  Next next = Next::wait;       // what the application said last
  Buffer output;                // replies that the socket did not take
  std::size_t output_sent = 0;  // how much of `output` is sent
  bool reply_begun = false;     // a long find that is parked has sent the beginning of its reply
  bool broken = false;          // could not send: the client is gone or too slow
  Connection* next_in_queue = nullptr;  // the next in a ConnectionQueue or an Inbox
};

struct Connection : Source, Carried {
  using State = ConnectionState;

  Connection(Accepted accepted, std::unique_ptr<Dialogue> state_of_application, Inbox& inbox,
             std::uint64_t now);

  Transfer receive(std::span<char> room);
  // Copies what receive() would read, and leaves it where it is. 0: nothing is there.
  std::size_t peek(std::span<char> room);
  Transfer send(std::string_view bytes);

  // Removes the first `count` bytes of the input, and gives back memory that is no longer needed.
  void consume(std::size_t count);
  // Keeps `rest` as the input for the next turn. If nothing was consumed, `rest` begins with the
  // bytes that `input` holds already.
  void keep(std::string_view rest, bool consumed);
  // Sets the share to the memory that is held now. False: it has grown, and there is no room for
  // that.
  bool recount();
  // Whether hands are shaken, and the client is logged in or need not be.
  bool is_introduced() const;
  // Says farewell as the filter does it, and goes on without it.
  void end_filter();
  // Where its client is.
  Endpoint endpoint() const;
  // Remembers since when the first request of the input is blocked.
  void note_blocked(const Turn& turn, std::uint64_t now);
  // Counts the requests that a turn has answered. Carriers do it, too.
  void note_answered(const RequestCounts& answered);

  Inbox* home;  // of its worker
  State state = State::waiting;
  bool readable = false;   // bytes may have come since a read last found no more
  bool peer_done = false;  // the client has shut down its side
  bool eof = false;        // `peer_done`, and everything that the client sent has been read
  bool due = false;        // it wants a turn on the input that it has, without a read
  bool oversized = false;  // its input is the beginning of a request that is too large
  std::uint8_t retries = 0;
  // Turns without a write, while it is with another crew than its port's.
  std::uint8_t reads_away = 0;
  std::size_t scanned = 0;      // bytes at the front of `input` known to hold no complete request
  std::uint64_t noted = 0;      // by the dialogue, about that request
  std::size_t drained = 0;      // bytes thrown away while lingering
  Strangers::Place place;       // of one that has to log in
  WaitingBytes::Share share;    // what `input` and `output` take
  std::uint64_t listed_at = 0;  // in ns; its list is ordered by this time. A carrier may read it

  // As whom the client acts, while another thread has the dialogue. That thread does not change it.
  std::string_view user;
  const char* tls = "";  // what the filter speaks, once hands are shaken

  std::list<Connection>* list = nullptr;  // the list that it is in
  std::list<Connection>::iterator in_list;
  // Its place among those that have come and are not known yet, if it has one.
  std::optional<std::list<Connection*>::iterator> in_newcomers;

  Port* const port;        // through which its client has come
  const std::uint64_t id;  // of no other connection as long as the process runs
  const PeerAddress peer;
  const std::uint64_t accepted_at;
  std::uint64_t received = 0;    // bytes in all
  std::uint64_t hello_size = 0;  // so many of them were read here and given to the filter
  // These change with whoever has the connection, and the worker may read them at any time: the bytes
  // sent in all, and the requests that were answered and have a kind.
  std::atomic<std::uint64_t> sent{0};
  std::atomic<std::uint64_t> requests{0};
  std::atomic<RequestKind> last_request{RequestKind::count_};  // count_: none yet
  // Somebody has asked that it ends. Its worker says so, and a streamer looks at it.
  std::atomic<bool> has_to_end{false};
};

}  // namespace hs::net
