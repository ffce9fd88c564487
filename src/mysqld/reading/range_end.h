// RangeEnd: where a search along an index ends before the index does.
//
// The place is searched as a search in the opposite direction would find its first row. Rows that
// the engine gives behind that place end the search. If the index does not tell whole values apart,
// rows before it are also compared. It owns the key image and copies of the values. Each worker has
// one, on its own thread, and uses it again for each search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mysqld/reading/index_plan.h"
#include "mysqld/reading/key_search.h"
#include "mysqld/reading/prefix_check.h"
#include "mysqld/reading/text_prefix.h"
#include "store/operation.h"

namespace hs::mysqld {

class RangeEnd {
 public:
  enum class Place : std::uint8_t {
    within,
    outside,  // but rows that belong to the search may follow
    behind,   // and so is all that follows
  };

  // `backwards` is the range of a search from the end in the opposite direction. The other arguments
  // are those of make_key_search.
  void set(const IndexPlan& plan, TABLE& table, std::span<const store::Value> key,
           store::Range backwards, const store::Value* in_value, std::uint32_t in_part);
  // After set(): it is the edge of the texts that begin so.
  void narrow(const TextPrefix& prefix, TextPrefix::Edge edge) { prefix.narrow(search_, edge); }
  // Whether no row can be before it.
  bool is_before_all() const { return search_.nothing; }
  // How many bytes each row is compared with.
  std::size_t bytes() const { return check_.bytes(search_); }
  // The place of the row in the record. The engine has to have read the columns of the index.
  Place place_of_row() const;

  // The request is over: frees its memory if that is large.
  void give_back() { check_.give_back(); }

 private:
  int compare_row() const;

  const TABLE* table_ = nullptr;
  const IndexPlan* plan_ = nullptr;
  KeySearch search_;
  PrefixCheck check_;
};

}  // namespace hs::mysqld
