// Latency: how many requests of each kind were answered, and in what time, in buckets. The kinds are
// what can be asked of a store, whatever the protocol calls it.
//
// Each counter block has one. Only the thread that owns the block adds to it; any thread may read
// it. Nothing here reads a clock. What the times are, from where to where, says docs/configuration.md.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace hs {

enum class RequestKind : std::uint8_t {
  open,
  find,
  count,
  update,
  erase,
  insert,
  group,
  log_in,
  count_
};

inline constexpr std::size_t request_kind_count = static_cast<std::size_t>(RequestKind::count_);

// As status variables and tables name them. Programs read these names, so they stay.
inline constexpr std::array<std::string_view, request_kind_count> request_kind_names{
    "open_index", "find", "count", "update", "delete", "insert", "group", "auth"};

// Empty for count_.
constexpr std::string_view name_of(RequestKind kind) {
  return kind == RequestKind::count_ ? std::string_view{}
                                     : request_kind_names[static_cast<std::size_t>(kind)];
}

// So many requests of each kind, and the kind of the last one.
struct RequestCounts {
  std::array<std::uint32_t, request_kind_count> of_kind{};
  RequestKind last = RequestKind::count_;  // count_: there was none

  void add(RequestKind kind) {
    ++of_kind[static_cast<std::size_t>(kind)];
    last = kind;
  }
};

// Bucket 0 has the times below 1 µs, bucket n those from 2^(n-1) to 2^n µs, and the last one all
// that are longer: from 33.6 s on.
inline constexpr std::size_t latency_bucket_count = 27;

constexpr std::size_t latency_bucket_of(std::uint64_t us) {
  return std::min(static_cast<std::size_t>(std::bit_width(us)), latency_bucket_count - 1);
}
// Where the bucket begins, and where it ends, in µs.
constexpr std::uint64_t latency_bucket_low(std::size_t bucket) {
  return bucket == 0 ? 0 : std::uint64_t{1} << (bucket - 1);
}
constexpr std::uint64_t latency_bucket_high(std::size_t bucket) {
  return bucket + 1 == latency_bucket_count ? std::numeric_limits<std::uint64_t>::max()
                                            : std::uint64_t{1} << bucket;
}

// The buckets whose ends status variables show, for programs that cannot read the table of all
// buckets. Each end is four times the one before, from 128 µs to 2.1 s. Below the first is a request
// that waits for nothing, and above the last no client waits.
inline constexpr std::array<std::size_t, 8> shown_latency_buckets{7, 9, 11, 13, 15, 17, 19, 21};

// The times of the requests of one kind.
struct Latency {
  std::array<std::uint64_t, latency_bucket_count> buckets{};
  std::uint64_t sum_us = 0;

  // Those in the bucket and in lower ones.
  std::uint64_t count_up_to(std::size_t bucket) const {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i <= bucket; ++i) total += buckets[i];
    return total;
  }
  std::uint64_t count() const { return count_up_to(latency_bucket_count - 1); }
};

class Latencies {
 public:
  // Only the owner: so many requests of each kind were answered after `ns` nanoseconds.
  void add(const RequestCounts& answered, std::uint64_t ns) {
    for (std::size_t kind = 0; kind < request_kind_count; ++kind) {
      if (answered.of_kind[kind] != 0) add_to(kinds_[kind], answered.of_kind[kind], ns / 1000);
    }
  }

  // Adds what it has of the kind to `sum`.
  void add_up(RequestKind kind, Latency& sum) const {
    const Times& times = kinds_[static_cast<std::size_t>(kind)];
    for (std::size_t i = 0; i < latency_bucket_count; ++i) {
      sum.buckets[i] += times.buckets[i].load(std::memory_order_relaxed);
    }
    sum.sum_us += times.sum_us.load(std::memory_order_relaxed);
  }

 private:
  struct Times {
    std::array<std::atomic<std::uint64_t>, latency_bucket_count> buckets{};
    std::atomic<std::uint64_t> sum_us{0};
  };

  static void raise(std::atomic<std::uint64_t>& value, std::uint64_t by) {
    value.store(value.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  static void add_to(Times& times, std::uint32_t count, std::uint64_t us) {
    raise(times.buckets[latency_bucket_of(us)], count);
    raise(times.sum_us, count * us);
  }

  std::array<Times, request_kind_count> kinds_{};
};

}  // namespace hs
