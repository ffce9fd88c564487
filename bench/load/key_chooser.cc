#include "load/key_chooser.h"

#include <algorithm>
#include <cmath>

namespace hs::bench {
namespace {

// Makes ranks that are neighbours into rows that are not.
std::uint64_t scatter(std::uint64_t rank) {
  rank += 0x9e3779b97f4a7c15U;
  rank = (rank ^ (rank >> 30)) * 0xbf58476d1ce4e5b9U;
  rank = (rank ^ (rank >> 27)) * 0x94d049bb133111ebU;
  return rank ^ (rank >> 31);
}

bool is_skewed(Distribution distribution) {
  return distribution == Distribution::zipfian || distribution == Distribution::latest;
}

}  // namespace

ZipfRanks::ZipfRanks(std::uint64_t count, double skew)
    : count_(static_cast<double>(count)), skew_(skew) {
  for (std::uint64_t i = 1; i <= count; ++i) zeta_ += std::pow(static_cast<double>(i), -skew);
  const double zeta_two = 1 + std::pow(2, -skew);
  alpha_ = 1 / (1 - skew);
  eta_ = (1 - std::pow(2 / count_, 1 - skew)) / (1 - zeta_two / zeta_);
}

std::uint64_t ZipfRanks::rank(double uniform) const {
  const double scaled = uniform * zeta_;
  if (scaled < 1) return 0;
  if (scaled < 1 + std::pow(0.5, skew_)) return 1;
  const double rank = count_ * std::pow(eta_ * uniform - eta_ + 1, alpha_);
  return static_cast<std::uint64_t>(std::clamp(rank, 0.0, count_ - 1));
}

KeyChooser::KeyChooser(const KeyRange& range, std::atomic<std::uint64_t>& newest,
                       std::uint64_t seed)
    : range_(range),
      newest_(newest),
      random_(seed),
      // The sum over all ranks takes a while, so it is made only for a distribution that needs it.
      ranks_(is_skewed(range.distribution) ? range.count : 1, range.skew) {}

std::uint64_t KeyChooser::existing() {
  switch (range_.distribution) {
    case Distribution::uniform: return range_.first + below(range_.count);
    case Distribution::zipfian:
      return range_.first + scatter(ranks_.rank(fraction())) % range_.count;
    case Distribution::latest:
      return newest_.load(std::memory_order_relaxed) - ranks_.rank(fraction());
    case Distribution::hot: {
      const std::uint64_t keys = std::min(range_.hot_keys, range_.count);
      return range_.first + below(keys) * (range_.count / keys);
    }
    case Distribution::sequential: break;
  }
  const std::uint64_t key = range_.first + next_;
  next_ = next_ + 1 == range_.count ? 0 : next_ + 1;
  return key;
}

}  // namespace hs::bench
