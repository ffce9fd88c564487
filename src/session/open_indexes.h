// OpenIndexes: the open indexes of one connection, by index id.
//
// Owns, for each id, the store's index and the names it was opened by, so that
// it can be opened again on another worker's store. Bounded in number and bytes.
// Used by the thread that has the connection's turn.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/request.h"
#include "store/store.h"

namespace hs::session {

// The names of a P request as one string; its tokens hold no TAB.
std::string join_names(const protocol::OpenIndex& request);
// Views into `names`.
protocol::OpenIndex split_names(std::string_view names);

struct OpenIndex {
  std::shared_ptr<store::Index> index;  // null: to be opened again by its names
  std::string names;                    // empty: not open

  bool is_open() const { return !names.empty(); }
};

class OpenIndexes {
 public:
  static constexpr std::size_t max_count = 4096;
  static constexpr std::size_t max_names_bytes = std::size_t{1} << 20;

  // Null if the id is not open. Valid until the next set().
  OpenIndex* find(std::uint64_t id) {
    if (id < small_.size()) [[likely]]
      return small_[id].is_open() ? &small_[id] : nullptr;
    return find_large(id);
  }

  // Whether set() may be called with an open index of so many bytes of names.
  bool has_room(std::uint64_t id, std::size_t names_bytes);

  // Puts `index` in the place of what the id had, and gives that back. An index
  // that is not open closes the id.
  OpenIndex set(std::uint64_t id, OpenIndex index);

  // The indexes belong to a store that is out of reach: only names are kept.
  void forget_indexes();

 private:
  // Clients count their ids up from 0 or 1: those are found without a search.
  static constexpr std::uint64_t small_ids = 64;

  OpenIndex* find_large(std::uint64_t id);

  std::vector<OpenIndex> small_;
  std::map<std::uint64_t, OpenIndex> large_;
  std::size_t count_ = 0;
  std::size_t names_bytes_ = 0;
};

}  // namespace hs::session
