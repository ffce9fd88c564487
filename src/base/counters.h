// Counters: what the project counts, each declared once in the table below.
//
// Every thread that counts owns one CounterBlock and is its only writer, so counting is a plain
// addition without a lock or a shared cache line. Any thread may read: CounterSet sums the blocks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/block_set.h"
#include "base/latency.h"

namespace hs {

enum class Counter : std::uint8_t {
  connections_opened,
  connections_closed,
  connections_refused,
  connections_refused_address,
  connections_refused_plain,
  connections_foreign,
  connections_silent,
  connections_shed,
  connections_idle,
  connections_moved,
  tls_handshakes,
  tls_handshakes_failed,
  bytes_received,
  bytes_sent,
  requests_open,
  requests_find,
  requests_count,
  requests_update,
  requests_erase,
  requests_insert,
  requests_group,
  requests_log_in,
  requests_other,
  log_ins_failed,
  log_ins_late,
  log_ins_slowed,
  open_indexes_refused,
  requests_malformed,
  errors,
  rows_read,
  rows_changed,
  values_ignored,
  passes,
  busy_polls,
  busy_poll_hits,
  commits,
  rollbacks,
  passes_replayed,
  table_opens,
  privileges_asked,
  requests_blocked,
  lock_wait_ms,
  writes_aside,
  long_finds,
  requests_remote,
  finds_parked,
  requests_timed_out,
  count_,
};

inline constexpr std::size_t counter_count = static_cast<std::size_t>(Counter::count_);

struct CounterInfo {
  Counter counter;
  std::string_view name;  // the part after `handlersocket_` in SHOW GLOBAL STATUS
  std::string_view help;
};

inline constexpr std::array counter_table{
    CounterInfo{Counter::connections_opened, "connections_opened", "connections accepted"},
    CounterInfo{Counter::connections_closed, "connections_closed",
                "connections closed by either side"},
    CounterInfo{Counter::connections_refused, "connections_refused",
                "connections turned away at a limit"},
    CounterInfo{Counter::connections_refused_address, "connections_refused_address",
                "those of them whose address had too many that had not logged in"},
    CounterInfo{Counter::connections_refused_plain, "connections_refused_plain",
                "connections ended because they did not speak TLS"},
    CounterInfo{Counter::connections_foreign, "connections_foreign",
                "connections ended because they spoke another protocol"},
    CounterInfo{Counter::connections_silent, "connections_silent",
                "connections closed because they had sent nothing in time"},
    CounterInfo{Counter::connections_shed, "connections_shed",
                "connections ended because they held most of what waited to be read or sent"},
    CounterInfo{Counter::connections_idle, "connections_idle",
                "connections closed because they had done nothing for too long"},
    CounterInfo{Counter::connections_moved, "connections_moved",
                "times that a worker gave a connection to another worker"},
    CounterInfo{Counter::tls_handshakes, "tls_handshakes", "TLS handshakes that succeeded"},
    CounterInfo{Counter::tls_handshakes_failed, "tls_handshakes_failed",
                "TLS handshakes that failed or took too long"},
    CounterInfo{Counter::bytes_received, "bytes_received", "bytes read from clients"},
    CounterInfo{Counter::bytes_sent, "bytes_sent", "bytes sent to clients"},
    CounterInfo{Counter::requests_open, "requests_open_index", "requests that open an index"},
    CounterInfo{Counter::requests_find, "requests_find", "requests for rows"},
    CounterInfo{Counter::requests_count, "requests_count",
                "requests for the number of rows, or whether there is one"},
    CounterInfo{Counter::requests_update, "requests_update", "requests that update rows"},
    CounterInfo{Counter::requests_erase, "requests_delete", "requests that delete rows"},
    CounterInfo{Counter::requests_insert, "requests_insert", "requests that insert a row"},
    CounterInfo{Counter::requests_group, "requests_group",
                "groups of requests that are done wholly or not at all"},
    CounterInfo{Counter::requests_log_in, "requests_auth", "log-ins"},
    CounterInfo{Counter::requests_other, "requests_other",
                "requests about the connection or the server, and those that were refused"},
    CounterInfo{Counter::log_ins_failed, "log_ins_failed",
                "A requests with a wrong secret or password"},
    CounterInfo{Counter::log_ins_late, "log_ins_late",
                "connections closed because they had not logged in in time"},
    CounterInfo{Counter::log_ins_slowed, "log_ins_slowed",
                "A requests that had to wait because their address had given too many wrong ones"},
    CounterInfo{Counter::open_indexes_refused, "open_indexes_refused",
                "P requests for which the connection had too many open indexes"},
    CounterInfo{Counter::requests_malformed, "requests_malformed", "lines that are no request"},
    CounterInfo{Counter::errors, "errors", "replies with a code other than 0"},
    CounterInfo{Counter::rows_read, "rows_read", "rows answered by finds"},
    CounterInfo{Counter::rows_changed, "rows_changed", "rows inserted, updated and deleted"},
    CounterInfo{
        Counter::values_ignored, "values_ignored",
        "values of inserts and updates that were ignored, since no column was left for them"},
    CounterInfo{Counter::passes, "passes", "passes that executed at least one request"},
    CounterInfo{Counter::busy_polls, "busy_polls",
                "times that a worker stayed awake for the next request"},
    CounterInfo{Counter::busy_poll_hits, "busy_poll_hits", "times that it came meanwhile"},
    CounterInfo{Counter::commits, "commits", "transactions committed"},
    CounterInfo{Counter::rollbacks, "rollbacks", "transactions rolled back whole"},
    CounterInfo{Counter::passes_replayed, "passes_replayed",
                "passes executed again, each write alone: a deadlock, a full binlog cache"},
    CounterInfo{Counter::table_opens, "table_opens", "tables taken from the server's table cache"},
    CounterInfo{Counter::privileges_asked, "privileges_asked",
                "questions to the server about what an account may do with a table"},
    CounterInfo{Counter::requests_blocked, "requests_blocked",
                "requests that waited for another session's lock on their table or row"},
    CounterInfo{Counter::lock_wait_ms, "lock_wait_ms",
                "milliseconds that requests waited for other sessions' locks"},
    CounterInfo{Counter::writes_aside, "writes_aside",
                "writes that another thread executed: they took long, or waited for a row"},
    CounterInfo{Counter::long_finds, "long_finds", "finds and counts handed to a streamer"},
    CounterInfo{Counter::requests_remote, "requests_remote",
                "finds and writes that a remote thread executed"},
    CounterInfo{Counter::finds_parked, "finds_parked",
                "times that a long find gave its table back while its client did not read"},
    CounterInfo{Counter::requests_timed_out, "requests_timed_out",
                "requests that were ended because they took longer than max_request_time"},
};

namespace detail {
constexpr bool counter_table_is_in_order() {
  for (std::size_t i = 0; i < counter_table.size(); ++i) {
    if (static_cast<std::size_t>(counter_table[i].counter) != i) return false;
  }
  return counter_table.size() == counter_count;
}
}  // namespace detail
static_assert(detail::counter_table_is_in_order());

// The counters of requests by kind, in the order of RequestKind.
inline constexpr std::size_t first_request_counter =
    static_cast<std::size_t>(Counter::requests_open);
static_assert(static_cast<std::size_t>(Counter::requests_log_in) - first_request_counter ==
              static_cast<std::size_t>(RequestKind::log_in));

// Counts a request of the kind that `counter` counts. Others (malformed ones) have no kind.
inline void count_request(RequestCounts& counts, Counter counter) {
  const std::size_t kind = static_cast<std::size_t>(counter) - first_request_counter;
  if (kind < request_kind_count) counts.add(static_cast<RequestKind>(kind));
}

class alignas(64) CounterBlock {
 public:
  // Only called by the thread that owns the block.
  void add(Counter counter, std::uint64_t count = 1) {
    auto& value = values_[static_cast<std::size_t>(counter)];
    value.store(value.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  }
  std::uint64_t get(Counter counter) const {
    return values_[static_cast<std::size_t>(counter)].load(std::memory_order_relaxed);
  }

  Latencies latencies;

 private:
  std::array<std::atomic<std::uint64_t>, counter_count> values_{};
};

// All blocks of a process.
class CounterSet : public BlockSet<CounterBlock> {
 public:
  std::uint64_t sum(Counter counter) const {
    std::uint64_t total = 0;
    for_each([&](const CounterBlock& block) { total += block.get(counter); });
    return total;
  }
  Latency latency_of(RequestKind kind) const {
    Latency total;
    for_each([&](const CounterBlock& block) { block.latencies.add_up(kind, total); });
    return total;
  }
};

// What one thread counts: a block for each port that it serves, in the order of their numbers. What
// belongs to no port is counted with the first. The sets outlive it.
class ThreadCounters {
 public:
  explicit ThreadCounters(std::vector<CounterSet*> of_ports) : sets_(std::move(of_ports)) {
    blocks_.reserve(sets_.size());
    for (CounterSet* const set : sets_) blocks_.push_back(&set->new_block());
  }
  ThreadCounters(const ThreadCounters&) = delete;
  ThreadCounters& operator=(const ThreadCounters&) = delete;
  ~ThreadCounters() {
    for (std::size_t port = 0; port < blocks_.size(); ++port)
      sets_[port]->give_back(*blocks_[port]);
  }

  CounterBlock& of(std::size_t port) { return *blocks_[port]; }
  CounterBlock& own() { return *blocks_.front(); }
  const std::vector<CounterBlock*>& blocks() const { return blocks_; }

 private:
  const std::vector<CounterSet*> sets_;
  std::vector<CounterBlock*> blocks_;
};

}  // namespace hs
