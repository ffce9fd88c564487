#include "base/seen_keys.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace hs {
namespace {

TEST(SeenKeys, TellsKeysApart) {
  SeenKeys seen;
  for (int round = 0; round < 3; ++round) {
    seen.clear(1000);
    for (std::size_t size = 0; size < 40; ++size) {
      for (const char letter : {'\0', 'a', 'b'}) {
        std::string key(size, letter);
        EXPECT_EQ(seen.insert(key), size != 0 || letter == '\0') << size;
        EXPECT_FALSE(seen.insert(key));
        if (size == 0) continue;
        key.back() = 'c';
        EXPECT_EQ(seen.insert(key), size != 1 || letter == '\0');
      }
    }
  }
}

TEST(SeenKeys, ForgetsAfterAnUnusuallyLargeRequest) {
  SeenKeys seen;
  seen.clear(200'000);
  for (int i = 0; i < 200'000; ++i) {
    ASSERT_TRUE(seen.insert("a key of some length " + std::to_string(i)));
  }
  seen.clear(3);
  EXPECT_TRUE(seen.insert("a key of some length 1"));
  EXPECT_FALSE(seen.insert("a key of some length 1"));
}

// libstdc++'s std::hash of bytes is MurmurHash64A with a fixed seed. For any first eight bytes it
// can be computed which next eight bytes give a wanted hash.
constexpr std::uint64_t murmur_multiplier = 0xc6a4a7935bd1e995;

std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t result = odd;
  for (int i = 0; i < 6; ++i) result *= 2 - odd * result;
  return result;
}

std::uint64_t shifted(std::uint64_t word) { return word ^ (word >> 47); }

// Keys of 16 bytes that have the same std::hash.
std::vector<std::string> colliding_keys(std::uint64_t count) {
  constexpr std::uint64_t seed = 0xc70f6907;
  const std::uint64_t m = murmur_multiplier;
  const std::uint64_t m_inverse = inverse(m);
  std::vector<std::string> keys;
  for (std::uint64_t first = 1; first <= count; ++first) {
    std::uint64_t hash = seed ^ (16 * m);
    hash = (hash ^ (shifted(first * m) * m)) * m;
    const std::uint64_t second = shifted(hash * m_inverse) * m_inverse;  // this makes the hash 0
    std::string key(16, '\0');
    std::memcpy(key.data(), &first, 8);
    std::memcpy(key.data() + 8, &second, 8);
    keys.push_back(key);
  }
  return keys;
}

TEST(KeyedHash, NoKeysCanBeMadeToMeet) {
  const KeyedHash hash;
  std::set<std::uint64_t> hashes;
  const std::vector<std::string> keys = colliding_keys(10'000);
  for (const std::string& key : keys) hashes.insert(hash(key));
  EXPECT_EQ(hashes.size(), keys.size());
  EXPECT_NE(hash(keys[0]), KeyedHash()(keys[0])) << "each has a key of its own";
}

TEST(KeyedHash, EveryByteAndTheLengthCount) {
  const KeyedHash hash;
  std::set<std::uint64_t> hashes;
  std::size_t made = 0;
  for (std::size_t size = 0; size < 64; ++size) {
    std::string key(size, '\0');
    hashes.insert(hash(key));
    ++made;
    for (std::size_t at = 0; at < size; ++at) {
      for (const char byte : {'\1', '\x7f', '\xff'}) {
        key[at] = byte;
        hashes.insert(hash(key));
        ++made;
      }
      key[at] = '\0';
    }
  }
  EXPECT_EQ(hashes.size(), made);
}

// If all keys were in one chain, this would take minutes. The test's time-out is the limit.
TEST(SeenKeys, KeysMadeToCollideAreAsQuickAsAny) {
  const std::vector<std::string> keys = colliding_keys(400'000);
#ifdef __GLIBCXX__
  EXPECT_EQ(std::hash<std::string_view>{}(keys[0]), std::hash<std::string_view>{}(keys[399'999]));
#endif
  SeenKeys seen;
  seen.clear(keys.size());
  for (const std::string& key : keys) ASSERT_TRUE(seen.insert(key));
  for (const std::string& key : keys) ASSERT_FALSE(seen.insert(key));
}

}  // namespace
}  // namespace hs
