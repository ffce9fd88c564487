// Items in Redis's words: how the commands on strings reach the item of a key.
//
// The functions belong to the thread that executes the request.
#pragma once

#include <string_view>

#include "keys/items.h"
#include "redis/session/work.h"

namespace hs::redis {

using keys::Decision;
using keys::Item;

// Which item the key names. Not ok: it names a row, or nothing.
Status item_of(Work& work, std::string_view key, keys::ItemKey& item);

// Calls `execute(row)` with the row of the item.
template <class Execute>
store::Outcome read_item(Work& work, std::string_view key, keys::Asks asks, Execute execute) {
  keys::ItemKey item;
  if (const Status status = item_of(work, key, item); !status.ok()) return status;
  return keys::with_item(work, item, asks, false, execute);
}

// Locks the item and does what `decide(before, after, decision)` says, see keys/items.h.
template <class Decide>
store::Outcome change_item(Work& work, std::string_view key, Decide decide) {
  keys::ItemKey item;
  if (const Status status = item_of(work, key, item); !status.ok()) return status;
  return keys::with_changed_item(
      work, item, [&](const KeyedRow& row) { return keys::change_item(work, row, decide); });
}

store::Outcome put_item(Work& work, std::string_view key, const Item& item);

// The value of a live item, and when it expires.
struct FoundItem {
  Status status{};  // of the value
  bool is_live = false;
  Item item{};
};
store::Outcome get_item(Work& work, std::string_view key, FoundItem& found);

// Makes requests as a unit, if they are not within one already.
template <class Requests>
store::Outcome in_unit(Work& work, Requests requests) {
  if (work.is_in_unit) return requests();
  work.is_in_unit = true;
  const store::Outcome outcome = store::run_unit(work.store, work.out(), requests);
  work.is_in_unit = false;
  return outcome;
}

}  // namespace hs::redis
