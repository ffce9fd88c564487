// Dialogue and Protocol: what a pass asks of a wire protocol.
//
// A pass knows bytes and a store, and no protocol. A Dialogue is what the protocol knows of one
// connection. It cuts requests from the input, decides whether they may be executed, has the store
// execute them and writes their replies, also those that say that something has failed. A Protocol
// belongs to one thread: it makes the dialogues of the connections that the thread accepts, and lends
// what they need while they work. A dialogue may move from one thread to another between its turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/counters.h"
#include "base/status.h"
#include "net/application.h"
#include "store/caller.h"
#include "store/look_ahead.h"
#include "store/store.h"

namespace hs::passes {

class Protocol;
class Requests;

// Which requests a turn may execute at the moment.
enum class Runs : std::uint8_t {
  all,
  all_but_writes,
  all_but_finds,
};

// How one request ended.
struct Answer {
  // only if `answered`, the buffer holds the reply; it may be empty
  store::Verdict verdict = store::Verdict::answered;
  bool ok = false;
  bool write = false;     // a change of rows
  bool read = false;      // a find
  bool put_off = false;   // a request that may not run now: nothing was done
  bool for_good = false;  // a write that has been executed and must never be executed again
  Status status{};  // if the request waits for a row: the answer that it gets when the time is up
  Counter counter = Counter::requests_malformed;
  std::uint32_t values_ignored = 0;  // of a write
  // If it fails as a whole, it is answered with so many equal errors. 0: it is never answered.
  std::uint32_t replies = 1;

  // Whether a find or a write may run at the moment. If not, it is put off.
  bool may_run(Runs runs) {
    put_off = (write && runs == Runs::all_but_writes) || (read && runs == Runs::all_but_finds);
    return !put_off;
  }
  // Notes how the store has ended the request. Returns whether that is an error, which the dialogue
  // has to append. A deadlock is none yet: nothing was done, and another attempt may succeed.
  bool note_outcome(store::Outcome outcome) {
    if (outcome.status().kind() == Error::deadlock && !outcome.is_for_good())
      outcome = store::Outcome::by_row(store::Verdict::blocked, outcome.status());
    verdict = outcome.verdict();
    for_good = outcome.is_for_good();
    ok = outcome.status().ok();
    if (!outcome.answered()) status = outcome.status();
    return outcome.answered() && !ok;
  }
};

// An index that a request uses. `key` tells it from others, whoever's they are.
struct NeededIndex {
  std::string_view key{};
  store::IndexNames names{};
};

// The first request of a turn, for a thread that executes it alone. The views are valid until the
// dialogue is used again.
struct Plan {
  enum class Kind : std::uint8_t {
    incomplete,
    done,   // the dialogue has done what there was to do, and has set the turn's `next`
    quick,  // it does not take long, so a worker executes it
    find,
    write,
    open,  // only on a remote thread: it opens an index. From `find` on, they are executed.
  };
  Kind kind = Kind::incomplete;
  std::size_t end_offset = 0;
  // A find and a write have all of these, and at least one index, unless the dialogue opens what it
  // needs by itself. Then `about` names the first of it. An `open` has the caller and the index that it
  // opens.
  Counter counter = Counter::requests_find;
  std::string_view described{};  // what it does, for people: find, insert, update, delete
  std::uint32_t replies = 1;     // as in Answer
  // Its reply is sent in parts that a client understands one by one, and an error behind any of them.
  bool reply_is_of_parts = false;
  // So many milliseconds it may take since it has come; 0: its client has set it no time.
  std::uint64_t within_ms = 0;
  const std::shared_ptr<const store::Caller>* caller = nullptr;
  std::span<const NeededIndex> indexes{};
  store::IndexNames about{};  // for people

