// SharedCounters: numbers that clients of all protocols add to, and what is known of them.
//
// Each addition is of one. So the sums that were answered are all different, however the additions meet: one
// that was lost or done twice is seen at once, or in the end by what is stored.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "simulator/tables.h"

namespace hs::simulator {

class SharedCounters {
 public:
  // Two strings of the container `default`, and the column v of two rows of `h`. All begin with 0.
  static constexpr std::size_t strings = 2;
  static constexpr std::size_t rows = 2;
  static constexpr std::size_t count = strings + rows;
  // The key in its table.
  static std::string key(std::size_t number) {
    return number < strings ? "shared" + std::to_string(number)
                            : std::to_string(number - strings + 1);
  }

  // Somebody may ask for an addition.
  void asked(std::size_t number) { ++of_[number].asked; }
  // It was answered that this addition has failed.
  void refused(std::size_t number) { ++of_[number].refused; }
  // It was answered that it was done, with the sum or without.
  void acknowledged(std::size_t number, std::optional<std::uint64_t> sum);
  // Somebody has read it.
  void seen(std::size_t number, std::uint64_t sum) const;
  // When the server has stopped.
  void check(const Tables& tables) const;

 private:
  struct Counter {
    std::uint64_t asked = 0;
    std::uint64_t refused = 0;
    std::uint64_t acknowledged = 0;
    std::set<std::uint64_t> sums{};
  };
  std::array<Counter, count> of_;
};

// What one client has seen of them. They only grow.
class SeenCounters {
 public:
  explicit SeenCounters(SharedCounters& shared) : shared_(shared) {}
  SharedCounters& shared() { return shared_; }
  void acknowledged(std::size_t number, std::uint64_t sum);
  void read(std::size_t number, std::uint64_t sum);

 private:
  SharedCounters& shared_;
  std::array<std::uint64_t, SharedCounters::count> last_{};
};

}  // namespace hs::simulator
