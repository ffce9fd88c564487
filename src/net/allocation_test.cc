// No memory: an allocation that fails costs one connection at most. The worker, the streamer and
// all other connections go on.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>

#include "net/server.h"
#include "net/test_support.h"

namespace hs::net::test {

thread_local bool allocations_may_fail = false;

namespace {

constexpr long never = std::numeric_limits<long>::max();

// So many allocations of the application's threads will succeed. The one after them fails.
std::atomic<long> allocations_left{never};

void* allocate(std::size_t size) {
  const bool fails = allocations_may_fail && allocations_left.load() != never &&
                     allocations_left.fetch_sub(1) == 0;
  void* const memory = fails ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace
}  // namespace hs::net::test

// For the whole test program. They are not inlined, because the compiler would warn of a malloc
// that meets a delete. The nothrow form is there because GoogleTest sorts with such memory.
[[gnu::noinline]] void* operator new(std::size_t size) { return hs::net::test::allocate(size); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return hs::net::test::allocate(size); }
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept try {
  return hs::net::test::allocate(size);
} catch (const std::bad_alloc&) {
  return nullptr;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace hs::net::test {
namespace {

// A dialogue with everything that allocates: a connection, a rest that is kept, large replies that
// the socket does not take at once, and a long find. Every reply that comes must be complete and in
// its place.
void talk(unsigned port) {
  Client client = Client::tcp(port, 64 << 10);
  if (!client.send("hello\nbig 3000000\nstream 3 1000\nhal") || client.line() != "hello") return;
  for (const std::string& expected :
       {std::string(3'000'000, 'b'), std::string(3000, 's') + "end"}) {
    const std::string line = client.line();
    if (line == "<end>" || line == "<error>") return;
    ASSERT_EQ(line.size(), expected.size());
    ASSERT_EQ(line, expected);
  }
  if (!client.send("f\n")) return;
  const std::string line = client.line();
  EXPECT_TRUE(line == "half" || line == "<end>" || line == "<error>") << line;
}

TEST(Allocations, ThatFailCostOneConnection) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  Client bystander = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(bystander.send("here\n"));
  ASSERT_EQ(bystander.line(), "here");
  // Until a whole dialogue no longer meets the failure.
  long failed_at = 0;
  for (bool met = true; met && failed_at < 1000; ++failed_at) {
    allocations_left = failed_at;
    talk(fixture.server.bound_port());
    met = allocations_left.exchange(never) < 0;
    ASSERT_TRUE(bystander.send("still here\n"));
    ASSERT_EQ(bystander.line(), "still here") << "after allocation " << failed_at << " failed";
  }
  EXPECT_GT(failed_at, 4);
  EXPECT_TRUE(eventually([&] { return fixture.server.connections() == 1; }));
  EXPECT_EQ(fixture.board.stopped, 0U) << "a thread has left";
  talk(fixture.server.bound_port());
  EXPECT_EQ(fixture.board.shared_dialogues, 0U);
}

}  // namespace
}  // namespace hs::net::test
