// InValues: which values of an IN have been searched already.
//
// SQL's IN is a set: a value that is given twice finds its rows once, and for text the column's
// collation decides which values are the same. Whole values are compared, even if the index holds
// only their beginning; values whose beginnings differ are searched each. It owns scratch memory,
// which it uses again for each request. Each worker has one. It is called after the search for a
// value was made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/give_back.h"
#include "base/seen_keys.h"
#include "mysqld/reading/key_search.h"
#include "store/operation.h"

class Field;

namespace hs::mysqld {

class InValues {
 public:
  // Begins a request whose IN has `count` values, for key part `part`.
  void begin(const IndexPlan& plan, TABLE& table, std::uint32_t part, std::size_t count);

  // The request is over: frees its memory if that is large.
  void give_back() {
    seen_.give_back();
    seen_inexact_.give_back();
    hs::give_back(identity_, max_kept_bytes);
  }

  // Whether the value that `search` was made for has not been searched yet.
  bool is_new(const store::Value& value, const KeySearch& search) {
    if (search.nothing) return true;  // it finds no rows, so it may come twice
    const PlannedKeyPart& part = plan_->key()[part_];
    if (part.integer_bytes != 0 && !value.null && search.fits[part_] == PartFit::exact) [[likely]] {
      const unsigned char* const image = search.image.data() + offset_;
      return seen_.insert({reinterpret_cast<const char*>(image), part.store_length});
    }
    return is_new_slow(value, search);
  }

 private:
  static constexpr std::size_t max_kept_bytes = std::size_t{64} << 10;

  bool is_new_slow(const store::Value& value, const KeySearch& search);
  std::string_view identity(const store::Value& value, const unsigned char* image, PartFit fit);
  std::size_t weigh(const Field& field, std::string_view text, std::size_t size);
  std::string_view weighed(std::size_t size) const;

  const IndexPlan* plan_ = nullptr;
  const TABLE* table_ = nullptr;
  std::uint32_t part_ = 0;
  std::uint32_t offset_ = 0;  // the offset of the part in the key image
  std::size_t count_ = 0;
  bool null_seen_ = false;
  bool any_inexact_ = false;
  SeenKeys seen_;
  SeenKeys seen_inexact_;  // values that the column cannot hold, as they were sent
  std::vector<unsigned char> identity_;
};

}  // namespace hs::mysqld
