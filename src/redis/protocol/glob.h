// Glob: the patterns of KEYS, SCAN and HSCAN, by Redis's rules.
//
// `*` stands for any bytes, `?` for one byte, `[a-c]` and `[^a-c]` for one of these or none of these, and
// `\` takes away the meaning of the byte behind it. A pattern is compiled once and owns what it needs. The
// time to compare a text is bounded by the product of the two lengths, whatever the pattern is. Used by the
// thread that executes the request.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hs::redis {

class Glob {
 public:
  // A longer pattern is none that a person or a program needs, and would take long for each text.
  static constexpr std::size_t most_bytes = 1024;

  explicit Glob(std::string_view pattern);

  // Adds to `effort` how many bytes were compared, which is about the time that it took.
  bool matches(std::string_view text, std::uint64_t& effort) const;
  bool matches_everything() const {
    return parts_.size() == 1 && parts_[0].kind == Kind::any_bytes;
  }

  // The bytes at its front that stand for themselves.
  std::string literal_front() const;
  // Whether all of its bytes do.
  bool is_literal() const;
  // If what is before the first such byte stands for itself: removes it, and the byte. False: it does not,
  // or there is no such byte; then nothing is removed.
  bool take_literal_until(char byte, std::string& front);

 private:
  enum class Kind : std::uint8_t { byte, any_byte, any_bytes, one_of };
  struct Part {
    Kind kind;
    char byte = '\0';
    std::uint32_t set = 0;  // of `one_of`: its place in sets_
  };
  using Set = std::bitset<256>;

  void add_set(std::string_view pattern, std::size_t& at);
  bool takes(const Part& part, char byte) const;

  std::vector<Part> parts_;
  std::vector<Set> sets_;
};

}  // namespace hs::redis
