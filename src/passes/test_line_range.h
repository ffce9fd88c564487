// LineRange: a search within two ends, as the line protocol writes it.
//
//   up|down LIMIT KEY LOWER UPPER [PART VALUES]
//
// KEY, LOWER, UPPER and VALUES are values with a comma between two of them. A value is the letter x
// and its bytes in hexadecimal digits, or ~ for NULL. `-` stands for no value at all. An end begins
// with [ or, if it is open, with (. A LOWER that begins with ^ is a prefix. VALUES are those of an IN on that part of the key. It owns its
// values, and lives for one request. For tests only.
#pragma once

#include <array>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "store/operation.h"

namespace hs::passes {

class LineRange {
 public:
  // What is malformed makes a selection that finds nothing or another one: its only client is a test.
  explicit LineRange(std::string_view text);
  LineRange(const LineRange&) = delete;
  LineRange& operator=(const LineRange&) = delete;

  const store::Selection& selection() const { return selection_; }

 private:
  void read_values(std::string_view text, std::vector<store::Value>& values);
  store::End read_end(std::string_view text, std::vector<store::Value>& values);

  std::deque<std::string> bytes_;  // of the values
  std::array<std::vector<store::Value>, 4> values_;
  store::Selection selection_;
};

}  // namespace hs::passes
