// Single values are in the test vectors (vectors_test.cc). Here are those of every length.
#include "handlersocket/protocol/escape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>

namespace hs::handlersocket {
namespace {

// The definition of escaping, byte by byte.
std::string plainly_escaped(std::string_view bytes) {
  std::string escaped;
  for (const char byte : bytes) {
    const auto code = static_cast<unsigned char>(byte);
    if (code < 0x10) {
      escaped += '\x01';
      escaped += static_cast<char>(code + 0x40);
    } else {
      escaped += byte;
    }
  }
  return escaped;
}

std::string escape(std::string_view bytes) {
  Buffer out;
  append_escaped(out, bytes);
  return std::string(out.view());
}

std::string unescape(std::string_view token) {
  Buffer out;
  EXPECT_TRUE(append_unescaped(out, token));
  return std::string(out.view());
}

bool is_refused(std::string_view token) {
  Buffer out;
  out.append("before");
  const bool accepted = append_unescaped(out, token);
  EXPECT_TRUE(accepted || out.view() == "before");
  return !accepted;
}

// Every length at every alignment. The share of bytes to escape goes from none to all. The bytes
// are at the very end of their allocation.
TEST(Escape, RoundTripOfEveryLengthAtEveryAlignment) {
  std::mt19937 random(3);
  for (std::size_t length = 0; length <= 100; ++length) {
    for (std::size_t alignment = 0; alignment < 16; ++alignment) {
      for (const unsigned special_in : {1U, 2U, 20U, 1000U}) {
        const auto memory = std::make_unique<char[]>(alignment + length);
        for (std::size_t i = 0; i < length; ++i) {
          const bool special = random() % special_in == 0;
          memory[alignment + i] =
              static_cast<char>(special ? random() % 0x10 : 0x10 + random() % 0xf0);
        }
        const std::string_view bytes(memory.get() + alignment, length);
        Buffer out;
        out.append(std::string_view("previous reply").substr(0, alignment));
        append_escaped(out, bytes);
        const std::string_view escaped = out.view(std::min<std::size_t>(alignment, 14), out.size());
        ASSERT_EQ(escaped, plainly_escaped(bytes));
        ASSERT_EQ(unescape(escaped), bytes);
      }
    }
  }
}

TEST(Escape, AppendsBehindWhatIsThere) {
  Buffer out;
  out.append("key");
  append_escaped(out, {"\t", 1});
  append_escaped(out, "");
  EXPECT_EQ(out.view(), "key\x01\x49");
  EXPECT_TRUE(append_unescaped(out, "\x01\x49"));
  EXPECT_TRUE(append_unescaped(out, ""));
  EXPECT_EQ(out.view(), "key\x01\x49\t");
}

TEST(Escape, RefusesEveryWrongEscape) {
  for (int code = 0; code < 256; ++code) {
    const std::string token = {'\x01', static_cast<char>(code)};
    EXPECT_EQ(is_refused(token), code < 0x40 || code > 0x4f) << code;
  }
  // The bytes behind the token do not count.
  EXPECT_TRUE(is_refused(std::string_view("\x01\x40").substr(0, 1)));
  for (std::size_t before = 0; before < 40; ++before) {
    EXPECT_TRUE(is_refused(std::string(before, 'x') + "\x01"));
    EXPECT_TRUE(is_refused(std::string(before, 'x') + "\x01P" + std::string(20, 'y')));
  }
}

// 16 MiB without a byte to escape must not reserve as much as 16 MiB that are escaped everywhere.
TEST(Escape, LargePlainValueReservesLittleMoreThanItself) {
  constexpr std::size_t size = std::size_t{16} << 20;
  const std::string bytes(size, 'x');
  Buffer out;
  append_escaped(out, bytes);
  EXPECT_EQ(out.view(), bytes);
  EXPECT_LE(out.capacity(), 2 * size);
}

TEST(Escape, LargeValueOfNothingButSpecialBytes) {
  const std::string bytes(100'000, '\0');
  const std::string escaped = escape(bytes);
  EXPECT_EQ(escaped.size(), 2 * bytes.size());
  EXPECT_EQ(unescape(escaped), bytes);
}

}  // namespace
}  // namespace hs::handlersocket
