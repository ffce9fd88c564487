// Histogram: how often each latency was seen, in nanoseconds.
//
// It has HdrHistogram's layout (exact below 2,048 ns, within 0.1 % above, up to a limit). It is
// written here because HdrHistogram's C library is in no Debian release. It has a fixed size and
// allocates nothing after the constructor. It belongs to one thread; merge() joins the histograms
// of several threads after they have ended.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hs::bench {

class Histogram {
 public:
  // About 73 minutes. A longer time counts as this one.
  static constexpr std::uint64_t greatest = (std::uint64_t{1} << 42) - 1;

  Histogram() : counts_(slot_of(greatest) + 1) {}

  void record(std::uint64_t nanoseconds, std::uint64_t count = 1) {
    const std::uint64_t value = std::min(nanoseconds, greatest);
    counts_[slot_of(value)] += count;
    total_ += count;
    max_ = std::max(max_, value);
  }

  void merge(const Histogram& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    total_ += other.total_;
    max_ = std::max(max_, other.max_);
  }

  std::uint64_t total() const { return total_; }
  std::uint64_t max() const { return max_; }

  // The smallest value that is not exceeded by this `share` (0 to 1) of all values; 0 if there are
  // no values.
  std::uint64_t at(double share) const {
    // Slightly less: otherwise, by rounding, 0.07 of 100 values would be more than 7.
    const double exact = share * static_cast<double>(total_) - 1e-6;
    const auto wanted = static_cast<std::uint64_t>(std::ceil(std::max(exact, 0.0)));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen != 0 && seen >= wanted) return std::min(last_value_of(i), max_);
    }
    return max_;
  }

 private:
  // Each power of two is divided into so many slots. The first has twice as many.
  static constexpr int slot_bits = 10;

  static std::size_t slot_of(std::uint64_t value) {
    const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - slot_bits - 1);
    return (static_cast<std::size_t>(shift) << slot_bits) + (value >> shift);
  }
  static std::uint64_t last_value_of(std::size_t slot) {
    if (slot < std::size_t{2} << slot_bits) return slot;
    const std::size_t shift = (slot >> slot_bits) - 1;
    const std::uint64_t scaled = slot - (shift << slot_bits);
    return ((scaled + 1) << shift) - 1;
  }

  std::vector<std::uint64_t> counts_;
  std::uint64_t total_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace hs::bench
