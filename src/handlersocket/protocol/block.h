// Block: sixteen bytes that are examined together.
//
// A plain value in a register, for any thread. It loads exactly the bytes that it is asked for and
// never one more, because a line is a view into a larger buffer. What depends on the machine is in
// this file; the rest of protocol/ is the same on every machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace hs::handlersocket {

// For any machine. In a mask, bit i is set if the answer is yes for byte i.
class PortableBlock {
 public:
  static constexpr std::size_t size = 16;

  static PortableBlock load(const char* from) { return load_short(from, size); }
  // Loads the first `count` bytes, with zeros behind them.
  static PortableBlock load_short(const char* from, std::size_t count) {
    PortableBlock block;
    if (count != 0) std::memcpy(block.bytes_.data(), from, count);
    return block;
  }
  void store(char* to) const { std::memcpy(to, bytes_.data(), size); }

  std::uint32_t equal_to(char byte) const {
    std::uint32_t mask = 0;
    for (std::size_t i = 0; i < size; ++i) {
      mask |= std::uint32_t{bytes_[i] == static_cast<unsigned char>(byte)} << i;
    }
    return mask;
  }
  std::uint32_t below(unsigned char bound) const {
    std::uint32_t mask = 0;
    for (std::size_t i = 0; i < size; ++i) mask |= std::uint32_t{bytes_[i] < bound} << i;
    return mask;
  }

 private:
  std::array<unsigned char, size> bytes_{};
};

#ifdef __SSE2__
class SseBlock {
 public:
  static constexpr std::size_t size = 16;

  static SseBlock load(const char* from) {
    return SseBlock(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  // Two loads that overlap can load any length from one to both of their sizes. This needs no loop,
  // no call, and no branch on the exact length.
  static SseBlock load_short(const char* from, std::size_t count) {
    if (count >= 8) {
      // Two shifts, because one shift by all 64 bits (count == 8) would be undefined.
      const std::uint64_t last = load_word<std::uint64_t>(from + count - 8);
      const std::uint64_t tail = (last >> 8) >> (8 * (15 - count));
      return from_words(load_word<std::uint64_t>(from), tail);
    }
    if (count >= 4) {
      const std::uint64_t tail = load_word<std::uint32_t>(from + count - 4);
      return from_words(load_word<std::uint32_t>(from) | tail << (8 * (count - 4)), 0);
    }
    if (count == 0) return from_words(0, 0);
    const std::uint64_t first = load_word<unsigned char>(from);
    const std::uint64_t middle = load_word<unsigned char>(from + count / 2);
    const std::uint64_t last = load_word<unsigned char>(from + count - 1);
    return from_words(first | middle << (8 * (count / 2)) | last << (8 * (count - 1)), 0);
  }
  void store(char* to) const { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes_); }

  std::uint32_t equal_to(char byte) const {
    return mask(_mm_cmpeq_epi8(bytes_, _mm_set1_epi8(byte)));
  }
  std::uint32_t below(unsigned char bound) const {
    // SSE2 has no unsigned comparison. But a subtraction with saturation leaves zero exactly where
    // the byte is at most bound - 1.
    const __m128i greatest = _mm_set1_epi8(static_cast<char>(bound - 1));
    return mask(_mm_cmpeq_epi8(_mm_subs_epu8(bytes_, greatest), _mm_setzero_si128()));
  }

 private:
  explicit SseBlock(__m128i bytes) : bytes_(bytes) {}

  template <typename Word>
  static Word load_word(const char* from) {
    Word word;
    std::memcpy(&word, from, sizeof(word));
    return word;
  }
  static SseBlock from_words(std::uint64_t low, std::uint64_t high) {
    return SseBlock(
        _mm_set_epi64x(static_cast<std::int64_t>(high), static_cast<std::int64_t>(low)));
  }
  static std::uint32_t mask(__m128i lanes) {
    return static_cast<std::uint32_t>(_mm_movemask_epi8(lanes));
  }

  __m128i bytes_;
};

using Block = SseBlock;
#else
using Block = PortableBlock;
#endif

}  // namespace hs::handlersocket
