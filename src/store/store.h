// Store: what a session sees of a database.
//
// Each worker thread has one object, and every call comes from that thread. A pass is begun, takes
// any number of requests, and is ended. It is one transaction, in which each request is a statement
// of its own. There are two stores: the server's tables (mysqld/) and a small one in memory
// (store/memory_store.h).
//
// Life of a pass:   begin_pass  (open_index | find | count | modify | insert | insert_rows)*  end_pass
//                   release
// Some of these requests may be a unit, see begin_unit().
// A store begins its transaction at the first request that needs it, so a pass without requests
// costs nothing. Any call may throw (no memory), except abandon_pass() and release(). Those two may
// be called at any time: after them the store holds nothing, and a pass can begin.
#pragma once

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "store/budget.h"
#include "store/caller.h"
#include "store/index_shape.h"
#include "store/operation.h"
#include "store/rows.h"
#include "store/table_description.h"

namespace hs::store {

// An open index: its names are resolved and the readers of its columns chosen. open_index makes it.
// It is used only with the store that made it, and the sessions of one worker share it, whoever
// their callers are and whatever protocol they speak.
class Index {
 public:
  virtual ~Index() = default;
  virtual std::uint32_t key_parts() const = 0;
  virtual std::uint32_t column_count() const = 0;
  // Another number after each change of the table's definition. The index follows such a change when
  // a request uses it, so what was known of it before is true for the request if this is the same
  // afterwards.
  virtual std::uint64_t version() const = 0;
  // Null if the index was not opened with every column.
  virtual std::shared_ptr<const IndexShape> shape() const = 0;
};

// An index as one connection uses it: the index, which others may share, and the caller on whose
// behalf it is used.
class IndexUse {
 public:
  IndexUse() = default;
  IndexUse(std::shared_ptr<Index> index, std::shared_ptr<const Caller> caller)
      : index_(std::move(index)), caller_(std::move(caller)) {}

  explicit operator bool() const { return index_ != nullptr; }
  Index& index() const { return *index_; }
  const std::shared_ptr<Index>& shared() const { return index_; }
  const Caller& caller() const { return *caller_; }

 private:
  std::shared_ptr<Index> index_;
  std::shared_ptr<const Caller> caller_;
};

// A find of at most one row, as it is named ahead: all parts of the key that it gives, with `=`.
struct Lookup {
  const Index* index = nullptr;
  std::span<const Value> key{};
};

// How a request ended.
enum class Verdict : std::uint8_t {
  // status ok: it is done, and its rows are in `out`; otherwise `out` is unchanged, and the status
  // is the answer
  answered,
  // another session has locked the table, or a row of it (then there is a status): nothing was
  // done, ask again later
  blocked,
  broken,  // the engine rolled the whole transaction back (a deadlock): the caller abandons the
           // pass and executes it again, each write alone
  // too much for a worker: nothing was done, a streamer has to do it. If there is a status, it is a
  // write that may have to wait for a row, and a worker must not ask again
  oversized,
  // a write that cannot be undone, while other writes of the pass are not committed; or a request
  // behind a write that has left something in the store's session: nothing was done, the caller ends
  // the pass, begins another and asks again
  not_yet,
  // a find or count with a sink gives back its table because its client does not read, or for the
  // sake of others: it goes on in another pass, from the sink's position
  parked,
  // the table is on another server: nothing was done, a remote thread has to do it, because a worker
  // or a streamer must not wait for that server. Of a store that is on a remote thread, never
  remote,
};

// A verdict and a status. The status is the answer, or says more about some of the other verdicts.
// It takes one word, as Status does.
class [[nodiscard]] Outcome {
 public:
  constexpr Outcome() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr Outcome(Status status) : word_(std::bit_cast<std::uint32_t>(status)) {}
  constexpr Outcome(Error error) : Outcome(Status(error)) {}  // NOLINT(google-explicit-constructor)
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr Outcome(Verdict verdict) : word_(static_cast<std::uint64_t>(verdict) << status_bits) {}

