// Status: how an operation ended.
//
// It is a plain value of one word, which any thread may copy. It owns nothing. An error has a kind,
// which each protocol tells its clients in its own words, and the server's number of it if there is
// one. Malformed input and failed operations are both ordinary Status values. A bug of our own is an
// assert instead.
#pragma once

#include <cstdint>

namespace hs {

// The kinds of errors. The errors of one kind mean the same to a client, whatever protocol it
// speaks: whether it can try again, what it has to change, or who can help.
enum class Error : std::uint8_t {
  none,
  protocol,  // an error of the client's protocol: Status::number says which
  other,     // nothing is known of it but the server's number
  // the names of an index
  no_table,
  locked_table,  // the engine cannot lock it
  no_index,
  no_column,
  // an operation on an open index
  too_many_key_parts,
  no_filter_column,
  unfilterable_column,  // no value of a request compares with its type
  max_request_time,
  // a row
  duplicate_key,
  no_row,
  missing_parent,   // a foreign key points at no row
  has_children,     // foreign keys point at the row
  check_failed,     // a constraint of the table, or no partition is for the row
  trigger_refused,  // by a SIGNAL
  // a value
  null_not_allowed,
  out_of_range,  // of the column's type, or of its numbers
  wrong_value,   // not of the column's type
  too_large,     // a row, a reply, or what a transaction has changed
  // another session: the same request may succeed later
  row_locked,
  table_locked,
  deadlock,  // the engine has chosen this transaction to give way
  conflict,  // another transaction was committed first
  table_changed,
  // who asks
  denied,
  wrong_log_in,
  log_in_refused,  // user and password may be right, but the account cannot be used now
  limit_reached,
  // the server
  read_only,
  not_supported,
  killed,
  shutting_down,
  not_ready,    // a node that its cluster does not use now
  unreachable,  // another server, on which the table is
  no_memory,
  no_room,  // on a disk, or in a table
  damaged,  // files of a table are broken or missing
  commit_failed,
  count_,
};

// It takes one word because every request passes several of them on. If a result were written in
// parts and then read as a whole, the processor would stall.
class [[nodiscard]] Status {
 public:
  constexpr Status() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr Status(Error kind) : word_(static_cast<std::uint32_t>(kind)) {}
  // `number` is the storage engine's (below 1000) or the server's (1000 and up), or what the protocol
  // gives a meaning; at most 24 bits.
  constexpr Status(Error kind, std::uint32_t number)
      : word_(static_cast<std::uint32_t>(kind) | number << kind_bits) {}

  constexpr bool ok() const { return word_ == 0; }
  constexpr Error kind() const { return static_cast<Error>(word_ & ((1U << kind_bits) - 1)); }
  // 0 if the error is not the server's.
  constexpr std::uint32_t number() const { return word_ >> kind_bits; }

  friend constexpr bool operator==(const Status&, const Status&) = default;
  // An error of the server has the same kind as one of our own, and a number. So compare kind().
  friend bool operator==(const Status&, Error) = delete;

 private:
  static constexpr unsigned kind_bits = 8;
  std::uint32_t word_ = 0;  // the kind, and above it the number
};

}  // namespace hs
