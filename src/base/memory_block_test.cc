// A block keeps its bytes, however it grows, and of a large one there is never a second copy.
#include "base/memory_block.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "base/buffer.h"

namespace hs {
namespace {

constexpr std::size_t kib = 1024;

TEST(MemoryBlock, KeepsWhatIsInItWhenItGrowsAndShrinks) {
  MemoryBlock block;
  EXPECT_EQ(block.size(), 0U);
  std::size_t used = 0;
  for (const std::size_t size :
       {1 * kib, 100 * kib, 128 * kib, 300 * kib + 1, 5000 * kib, 200 * kib, 127 * kib, 3 * kib}) {
    used = std::min(used, size);
    block.resize(size, used);
    ASSERT_EQ(block.size(), size);
    for (std::size_t i = 0; i < used; ++i) ASSERT_EQ(block.get()[i], static_cast<char>(i % 251));
    for (std::size_t i = used; i < size; ++i) block.get()[i] = static_cast<char>(i % 251);
    used = size;
  }
  MemoryBlock other = std::move(block);
  EXPECT_EQ(block.size(), 0U);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(other.get()[1000], static_cast<char>(1000 % 251));
}

TEST(MemoryBlock, SaysWhatAResizeTakes) {
  MemoryBlock block;
  EXPECT_EQ(block.cost_of_resize(100), 100U);
  block.resize(100 * kib, 0);
  EXPECT_EQ(block.cost_of_resize(120 * kib), 120 * kib) << "both are there for a moment";
  EXPECT_EQ(block.cost_of_resize(200 * kib), 200 * kib);
  block.resize(200 * kib, 0);
  EXPECT_EQ(block.cost_of_resize(300 * kib), 100 * kib) << "it grows where it is";
  EXPECT_EQ(block.cost_of_resize(150 * kib), 0U);
}

TEST(Buffer, TakesNoMoreThanItNeedsAtFirst) {
  Buffer buffer;
  buffer.append("x");
  EXPECT_EQ(buffer.capacity(), 256U);
  buffer.append(std::string_view("yyyy"));
  buffer.reserve(1000);
  EXPECT_EQ(buffer.capacity(), 1005U);
  buffer.reserve(1001);
  EXPECT_EQ(buffer.capacity(), 2010U);
  EXPECT_EQ(buffer.view(), "xyyyy");
  Buffer large;
  large.reserve(1000 * kib);
  EXPECT_EQ(large.capacity(), 1000 * kib);
}

}  // namespace
}  // namespace hs
