// Store: what a session sees of a database.
//
// One object a worker thread; every call comes from that thread. A pass is
// begun, takes any number of requests, and is ended: one transaction, in which
// each request is a statement of its own. Two stores exist: the server's tables
// (mysqld/) and a small one in memory (store/memory_store.h).
//
// Life of a pass:   begin_pass  (open_index | find | modify | insert)*  end_pass  release
// A store begins its transaction lazily: a pass without requests costs nothing.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/buffer.h"
#include "base/status.h"
#include "protocol/request.h"

namespace hs::store {

// An index opened by `P`: names resolved, codecs chosen. Made by open_index and
// used only with the store that made it; sessions of one worker share it.
class Index {
 public:
  virtual ~Index() = default;
  virtual std::uint32_t key_parts() const = 0;
};

// How a request ended.
enum class Verdict : std::uint8_t {
  answered,  // status ok: the reply stands in `out`; otherwise `out` is untouched and status is the answer
  blocked,    // another session is changing the table: nothing was done, ask again later
  broken,     // the engine rolled the whole transaction back (a deadlock): the caller abandons the
              // pass and executes it again, each write alone
  oversized,  // a find without a sink met its bounds: nothing was written, have it streamed
};

// A verdict, and a status that says more if the request was answered. One word, as Status is.
class [[nodiscard]] Outcome {
 public:
  constexpr Outcome() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr Outcome(Status status) : word_(std::bit_cast<std::uint32_t>(status)) {}
  constexpr Outcome(Error error) : Outcome(Status(error)) {}  // NOLINT(google-explicit-constructor)
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr Outcome(Verdict verdict) : word_(static_cast<std::uint64_t>(verdict) << status_bits) {}

  constexpr Verdict verdict() const { return static_cast<Verdict>(word_ >> status_bits); }
  constexpr Status status() const {
    return std::bit_cast<Status>(static_cast<std::uint32_t>(word_));
  }
  constexpr bool answered() const { return verdict() == Verdict::answered; }
  constexpr bool ok() const { return word_ == 0; }  // answered, without an error

 private:
  static constexpr unsigned status_bits = 32;
  std::uint64_t word_ = 0;  // the status, and the verdict above it
};

enum class PassMode : std::uint8_t {
  together,      // one transaction for the whole pass
  writes_alone,  // each write commits at once; its answer is its commit's
};

// Takes a long find's bytes while it runs.
class Sink {
 public:
  // Sends and clears `out`. False if the client is gone or too slow: the find stops, with a
  // status other than ok.
  virtual bool flush(Buffer& out) = 0;

 protected:
  ~Sink() = default;
};

class Store {
 public:
  virtual ~Store() = default;

  virtual void begin_pass(PassMode mode) = 0;
  // Commits. On an error nothing of the pass is in the tables, and each of its
  // writes is to be answered with that error; `broken` is as for a request.
  virtual Outcome end_pass() = 0;
  // Rolls the pass back and ends it.
  virtual void abandon_pass() = 0;
  // Gives back what a pass that has ended well still holds. A call of its own, so that replies
  // need not wait for it.
  virtual void release() = 0;

  // Not part of a transaction. A status other than ok leaves `index` alone.
  virtual Outcome open_index(const protocol::OpenIndex& request, std::shared_ptr<Index>& index) = 0;

  // Without a sink a find is bounded in rows examined and bytes written and may
  // end as `oversized`; with one it is flushed as it goes.
  virtual Outcome find(Index& index, const protocol::Find& request, Buffer& out, Sink* sink) = 0;
  virtual Outcome modify(Index& index, const protocol::Find& request, Buffer& out) = 0;
  virtual Outcome insert(Index& index, const protocol::Insert& request, Buffer& out) = 0;
};

}  // namespace hs::store