  // Blocked or oversized because of a row's lock. `status` is the answer when the time to wait is
  // up.
  static constexpr Outcome by_row(Verdict verdict, Status status) {
    Outcome outcome = verdict;
    outcome.word_ |= std::bit_cast<std::uint32_t>(status);
    return outcome;
  }

  // The same outcome, for a write that cannot be undone: it has been executed and must never be
  // executed again, even if its pass is.
  constexpr Outcome for_good() const {
    Outcome outcome = *this;
    outcome.word_ |= for_good_bit;
    return outcome;
  }
  constexpr bool is_for_good() const { return (word_ & for_good_bit) != 0; }

  constexpr Verdict verdict() const {
    return static_cast<Verdict>((word_ & ~for_good_bit) >> status_bits);
  }
  constexpr Status status() const {
    return std::bit_cast<Status>(static_cast<std::uint32_t>(word_));
  }
  constexpr bool answered() const { return verdict() == Verdict::answered; }
  // Answered without an error.
  constexpr bool ok() const { return (word_ & ~for_good_bit) == 0; }

 private:
  static constexpr unsigned status_bits = 32;
  static constexpr std::uint64_t for_good_bit = std::uint64_t{1} << 63;
  std::uint64_t word_ = 0;  // the status, and the verdict above it
};

enum class PassMode : std::uint8_t {
  together,      // one transaction for the whole pass
  writes_alone,  // each write commits at once; its answer says how its commit ended
  aside,  // one write on a streamer: commits at once, has no bound, and waits for locks of rows
};

// Where a find was left: behind one of its rows, or before it has met one. It consists of values
// only. So any store of the same tables can go on from it, after the pass and the table in which it
// was left are gone.
class Position {
 public:
  virtual ~Position() = default;
  // Whether a row was given to the sink, or left in `out`. If not, the find can still become an
  // error.
  bool reply_begun = true;
  // For how long the find has been worked on.
  std::chrono::nanoseconds worked{0};
  std::uint64_t rows_examined = 0;

  // About how much memory it takes.
  virtual std::size_t bytes() const { return sizeof(Position); }
};

// What a find has given.
struct Found {
  // Of a find that goes on after it was parked: those of the present piece, without those of the
  // pieces before it.
  std::uint64_t rows = 0;
  // Whether the find is to say where it has ended because of its limit. Its index was opened so that it
  // keeps positions.
  bool wants_end = false;
  // Whether it has ended because of its limit, so that there may be more rows. Perhaps there is none.
  bool may_have_more = false;
  // Where that is, for Selection::behind. Null: no find can go on by this index.
  std::unique_ptr<Position> end{};
};

// Takes the rows of a long find while the find runs. A long count asks it, too, and gives it none.
class Sink {
 public:
  enum class Flushed : std::uint8_t {
    sent,     // `out` is empty
    stalled,  // the client takes no more now: `out` holds the rest, and the find is parked
    ended,    // the client is gone or too slow: the find stops, with a status other than ok
  };
  // Returns `stalled` only if `can_park`. If a find cannot be parked, this waits for its client.
  virtual Flushed flush(Buffer& out, bool can_park) = 0;
  // Asked while a find has nothing to flush: whether it is to be parked for the sake of others, if
  // it can be.
  virtual bool must_give_way() = 0;
  // Asked at the same time: whether nobody waits for the reply any more. Then the find stops, as if
  // flush() had answered `ended`.
  virtual bool must_end() = 0;

  // Null at the beginning of a find. A store that parks a find stores its position here. When it is
  // asked for the same find again, it goes on from there, behind the rows that were sent.
  std::unique_ptr<Position> position;

