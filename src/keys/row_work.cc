#include "keys/row_work.h"

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
}

Outcome open_row(RowWork& work, std::string_view key, Asks asks, Words fields,
                 std::shared_ptr<const RowAccess>& access, store::IndexUse& own, KeyedRow& row) {
  const SplitKey split = split_key(key);
  const std::string_view text = work.rows.text_of(split.name, asks, fields);
  const bool remembers = work.remembered != nullptr && text.size() <= RememberedRows::most_text;
  RememberedRows::Entry* entry = remembers ? work.remembered->find(text) : nullptr;
  if (entry == nullptr) {
    access = work.rows.find(text);
    if (access == nullptr) {
      const Outcome opened = work.rows.open(work.store, work.caller, split.name,
                                            work.default_database, asks, fields, access);
      if (!opened.ok()) return opened;
    }
    if (remembers) {
      entry = &work.remembered->add(access, work.caller);
    } else {
      own = {access->index, work.caller};
    }
  } else {
    access = entry->access;
  }
  row = {access.get(), entry != nullptr ? &entry->use : &own};
  if (!split.has_parts) return status_of(KeyMistake::too_few_parts);
  return status_of(read_parts(split.parts, *access->shape, work.scratch.key, work.scratch.parts));
}

void forget_row(RowWork& work, const RowAccess& access) {
  work.rows.forget(access);
  if (work.remembered != nullptr) work.remembered->clear();
}

// The store resolves the names again if the table's definition has changed. What the caller may do is
// asked by the change itself.
Outcome check_current(RowWork& work, const KeyedRow& row) {
  store::IndexUse use;
  const Outcome opened =
      work.store.open_index(row.access->index_names(), store::Caller::unlimited(), use);
  if (!opened.ok()) return opened;
  return row.access->is_current() ? Status{} : Status(Error::table_changed);
}

}  // namespace hs::keys