  const store::IndexNames& first_names() const {
    return indexes.empty() ? about : indexes[0].names;
  }
  // If not, the connection of a request that fails is closed: the error would stand within a reply.
  bool may_end_with_error(bool reply_has_begun) const {
    return !reply_has_begun || reply_is_of_parts;
  }
};

// Where a request is executed: in a worker's pass, or alone on another thread.
struct Place {
  store::Store& store;
  std::span<store::IndexUse> uses;  // of the indexes that the request needs, in their order
  Buffer& out;
  store::Sink* sink = nullptr;    // not null: the reply to a find is sent in pieces
  bool reply_begins = true;       // no part of the reply was sent before
  net::Stream* client = nullptr;  // not null: knows whether somebody still waits for the reply
  std::uint64_t deadline = 0;     // as in net::Turn
  std::uint32_t values_ignored = 0;
  bool failed = false;  // although the request is done, its reply says that it has failed
  // Why there are fewer uses than the plan has indexes: the next one could not be opened. Only of a
  // request with several replies, which says which of them it concerns.
  Status not_opened{};
};

// How the opening of an index has ended on a remote thread, for the worker.
struct RemoteOpen {
  std::string key;  // of that index
  Status status;
  std::uint32_t key_parts = 0;
  std::uint32_t column_count = 0;
};

class Dialogue : public net::Dialogue {
 public:
  // Executes the requests at the front of the turn's input in their order, as `requests` says. It
  // is the one virtual call of a turn.
  virtual void execute(Requests& requests) = 0;
  // Names the plain finds at the front of the input, until `ahead` is full, and executes nothing.
  // Those whose index belongs to this store. Returns the bytes that they take.
  virtual std::size_t look_ahead(std::string_view /*input*/, const store::Store& /*store*/,
                                 store::LookAhead& /*ahead*/) {
    return 0;
  }
  // Appends the reply to a request that has failed.
  virtual void append_error(Status status, Buffer& out) const = 0;
  // The same, of a request that has several replies.
  void append_errors(Status status, std::uint32_t replies, Buffer& out) const {
    for (; replies != 0; --replies) append_error(status, out);
  }

  // The same in place of a reply that a failed commit has made untrue. The input begins with its request,
  // which a protocol may name. It takes back what the dialogue remembers of the reply.
  virtual void replace_reply(std::string_view /*input*/, Status status, std::uint32_t replies,
                             Buffer& out) {
    append_errors(status, replies, out);
  }

  // A request may change its dialogue: a log-in, an open index. If the pass is executed again, the
  // requests before it must find the dialogue as it was. So before a dialogue changes, it notes
  // itself in the pass's Changes. keep_changes(): what was changed until now stays. undo_changes()
  // undoes what was changed since then.
  virtual void keep_changes() {}
  virtual void undo_changes() {}

  // On a streamer: reads the first request, and does not execute it. Also on a worker, between two
  // passes, if the request has waited too long for a remote thread.
  virtual Plan plan(net::Turn& turn, Protocol& protocol) = 0;
  // Executes the find or the write that plan() has read, and appends its reply if it succeeds. Of a
  // find that is parked, a part of the reply. A dialogue that executes a request in a pass does it in
  // the same way, so that a request is written once.
  virtual store::Outcome execute_planned(Place& place, Protocol& protocol) = 0;
  // The request that plan() has read has ended so. It was answered, and is not executed again.
  virtual void end_planned(Status /*ended*/, Protocol& /*protocol*/) {}
  // How the request that opens an index has ended on a remote thread, or that it has waited too long
  // for one. The worker executes the request again, and answers it. Empty: there was none.
  std::optional<RemoteOpen>& remote_open() { return remote_open_; }

  // The position of a parked long find; null if none is parked. The find is then the connection's
  // next request.
  std::unique_ptr<store::Position>& position() { return position_; }

 private:
  std::unique_ptr<store::Position> position_;
  std::optional<RemoteOpen> remote_open_;
};

// The dialogues that have changed in a pass, since it was last known that their changes stay. A
// dialogue that is noted twice is kept or undone once, and finds nothing to do the second time.
class Changes {
 public:
  void note(Dialogue& dialogue) { dialogues_.push_back(&dialogue); }
  void keep() {
    for (Dialogue* const dialogue : dialogues_) dialogue->keep_changes();
    dialogues_.clear();
  }
  void undo() {
    for (Dialogue* const dialogue : dialogues_) dialogue->undo_changes();
    dialogues_.clear();
  }
  // The pass has failed, and the connections of its dialogues end.
  void forget() { dialogues_.clear(); }

 private:
  std::vector<Dialogue*> dialogues_;
};

class Protocol {
 public:
  virtual ~Protocol() = default;

  virtual std::unique_ptr<Dialogue> open_dialogue() = 0;
  // Whether there can be writes.
  virtual bool writes() const = 0;
  // The requests are over: frees the memory that they took if it was large.
  virtual void give_back() = 0;
  // A protocol may count by itself what the Counters do not tell apart. While a pass may be executed
  // again, it only takes notes, one behind the other, whose number Requests::notes() keeps. The first
  // `notes` of them are to be counted now.
  virtual void publish(std::uint32_t /*notes*/) {}
};

// Makes the protocol of one thread, whose store and counters outlive it.
using MakeProtocol =
    std::function<std::unique_ptr<Protocol>(store::Store& store, CounterBlock& counters)>;

}  // namespace hs::passes
