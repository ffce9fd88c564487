#include "mysqld/store/found_rows.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/give_back.h"

namespace hs::mysqld {
namespace {

constexpr std::size_t max_bytes = std::size_t{256} << 20;
// Larger memory is given back after its request.
constexpr std::size_t max_kept = std::size_t{64} << 10;

}  // namespace

bool FoundRows::add(const unsigned char* position, std::size_t in_number) {
  char* const to = positions_.reserve(stride_);
  std::memcpy(to, position, length_);
  const auto number = static_cast<InNumber>(in_number);
  if (stride_ != length_) std::memcpy(to + length_, &number, sizeof(number));
  positions_.advance(stride_);
  if (positions_.size() <= max_bytes) return true;
  drop_repeated();
  return positions_.size() <= max_bytes / 2;
}

void FoundRows::drop_repeated() {
  order_.resize(size());
  std::iota(order_.begin(), order_.end(), 0U);
  const auto compare = [&](std::uint32_t a, std::uint32_t b) {
    return std::memcmp(at(a), at(b), length_);
  };
  std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    const int order = compare(a, b);
    return order != 0 ? order < 0 : a < b;
  });
  const auto last =
      std::unique(order_.begin(), order_.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return compare(a, b) == 0; });
  order_.erase(last, order_.end());
  std::sort(order_.begin(), order_.end());
  std::size_t kept = 0;
  for (const std::uint32_t number : order_) std::memmove(at(kept++), at(number), stride_);
  positions_.truncate(order_.size() * stride_);
}

std::size_t FoundRows::in_number(std::size_t number) const {
  InNumber kept = 0;
  if (stride_ != length_)
    std::memcpy(&kept, positions_.data() + number * stride_ + length_, sizeof(kept));
  return kept;
}

void FoundRows::give_back() {
  if (positions_.capacity() > max_kept) [[unlikely]]
    positions_.free_memory();
  hs::give_back(order_, max_kept);
}

}  // namespace hs::mysqld
