// MemoryCaller: a caller of the in-memory store, whose rights a test gives and takes.
//
// It owns a list of tables with the rights on each. Only tests make one. Rights are changed between
// passes, on the test's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "store/caller.h"
#include "store/operation.h"

namespace hs::store {

// What a request does to the rows of a table. A set of rights is the sum of its members.
enum class Rights : std::uint8_t {
  none = 0,
  read = 1,  // of columns that are answered, compared or part of a key
  insert = 2,
  update = 4,
  erase = 8,
  all = 15,
};

constexpr Rights operator|(Rights a, Rights b) {
  return static_cast<Rights>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr bool contains(Rights rights, Rights needed) {
  return (static_cast<unsigned>(needed) & ~static_cast<unsigned>(rights)) == 0;
}

// A modification reads the rows that it finds, and changes or erases them.
constexpr Rights rights_to_modify(const Change& change) {
  return Rights::read | (change.erases() ? Rights::erase : Rights::update);
}

constexpr Rights rights_to_insert(const InsertRows& rows) {
  if (rows.updates()) return Rights::insert | Rights::read | Rights::update;
  const bool replaces = rows.on_duplicate == OnDuplicate::replace;
  return replaces ? Rights::insert | Rights::erase : Rights::insert;
}

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
