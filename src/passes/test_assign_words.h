// The words of `assign` in the tests' line protocol: from `column kind value ...` to assignments.
//
// It owns what it has read. A word is a column's number, a kind, and what the kind needs, with `:`
// between them: `1:add:5:0:100` adds 5 within 0 and 100, and `0:set:~` sets a NULL. `_` is a blank.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/operation.h"

namespace hs::passes {

class AssignWords {
 public:
  // False: these are no assignments.
  bool read(std::string_view words);
  const std::vector<store::Assignment>& assignments() const { return assignments_; }

 private:
  bool read_one(std::string_view word);

  std::deque<std::string> texts_;
  std::deque<std::vector<store::Value>> bounds_;
  std::vector<store::Assignment> assignments_;
};

}  // namespace hs::passes
