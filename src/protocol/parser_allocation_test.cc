// Parsing is on the hot path: once warm it must not allocate.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string_view>

#include "protocol/parser.h"

namespace {

std::atomic<std::size_t> allocations{0};

void* counted_allocation(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

// For the whole test program. Not inlined, because the compiler would take a
// malloc that meets a delete for a mistake.
[[gnu::noinline]] void* operator new(std::size_t size) { return counted_allocation(size); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return counted_allocation(size); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace hs::protocol {
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
  EXPECT_GT(warm, cold);  // else nothing is counted
  for (int round = 0; round < 100; ++round) {
    for (const std::string_view line : lines) (void)parser.parse(line, request);
  }
  EXPECT_EQ(allocations, warm);
}

}  // namespace
}  // namespace hs::protocol
