// Savepoint: a place in a transaction to which it can be rolled back, for a unit of several writes.
//
// Each transaction object has one, on the thread that owns the THD. It owns the memory in which the
// engines keep what they know of the place. SQL's SAVEPOINT is not used for that: it writes an event
// into the binary log, which would stay there when the unit is undone, and to roll back to it may give
// up the metadata locks of tables that are still open.
#pragma once

#include <cstddef>
#include <memory>

class THD;

// They are hidden, so that the linker refuses a family that leaves one of them undefined.
#pragma GCC visibility push(hidden)

namespace hs::mysqld::server {

class Savepoint {
 public:
  explicit Savepoint(THD* thd) : thd_(thd) {}

  // False if the transaction has an engine that knows no savepoints.
  bool set();
  // Undoes what was done since then. False if an engine could not; then only the whole transaction
  // can be undone.
  bool roll_back();
  void forget();

 private:
  THD* thd_;
  std::size_t size_ = 0;
  std::unique_ptr<std::byte[]> place_;
};

}  // namespace hs::mysqld::server

#pragma GCC visibility pop