 protected:
  ~Sink() = default;
};

// The answer to a write within a unit that could not be undone: of the server's errors the one that
// says that an engine cannot do something.
inline constexpr Status cannot_be_undone{Error::not_supported, 1178};

// The answer to an insert that would not keep a 0, see Insert: of the server's errors one about AUTO_INCREMENT that
// no insert raises.
inline constexpr Status zero_asks_for_id{Error::wrong_value, 1075};

// The answers to who lists the tables of a database that is not there, and to who may do nothing in it.
inline constexpr Status no_database{Error::no_table, 1049};
inline constexpr Status database_denied{Error::denied, 1044};

class Store {
 public:
  virtual ~Store() = default;

  // Until the pass ends, requests spend steps of `budget` for each row that they look at or change.
  virtual void begin_pass(PassMode mode, Budget& budget) = 0;
  // Within a pass: the requests that follow have come since the last ones. So what their callers
  // may do is asked again.
  virtual void forget_permissions() = 0;
  // Commits. On an error nothing of the pass is in the tables, and each of its writes has to be
  // answered with that error. `broken` means the same as for a request.
  virtual Outcome end_pass() = 0;
  // Rolls the pass back and ends it.
  virtual void abandon_pass() = 0;
  // Gives back what a pass that has ended well still holds. It is a separate call, so that replies
  // do not wait for it.
  virtual void release() = 0;

  // A unit: requests of one client that are done wholly or not at all, although each is a statement.
  //
  //   begin_unit  (open_index | find | count | modify | insert | insert_rows)*  end_unit | undo_unit
  //
  // run_unit() makes these calls. Units are not nested, and a pass is not ended
  // within one. In a pass `together`, a unit is a part of the pass's transaction. In other modes it
  // is a transaction of its own. A request that may have to be asked again after a write of the same
  // client's request has succeeded needs one: without it, that write would be done twice.
  //
  // A request that is answered with an error has changed nothing, and the unit may go on. If the
  // engine has undone the whole unit with it, all that follows is answered with the same error, and
  // so is end_unit(). With every other verdict the whole unit has to be asked again, so it is undone,
  // unless the verdict is `broken`: then there is no unit any more. A write that cannot be undone is
  // answered with `cannot_be_undone`, so nothing within a unit is done for good.
  //
  // If the outcome is not ok, no unit has begun, and that is the verdict for the whole.
  virtual Outcome begin_unit() = 0;
  // What the unit has done stays: `together` if the pass is committed, in other modes it is
  // committed now. If the outcome is not ok, nothing of the unit is in the tables.
  virtual Outcome end_unit() = 0;
  // Nothing of the unit stays, also in the server's binary log. `broken` if that is possible only for
  // the whole pass.
  virtual Outcome undo_unit() = 0;

  // Not part of a transaction. If the status is not ok, `use` is unchanged. A caller who has no
  // right on the table is not told whether the table exists.
  virtual Outcome open_index(const IndexNames& names, const std::shared_ptr<const Caller>& caller,
                             IndexUse& use) = 0;

  // Tells of the table with these names what the caller may see, and nothing else of them. A caller who has
  // no right on it is not told whether it exists.
  virtual Outcome describe_table(const IndexNames& /*names*/,
                                 const std::shared_ptr<const Caller>& /*caller*/,
                                 TableDescription& /*description*/) {
    return Error::not_supported;
  }

  // Lists names in their order: of the databases in which the caller has a privilege for anything, or of
  // the tables of `database` that the caller may open. `database_denied` if there is a database in which
  // the caller may do nothing, or none.
  //
  // It takes long. Without a sink the answer is `oversized`. With one, the sink is asked whether it must
  // end, and if the names take more than max_listed_bytes, the answer is an error.
  virtual Outcome list_names(std::optional<std::string_view> /*database*/,
                             const std::shared_ptr<const Caller>& /*caller*/, Sink* /*sink*/,
                             std::vector<std::string>& /*names*/) {
    return Error::not_supported;
  }
  static constexpr std::size_t max_listed_bytes = std::size_t{32} << 20;

