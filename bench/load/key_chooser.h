// KeyChooser: chooses the key of the next request.
//
// It owns its random numbers, and each client thread has one. The threads share only the newest key
// that was inserted, in an atomic of the caller's. It allocates nothing after the constructor.
#pragma once

#include <atomic>
#include <cstdint>
#include <random>

namespace hs::bench {

enum class Distribution : std::uint8_t {
  uniform,
  zipfian,     // YCSB's: a few keys get most requests; these keys are scattered over the range
  latest,      // YCSB's: the newer a key is, the more often it is chosen
  hot,         // uniform over `hot_keys` keys, evenly spread over the range
  sequential,  // one after the other, then from the beginning again
};

struct KeyRange {
  std::uint64_t first = 1;
  std::uint64_t count = 1'000'000;
  std::uint64_t hot_keys = 1'000;
  Distribution distribution = Distribution::uniform;
  double skew = 0.99;  // of the Zipf distribution
};

// Ranks from 0 to count - 1. The first ranks come most often (Gray and others, "Quickly generating
// billion-record synthetic databases").
class ZipfRanks {
 public:
  ZipfRanks(std::uint64_t count, double skew);
  // `uniform` is a random number from 0 to 1, 1 excluded.
  std::uint64_t rank(double uniform) const;

 private:
  double count_;
  double skew_;
  double zeta_ = 0;  // the sum of 1 / i^skew
  double eta_ = 0;
  double alpha_ = 0;
};

class KeyChooser {
 public:
  // `newest` is the greatest key that exists; insert() increases it.
  KeyChooser(const KeyRange& range, std::atomic<std::uint64_t>& newest, std::uint64_t seed);

  std::uint64_t existing();
  std::uint64_t insert() { return newest_.fetch_add(1, std::memory_order_relaxed) + 1; }
  // From 0 to `bound` - 1.
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<Wide>(random_()) * bound) >> 64);
  }

 private:
  __extension__ using Wide = unsigned __int128;

  double fraction() { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }

  KeyRange range_;
  std::atomic<std::uint64_t>& newest_;
  std::mt19937_64 random_;
  ZipfRanks ranks_;
  std::uint64_t next_ = 0;
};

}  // namespace hs::bench
