// MemoryCaller: a caller of the in-memory store, whose rights a test gives and takes.
//
// It owns a list of tables with the rights on each. Only tests make one. Rights are changed between
// passes, on the test's thread.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "store/caller.h"

namespace hs::store {

class MemoryCaller final : public Caller {
 public:
  // From the next pass on.
  void grant(std::string_view database, std::string_view table, Rights rights) {
    rights_[{std::string(database), std::string(table)}] = rights;
  }
  Rights on(std::string_view database, std::string_view table) const {
    ++times_asked;
    const auto found = rights_.find({std::string(database), std::string(table)});
    return found == rights_.end() ? Rights::none : found->second;
  }

  mutable std::size_t times_asked = 0;

 private:
  std::map<std::pair<std::string, std::string>, Rights> rights_;
};

}  // namespace hs::store
