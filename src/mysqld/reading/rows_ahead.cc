#include "mysqld/reading/rows_ahead.h"

#include <algorithm>

#include "mysqld/reading/key_search.h"
#include "mysqld/server/api.h"

namespace hs::mysqld {
namespace {

// Values of other types may have to be converted in ways that leave a mark in the server's session.
bool is_plain(const PlannedKeyPart& part) {
  return (part.integer_bytes != 0 || part.is_string) && !part.is_compared();
}

bool is_plain(const IndexPlan& plan) {
  return std::ranges::all_of(plan.key(), [](const PlannedKeyPart& part) { return is_plain(part); });
}

bool is_null(const store::Value& value) { return value.null; }

void add(const IndexPlan& plan, OpenTable& opened, std::span<const store::Value> key,
         const store::Value* in_value, std::uint32_t in_part, server::ExpectedKeys& keys) {
  KeySearch search;
  make_key_search(plan, *opened.table, key, {store::Bound::only, store::Direction::up}, in_value,
                  in_part, search);
  if (!search.nothing && !search.compared) keys.add({search.image.data(), search.length});
}

}  // namespace

void RowsAhead::fetch_expected(const IndexPlan& plan, OpenTable& opened) {
  server::ExpectedKeys keys;
  const bool may = is_plain(plan);
  for (std::size_t i = 0; i < expected_.size(); ++i) {
    const store::Lookup& lookup = expected_[i];
    const std::uint64_t bit = std::uint64_t{1} << i;
    if (lookup.index != &plan || (left_ & bit) == 0) continue;
    left_ &= ~bit;
    if (!may || !plan.is_unique(static_cast<std::uint32_t>(lookup.key.size())) ||
        std::ranges::any_of(lookup.key, is_null))
      continue;
    add(plan, opened, lookup.key, nullptr, 0, keys);
  }
  fetch(opened, keys);
}

void RowsAhead::fetch_in(const IndexPlan& plan, OpenTable& opened,
                         std::span<const store::Value> key, std::uint32_t part,
                         std::span<const store::Value> values) {
  if (passes_over(static_cast<std::uint32_t>(values.size()))) return;
  if (!plan.is_unique(static_cast<std::uint32_t>(key.size())) || !is_plain(plan)) return;
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (i != part && key[i].null) return;
  }
  server::ExpectedKeys keys;
  for (const store::Value& value : values) {
    if (!value.null) add(plan, opened, key, &value, part, keys);
  }
  fetch(opened, keys);
}

void RowsAhead::fetch(OpenTable& opened, const server::ExpectedKeys& keys) {
  if (keys.size() < 2) return;
  server::KeyHashes hashes;
  if (server::prefetch_rows(*opened.table, keys, hashes) != server::Prefetched::done)
    return begin_pause();
  std::size_t known = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) known += recent_.note(hashes[i]) ? 1 : 0;
  if (4 * known >= 3 * keys.size()) {
    begin_pause();
  } else {
    pause_ = 0;
  }
}

}  // namespace hs::mysqld
