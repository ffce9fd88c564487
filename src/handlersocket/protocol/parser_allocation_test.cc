// Parsing is on the hot path. After the first lines it must not allocate. The memory of a very
// large line is given back.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

#include "handlersocket/protocol/parser.h"

namespace {

std::atomic<std::size_t> allocations{0};
std::atomic<std::size_t> largest{0};  // of the allocations, and of those that were freed
std::atomic<std::size_t> largest_freed{0};

void* counted_allocation(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  largest = std::max(largest.load(), size);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

void counted_free(void* memory, std::size_t size) {
  largest_freed = std::max(largest_freed.load(), size);
  std::free(memory);
}

}  // namespace

// For the whole test program. They are not inlined, because the compiler would warn of a malloc
// that meets a delete. The nothrow form is there because GoogleTest sorts with such memory.
[[gnu::noinline]] void* operator new(std::size_t size) { return counted_allocation(size); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return counted_allocation(size); }
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept try {
  return counted_allocation(size);
} catch (const std::bad_alloc&) {
  return nullptr;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t size) noexcept {
  counted_free(memory, size);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace hs::handlersocket {
namespace {

TEST(ParserAllocation, NoneOnceWarm) {
  constexpr std::string_view lines[] = {
      "1\t=\t1\t123456",
      "1\t=\t1\t\t10\t0\t@\t0\t3\ta\tb\tc\tF\t=\t0\td\tW\t<\t1\te\tU\tx\ty",
      "1\t+\t3\ta\x01\x49\tb\x01\x40\tc",
      "P\t1\tdb\tt\tPRIMARY\ta,b,c",
      "A\t1\ta\x01\x40",
      "1\t=\t99999\ta",
  };
  Parser parser;
  Request request;
  const std::size_t cold = allocations;
  for (const std::string_view line : lines) (void)parser.parse(line, request);
  const std::size_t warm = allocations;
  EXPECT_GT(warm, cold);  // otherwise nothing is counted
  for (int round = 0; round < 100; ++round) {
    for (const std::string_view line : lines) (void)parser.parse(line, request);
  }
  EXPECT_EQ(allocations, warm);
}

TEST(ParserAllocation, OfALargeLineIsGivenBack) {
  std::string line = "1\t=\t1\t0\t1\t0\t@\t0\t200000";
  for (int i = 0; i < 200'000; ++i) line += "\t7";
  Parser parser;
  Request request;
  largest = largest_freed = 0;
  ASSERT_TRUE(parser.parse(line, request).ok());
  ASSERT_EQ(request.selection.in.values.size(), 200'000U);
  EXPECT_GE(largest, 200'000 * sizeof(Value));
  EXPECT_LT(largest_freed, largest);
  parser.give_back();
  EXPECT_EQ(largest_freed, largest);
}

}  // namespace
}  // namespace hs::handlersocket
