#include "passes/failed_tries.h"

#include <gtest/gtest.h>

namespace hs::passes {
namespace {

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t start = 5 * second;

FailedTries::Network address(std::uint16_t number) {
  FailedTries::Network network{};
  network[0] = 4;
  network[1] = static_cast<unsigned char>(number >> 8);
  network[2] = static_cast<unsigned char>(number & 255);
  return network;
}

int taken(FailedTries& tries, const FailedTries::Network& network, std::uint64_t now) {
  int count = 0;
  while (count < 1000 && tries.take(network, now)) ++count;
  return count;
}

TEST(FailedTries, AnAddressHasSoManyASecond) {
  FailedTries tries(10);
  EXPECT_EQ(taken(tries, address(1), start), 10);
  EXPECT_FALSE(tries.has_room(address(1), start));
  EXPECT_FALSE(tries.has_room(address(1), start + second / 20));
  EXPECT_EQ(taken(tries, address(1), start + second / 10), 1);
  EXPECT_EQ(taken(tries, address(1), start + second), 9);
  EXPECT_EQ(taken(tries, address(1), start + 100 * second), 10);
}

TEST(FailedTries, AnotherAddressHasItsOwn) {
  FailedTries tries(10);
  EXPECT_EQ(taken(tries, address(1), start), 10);
  EXPECT_TRUE(tries.has_room(address(2), start));
  EXPECT_EQ(taken(tries, address(2), start), 10);
}

TEST(FailedTries, ARightTryCostsNothing) {
  FailedTries tries(10);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(tries.take(address(1), start));
    tries.give_back(address(1));
  }
  EXPECT_EQ(taken(tries, address(1), start), 10);
}

TEST(FailedTries, TheNumberMayChange) {
  FailedTries tries(10);
  EXPECT_EQ(taken(tries, address(1), start), 10);
  tries.set_most_a_second(1000);
  EXPECT_EQ(taken(tries, address(1), start + second / 10), 100);
}

TEST(FailedTries, AClockThatStandsStill) {
  FailedTries tries(10);
  EXPECT_EQ(taken(tries, address(1), start), 10);
  EXPECT_FALSE(tries.take(address(1), start - 1));
  EXPECT_FALSE(tries.take(address(1), 0));
}

TEST(FailedTries, RemembersTheAddressesThatHaveTriedLast) {
  FailedTries tries(1);
  constexpr auto most = static_cast<std::uint16_t>(FailedTries::most_addresses);
  for (std::uint16_t i = 0; i < most; ++i) ASSERT_TRUE(tries.take(address(i), start));
  ASSERT_TRUE(tries.take(address(most), start));
  EXPECT_FALSE(tries.has_room(address(1), start));
  EXPECT_FALSE(tries.has_room(address(most), start));
  EXPECT_TRUE(tries.has_room(address(0), start)) << "forgotten";
}

TEST(FailedTries, TheLogIsToldOnceASecond) {
  FailedTries tries(1000);
  const auto try_once = [&](std::uint64_t now) {
    EXPECT_TRUE(tries.take(address(1), now));
    return tries.to_be_logged(address(1), now);
  };
  EXPECT_EQ(try_once(start), 1U);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(try_once(start + second / 2), 0U);
  EXPECT_EQ(try_once(start + second), 6U);
  EXPECT_EQ(try_once(start + second + 1), 0U);
}

TEST(FailedTries, TheLogIsToldOfFewAddressesAtOnce) {
  FailedTries tries(1000);
  std::uint64_t lines = 0;
  for (std::uint16_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(tries.take(address(i), start));
    lines += tries.to_be_logged(address(i), start) != 0 ? 1 : 0;
  }
  EXPECT_EQ(lines, 1U);
  EXPECT_EQ(tries.to_be_logged(address(7), start + second), 2U);
}

}  // namespace
}  // namespace hs::passes
