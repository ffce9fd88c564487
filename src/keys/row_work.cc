#include "keys/row_work.h"

#include <cassert>
#include <utility>

#include "base/give_back.h"

namespace hs::keys {

using store::Outcome;

void Scratch::give_back() {
  constexpr std::size_t kept = 4096;
  hs::give_back(key, kept);
  hs::give_back(parts, kept);
  hs::give_back(values, kept);
  hs::give_back(fields, kept);
  hs::give_back(words, kept);
  hs::give_back(joined, kept);
}

namespace {

// Remembers the access for the connection, if it can be, and says where the index is used.
void use_access(RowWork& work, const std::shared_ptr<const RowAccess>& access, store::IndexUse& own,
                KeyedRow& row) {
  const bool remembers =
      work.remembered != nullptr && access->text.size() <= RememberedRows::most_text;
  if (remembers) {
    row = {access.get(), &work.remembered->add(access, work.caller).use};
  } else {
    own = {access->index, work.caller};
    row = {access.get(), &own};
  }
}

// Whether the connection remembers what is asked for. It owns that, so nothing is counted.
template <class... Asked>
bool is_remembered(RowWork& work, KeyedRow& row, const Asked&... asked) {
  if (work.remembered == nullptr) return false;
  work.remembered->follow(work.containers.generation());
  RememberedRows::Entry* const entry = work.remembered->find(asked...);
  if (entry == nullptr) return false;
  row = {entry->access.get(), &entry->use};
  return true;
}

// Opens an index that the connection does not remember. It is seldom needed, so it is no part of its callers.
[[gnu::noinline]] Outcome open_anew(RowWork& work, std::string_view key, std::string_view name,
                                    Asks asks, Words fields,
                                    std::shared_ptr<const RowAccess>& access, store::IndexUse& own,
                                    KeyedRow& row) {
  const std::string_view text = work.rows.text_of(name, asks, fields);
  if (asks != Asks::search && work.containers.resolve(key).container != nullptr)
    return status_of(KeyMistake::is_item);
  access = work.rows.find(text);
  if (access == nullptr) {
    const Outcome opened =
        work.rows.open(work.store, work.caller, name, work.default_database, asks, fields, access);
    if (!opened.ok()) return opened;
  }
  use_access(work, access, own, row);
  return {};
}
// The same for a container.
[[gnu::noinline]] Outcome open_anew(RowWork& work, const Container& container, Asks asks,
                                    std::shared_ptr<const RowAccess>& access, store::IndexUse& own,
                                    KeyedRow& row) {
  access = work.rows.find(work.rows.text_of(container.name, asks, {}));
  if (access == nullptr) {
    const Outcome opened = work.rows.open_items(work.store, work.caller,
                                                work.containers.find(container.name), asks, access);
    if (!opened.ok()) return opened;
  }
  // Whatever was opened for other containers was forgotten when these were read.
  assert(access->container.get() == &container);
  use_access(work, access, own, row);
  return {};
}

// The index that the name of a key names.
Outcome open_split(RowWork& work, std::string_view key, const SplitKey& split, Asks asks,
                   Words fields, std::shared_ptr<const RowAccess>& access, store::IndexUse& own,
                   KeyedRow& row) {
  if (is_remembered(work, row, split.name, asks, fields, work.repeated)) [[likely]]
    return {};
  return open_anew(work, key, split.name, asks, fields, access, own, row);
}

}  // namespace

Outcome open_named(RowWork& work, std::string_view key, Asks asks, Words fields,
                   std::shared_ptr<const RowAccess>& access, store::IndexUse& own, KeyedRow& row) {
  return open_split(work, key, split_key(key), asks, fields, access, own, row);
}

Outcome open_search(RowWork& work, std::string_view name, Words names,
                    std::shared_ptr<const RowAccess>& access, store::IndexUse& own, KeyedRow& row) {
  return open_split(work, name, {.name = name}, Asks::search, names, access, own, row);
}

[[gnu::flatten]] Outcome open_row(RowWork& work, std::string_view key, Asks asks, Words fields,
                                  std::shared_ptr<const RowAccess>& access, store::IndexUse& own,
                                  KeyedRow& row) {
  const SplitKey split = split_key(key);
  const Outcome opened = open_split(work, key, split, asks, fields, access, own, row);
  if (!opened.ok()) return opened;
  if (!split.has_parts) return status_of(KeyMistake::too_few_parts);
  return status_of(
      read_parts(split.parts, *row.access->shape, work.scratch.key, work.scratch.parts));
}

Outcome open_container(RowWork& work, const Container& container, Asks asks,
                       std::shared_ptr<const RowAccess>& access, store::IndexUse& own,
                       KeyedRow& row) {
  if (is_remembered(work, row, container, asks)) [[likely]]
    return {};
  return open_anew(work, container, asks, access, own, row);
}

[[gnu::flatten]] Outcome open_item(RowWork& work, const ItemKey& key, Asks asks,
                                   std::shared_ptr<const RowAccess>& access, store::IndexUse& own,
                                   KeyedRow& row) {
  const Outcome opened = open_container(work, *key.container, asks, access, own, row);
  if (!opened.ok()) return opened;
  return status_of(read_parts(key.key, *row.access->shape, work.scratch.key, work.scratch.parts));
}

void forget_row(RowWork& work, const RowAccess& access) {
  work.rows.forget(access);
  if (work.remembered != nullptr) work.remembered->clear();
}

namespace {

// Has `rows` take the row while it is locked, if they are wanted. `found` says how many rows there are. False: it
// cannot be locked.
bool lock_row(RowWork& work, const KeyedRow& row, store::Rows* rows, std::uint64_t& found,
              Outcome& outcome) {
  // To ask for a lock would wait for those who have the whole table locked.
  if (!row.access->shape->has_transactions) return false;
  const store::Change lock{.kind = store::ChangeKind::lock, .rows_before = rows != nullptr};
  store::Changed locked;
  outcome = work.store.modify(*row.use, row.selection(work), lock, rows, work.out(), locked);
  found = locked.rows;
  if (!outcome.answered()) return true;
  const Error kind = outcome.status().kind();
  return kind != Error::denied && kind != Error::not_supported && kind != Error::read_only;
}

}  // namespace

Outcome find_locked(RowWork& work, const KeyedRow& row, store::Rows& rows, store::Found& found) {
  Outcome outcome;
  if (lock_row(work, row, &rows, found.rows, outcome)) return outcome;
  return work.store.find(*row.use, row.selection(work), rows, work.out(), work.sink, found);
}

Outcome count_locked(RowWork& work, const KeyedRow& row, std::uint64_t& rows) {
  Outcome outcome;
  if (lock_row(work, row, nullptr, rows, outcome)) return outcome;
  return work.store.count(*row.use, row.selection(work), rows, work.sink);
}

Outcome insert_row(RowWork& work, const KeyedRow& row, std::span<const store::Value> values) {
  store::Changed changed;
  const Outcome outcome =
      work.store.insert(*row.use, {.values = values, .keeps_zero = true}, changed);
  const bool is_zero = outcome.answered() && outcome.status() == store::zero_asks_for_id;
  return is_zero ? Outcome(status_of(KeyMistake::zero_asks_for_id)) : outcome;
}

// The store resolves the names again if the table's definition has changed.
Outcome check_current(RowWork& work, const KeyedRow& row,
                      const std::shared_ptr<const store::Caller>& caller) {
  store::IndexUse use;
  const Outcome opened = work.store.open_index(row.access->index_names(), caller, use);
  if (!opened.ok()) return opened;
  return row.access->is_current() ? Status{} : Status(Error::table_changed);
}

}  // namespace hs::keys
