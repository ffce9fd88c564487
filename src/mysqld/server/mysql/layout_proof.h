// LayoutProof: whether InnoDB's memory is laid out as its headers say.
//
// The hash index is walked without its latch, by copies which the kernel makes: where there is no memory,
// the copy fails, and nothing else happens. If rows with known keys are found where they have to be, the
// layout is that of the headers. Before that nobody may take the latch. Of the process; any worker calls
// it, one at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "mysqld/server/row_prefetch.h"

struct row_prebuilt_t;

namespace hs::mysqld::server {

class LayoutProof {
 public:
  enum class State : std::uint8_t { open, good, bad };

  State state() const { return state_.load(std::memory_order_acquire); }
  // Looks for the rows with these keys of the handler's present index. If the proof ends so that nothing
  // can be done, it is said in the log.
  void look_for(const TABLE& table, const row_prebuilt_t& prebuilt, const ExpectedKeys& keys);

 private:
  std::mutex one_at_a_time_;
  std::atomic<State> state_ = State::open;
  std::uint64_t latest_ = 0;  // the hash of the row that was found last
  std::size_t found_ = 0;     // so many rows, of different keys
  std::size_t failed_ = 0;
};

}  // namespace hs::mysqld::server
