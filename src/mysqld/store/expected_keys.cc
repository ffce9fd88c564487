// What TableStore does about the finds that come next: their keys are given to the engine.
#include "mysqld/reading/key_search.h"
#include "mysqld/server/api.h"
#include "mysqld/server/row_prefetch.h"
#include "mysqld/store/table_store.h"

namespace hs::mysqld {

// The index is set up, and no scan has begun.
void TableStore::prefetch(const IndexPlan& plan, OpenTable& opened) {
  server::ExpectedKeys keys;
  for (const store::Lookup& lookup : expected_) {
    if (lookup.index != &plan || !plan.is_unique(static_cast<std::uint32_t>(lookup.key.size())))
      continue;
    KeySearch search;
    make_key_search(plan, *opened.table, lookup.key, {store::Bound::only, store::Direction::up},
                    nullptr, 0, search);
    if (search.nothing || search.compared) continue;
    keys.add({search.image.data(), search.length});
  }
  expected_ = {};
  if (keys.size() > 1) server::prefetch_rows(*opened.table, keys);
}

}  // namespace hs::mysqld
