// LineCutter: cuts bytes into lines that end in CR LF, and skips the runs of bytes between them.
//
// The replies of memcached and Redis have this form. Each connection has one. It keeps only a line
// that came in pieces, and at most `max_line` bytes of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace hs::bench {

class LineCutter {
 public:
  static constexpr std::size_t max_line = 512;

  // `on_line` gets each line without its CR LF. It returns how many bytes behind the line belong to
  // no line.
  template <typename OnLine>
  void feed(std::string_view bytes, OnLine on_line) {
    while (!bytes.empty()) {
      const std::size_t passed = std::min<std::uint64_t>(skip_, bytes.size());
      skip_ -= passed;
      bytes.remove_prefix(passed);
      if (bytes.empty()) return;
      const auto* found = static_cast<const char*>(std::memchr(bytes.data(), '\n', bytes.size()));
      const std::size_t end =
          found == nullptr ? bytes.size() : static_cast<std::size_t>(found - bytes.data());
      std::string_view line = bytes.substr(0, end);
      if (found == nullptr || !begun_.empty()) {
        begun_.append(line.substr(0, max_line - std::min(max_line, begun_.size())));
        line = begun_;
      }
      if (found == nullptr) return;
      if (line.ends_with('\r')) line.remove_suffix(1);
      skip_ = on_line(line);
      begun_.clear();
      bytes.remove_prefix(end + 1);
    }
  }

 private:
  std::uint64_t skip_ = 0;
  std::string begun_;
};

}  // namespace hs::bench
