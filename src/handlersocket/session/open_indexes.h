// OpenIndexes: the open indexes of one connection, by index id.
//
// For each id it owns the store's index and the names by which it was opened, so that it can be
// opened again on another worker's store. The number of indexes and the bytes of their names are
// limited. Used by the thread that has the connection's turn.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "store/operation.h"
#include "store/store.h"

namespace hs::handlersocket {

// The names of a P request, joined by zero bytes. No name that can be opened holds one.
std::string join_names(const store::IndexNames& names);
// Views into `names`.
store::IndexNames split_names(std::string_view names);

struct NamedIndex {
  // null: has to be opened again by its names, or its table is on another server
  store::IndexUse use{};
  std::string names;               // empty: the id is not open
  std::uint32_t key_parts = 0;     // when it was opened by the client
  std::uint32_t column_count = 0;  // of a row in a reply

  bool is_open() const { return !names.empty(); }
};

class OpenIndexes {
 public:
  static constexpr std::size_t max_names_bytes = std::size_t{1} << 20;

  // Null if the id is not open. Valid until the next set().
  NamedIndex* find(std::uint64_t id) {
    if (id < small_.size()) [[likely]]
      return small_[id].is_open() ? &small_[id] : nullptr;
    return find_large(id);
  }

  // Whether set() may be called with an open index whose names take `names_bytes` bytes, if there
  // may be `most` of them.
  bool has_room(std::uint64_t id, std::size_t names_bytes, std::size_t most);

  // Puts `index` in the place of the id's old index, and returns the old one. An `index` that is
  // not open closes the id.
  NamedIndex set(std::uint64_t id, NamedIndex index);

  // The indexes belong to another store or another caller and cannot be used: keeps only their
  // names.
  void forget_indexes();

 private:
  // Clients count their ids up from 0 or 1. Such small ids are found without a search.
  static constexpr std::uint64_t small_ids = 64;

  NamedIndex* find_large(std::uint64_t id);

  std::vector<NamedIndex> small_;
  std::map<std::uint64_t, NamedIndex> large_;
  std::size_t count_ = 0;
  std::size_t names_bytes_ = 0;
};

}  // namespace hs::handlersocket