  // From now on the store may fetch what finds will need that it knows ahead: those of expect(), and
  // those of the values of an IN. At the beginning it fetches nothing.
  virtual void look_ahead(bool /*on*/) {}
  // These finds come next, if they may be made, beginning with the request that is about to be made.
  // A store may fetch what they will need, or forget them: they are a hint, and no answer depends on
  // it. They are valid until the next call of expect() or the end of the pass.
  virtual void expect(std::span<const Lookup> /*lookups*/) {}
  // Asked before somebody looks at the finds that come next: whether so many of them are to be passed over,
  // because what came lately was at hand. Then they are counted as passed over.
  virtual bool passes_over(std::uint32_t /*finds*/) { return true; }

  // Has `rows` append the rows that are found to `out`. The selection is valid. If it goes on behind a
  // place that the table does not have any more, the answer is `table_changed`. The answer to a
  // request that its caller may not make is `access_denied`. If the find is answered or parked,
  // `found` says what this call has found.
  //
  // Without a sink a find is limited in the steps that it spends and the bytes that it writes. It
  // may end as `oversized`, also because of rows that it only skips. With a sink its bytes are
  // flushed while it runs, and it may end as `parked`. If the rows are not sent in pieces, a find
  // with a sink flushes nothing, and is parked only before its first row, because the state of
  // `rows` would be lost. It still ends when nobody waits for the reply, and if there are more bytes
  // than `rows` allows, it is answered with an error of the kind `too_large`.
  // A modification is limited in the steps that it spends. In a pass `aside` there are no such
  // limits.
  virtual Outcome find(IndexUse& use, const Selection& selection, Rows& rows, Buffer& out,
                       Sink* sink, Found& found) = 0;
  // Counts the rows that a find would give, into `rows`. It reads no columns for a reply. Whether
  // there is any row is a count with a limit of 1, which stops at the first one.
  //
  // Without a sink it is limited as a find. With a sink it writes nothing: it only asks the sink
  // whether it must end or give way, and may end as `parked`, with what it has counted in the
  // position. `rows` is set only if the outcome is ok.
  virtual Outcome count(IndexUse& use, const Selection& selection, std::uint64_t& rows,
                        Sink* sink) = 0;
  // A write has at most as many values as its index has columns. If it succeeds, `changed` says
  // what it has done. A change with `rows_before` or `rows_after` has `rows` append those rows to
  // `out`; of any other change `rows` may be null.
  virtual Outcome modify(IndexUse& use, const Selection& selection, const Change& change,
                         Rows* rows, Buffer& out, Changed& changed) = 0;
  virtual Outcome insert(IndexUse& use, const Insert& row, Changed& changed) = 0;
  // If it succeeds, `inserted` says of each row what became of it. Many rows are too much for a worker.
  virtual Outcome insert_rows(IndexUse& use, const InsertRows& rows,
                              std::vector<InsertedRow>& inserted) = 0;

  // From now on, what the server says of a request is left in `said`. Null, as at the beginning:
  // nobody asks, and nothing is spent on it. A store may have no words.
  virtual void explain_to(Said* /*said*/) {}
};

// Makes requests of one client as a unit, and returns how the whole has ended, as if it were one
// request. `requests()` makes them and returns how they have ended together. If it does not return
// ok, what they did is undone, and what they appended to `out` is removed. If it throws, the pass has
// to be abandoned, as always.
template <class Requests>
Outcome run_unit(Store& store, Buffer& out, Requests requests) {
  if (const Outcome begun = store.begin_unit(); !begun.ok()) return begun;
  const std::size_t begin = out.size();
  Outcome outcome = requests();
  if (outcome.ok()) {
    outcome = store.end_unit();
  } else if (outcome.verdict() != Verdict::broken) {
    if (const Outcome undone = store.undo_unit(); !undone.ok()) outcome = undone;
  }
  if (!outcome.ok()) out.truncate(begin);
  return outcome;
}

}  // namespace hs::store
