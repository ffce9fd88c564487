// Items: the strings of a container, read and changed by their keys.
//
// An item is a row of a container's table: a value, and if there are columns for them, flags, a number
// that changes with each change (cas) and a time of expiry. What has expired is not there for anybody,
// although its row is, until somebody deletes it. So is a row whose only value is NULL. Used by the
// thread that executes the request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "keys/row_work.h"
#include "store/rows.h"
#include "store/store.h"

namespace hs::keys {

// One reply may be as large as this, in any protocol that has keys.
inline constexpr std::size_t most_reply_bytes = std::size_t{64} << 20;
// A value of more bytes is in no reply, so no command makes one or reads it into memory.
inline constexpr std::size_t most_value_bytes = most_reply_bytes - 1024;

struct Item {
  static constexpr std::int64_t never = 0;

  std::string value{};  // of several columns, with the separator between them
  std::uint32_t flags = 0;
  std::uint64_t cas = 0;            // is not written: each change gives the item another one
  std::int64_t expires_ms = never;  // since 1970
};

// What the columns but those of the value say.
struct ItemHead {
  bool is_live = false;
  std::uint32_t flags = 0;
  std::uint64_t cas = 0;
  std::int64_t expires_ms = Item::never;
};
// `no_memory` of the value counts as live: append_value() fails then.
ItemHead read_head(const ItemColumns& columns, std::span<const store::Column> of_row,
                   const store::CurrentRow& row, std::int64_t now_ms);
// The same with the value, if the item is live. It is a view into the row, into `room`, or if there are several
// columns into `joined`, until the next column is read. The status is that of append_value(), but a value of one column may
// have any size.
struct ShownItem {
  ItemHead head{};
  std::string_view value{};
  Status status{};
};
ShownItem show_item(const RowAccess& access, std::span<const store::Column> of_row,
                    const store::CurrentRow& row, std::int64_t now_ms, char* room,
                    std::string& joined);
// Adds the value. `too_large`: it has more than most_value_bytes; `no_memory`: a part could not be read.
[[nodiscard]] Status append_value(const RowAccess& access, std::span<const store::Column> of_row,
                                  const store::CurrentRow& row, std::string& to);

// What a command wants of an item that it has seen under its row's lock.
enum class Decision : std::uint8_t {
  keep,
  set,
  touch,  // sets only when it expires
  erase,
};

// A row that is locked, or a place where there is none.
struct LockedItem {
  Status status{};  // of the value
  bool has_row = false;
  bool is_live = false;
  Item item{};
};

// The steps of change_item(), within a unit.
store::Outcome lock_item(RowWork& work, const KeyedRow& row, LockedItem& locked);
// If there was no row, `cas_of_new` is the item's cas, from Containers::next_cas().
store::Outcome write_item(RowWork& work, const KeyedRow& row, bool has_row, const Item& item,
                          std::uint64_t cas_of_new);
// Sets only when the item of a row expires. Its value is not written again, because its columns may not
// show all that they hold, and the cas stays, because what it stands for is the same.
store::Outcome touch_item(RowWork& work, const KeyedRow& row, std::int64_t expires_ms);
store::Outcome erase_item(RowWork& work, const KeyedRow& row);
store::Outcome execute_decision(RowWork& work, const KeyedRow& row, bool has_row, Decision decision,
                                const Item& after);

// Calls `execute(row)` with the item's row, whether there is such a row or not.
template <class Execute>
store::Outcome with_item(RowWork& work, const ItemKey& key, Asks asks, bool changes,
                         Execute execute) {
  const auto open = [&](std::shared_ptr<const RowAccess>& access, store::IndexUse& own,
                        KeyedRow& row) { return open_item(work, key, asks, access, own, row); };
  return with_opened(work, changes, open, execute);
}
// The same to change it.
template <class Execute>
store::Outcome with_changed_item(RowWork& work, const ItemKey& key, Execute execute) {
  return with_item(work, key, Asks::item, true, execute);
}

// Has `rows` take the item's row, if there is one. The taker finds out whether it is live.
store::Outcome find_item(RowWork& work, const KeyedRow& row, store::Rows& rows);

// Whatever the item was, it is this one now. A single statement, if there was a row.
store::Outcome put_item(RowWork& work, const KeyedRow& row, const Item& item);

// Gives the item's row another key, of which these are the parts. All other columns stay as they are but the cas,
// because whoever knows that of another item with this key must not take it for this one.
store::Outcome move_item(RowWork& work, const KeyedRow& row, std::span<const store::Value> parts);

// Locks the item, and does what `decide(before, after)` says. `before` is null if there is no live item;
// `after` begins as a copy of it. `decide` returns a Status, and in its last argument the Decision; it
// may be called several times.
template <class Decide>
store::Outcome change_item(RowWork& work, const KeyedRow& row, Decide decide) {
  const auto change = [&]() -> store::Outcome {
    constexpr int most_tries = 3;
    store::Outcome outcome;
    for (int tries = 0; tries < most_tries; ++tries) {
      LockedItem locked;
      outcome = lock_item(work, row, locked);
      if (!outcome.ok()) return outcome;
      Item after = locked.is_live ? locked.item : Item{};
      Decision decision = Decision::keep;
      const Status decided = decide(locked.is_live ? &locked.item : nullptr, after, decision);
      if (!decided.ok()) return decided;
      outcome = execute_decision(work, row, locked.has_row, decision, after);
      // Another session may have inserted the row meanwhile. If not, it is another row's value.
      if (outcome.status().kind() != Error::duplicate_key) return outcome;
    }
    return outcome;
  };
  if (work.is_in_unit) return change();
  return store::run_unit(work.store, work.out(), change);
}

}  // namespace hs::keys
