#include "mysqld/reading/range_end.h"

#include "mysqld/server/api.h"

namespace hs::mysqld {

void RangeEnd::set(const IndexPlan& plan, TABLE& table, std::span<const store::Value> key,
                   store::Range backwards, const store::Value* in_value, std::uint32_t in_part) {
  table_ = &table;
  plan_ = &plan;
  make_key_search(plan, table, key, backwards, in_value, in_part, search_);
  check_.prepare(plan, table, key, in_value, in_part, search_);
}

// Less than, equal to or greater than 0, as the row comes before, at or behind the image in the
// index. Values are compared, as in IndexScan::is_same_key().
int RangeEnd::compare_row() const {
  const unsigned char* image = search_.image.data();
  const KEY& key = table_->key_info[plan_->index()];
  for (std::uint32_t i = 0; i < search_.parts; ++i) {
    const KEY_PART_INFO& part = key.key_part[i];
    const bool is_nullable = part.null_bit != 0;
    const bool asked_null = is_nullable && *image != 0;
    const bool is_null = is_nullable && part.field->is_null();
    const int order = asked_null || is_null
                          ? static_cast<int>(asked_null) - static_cast<int>(is_null)
                          : part.field->key_cmp(image + (is_nullable ? 1 : 0), part.length);
    if (order != 0) return plan_->key()[i].descends ? -order : order;
    image += part.store_length;
  }
  return 0;
}

RangeEnd::Place RangeEnd::place_of_row() const {
  if (search_.parts != 0 && !search_.range.contains(compare_row())) return Place::behind;
  return check_.matches(search_) ? Place::within : Place::outside;
}

}  // namespace hs::mysqld
