#include "handlersocket/protocol/block.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>

namespace hs::handlersocket {
namespace {

template <typename AnyBlock>
class BlockTest : public testing::Test {};

#ifdef __SSE2__
using Blocks = testing::Types<PortableBlock, SseBlock>;
#else
using Blocks = testing::Types<PortableBlock>;
#endif
TYPED_TEST_SUITE(BlockTest, Blocks);

TYPED_TEST(BlockTest, FindsEachByteAtEachPlace) {
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t place = 0; place < TypeParam::size; ++place) {
      std::string bytes(TypeParam::size, static_cast<char>(byte ^ 0x80));
      bytes[place] = static_cast<char>(byte);
      EXPECT_EQ(TypeParam::load(bytes.data()).equal_to(static_cast<char>(byte)), 1U << place);
    }
  }
}

TYPED_TEST(BlockTest, ComparesBytesAsUnsigned) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string bytes(TypeParam::size, static_cast<char>(byte));
    for (int bound = 1; bound < 256; ++bound) {
      const std::uint32_t mask =
          TypeParam::load(bytes.data()).below(static_cast<unsigned char>(bound));
      ASSERT_EQ(mask, byte < bound ? 0xffffU : 0U) << byte << " below " << bound;
    }
  }
}

// The bytes are at the very end of their allocation, so ASan notices if one more is read.
TYPED_TEST(BlockTest, LoadsShortRunsAndZerosBehindThem) {
  std::mt19937 random(1);
  for (std::size_t count = 0; count < TypeParam::size; ++count) {
    const auto bytes = std::make_unique<char[]>(count);
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(random());
    std::string expected(bytes.get(), count);
    expected.resize(TypeParam::size, '\0');
    std::string stored(TypeParam::size, 'x');
    TypeParam::load_short(bytes.get(), count).store(stored.data());
    EXPECT_EQ(stored, expected) << count;
  }
}

}  // namespace
}  // namespace hs::handlersocket
