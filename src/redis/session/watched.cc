#include "redis/session/watched.h"

#include "redis/protocol/errors.h"
#include "redis/session/row_replies.h"

namespace hs::redis {

using store::Outcome;

Outcome Watched::add(Work& work, Words keys) {
  std::vector<Row> added;
  std::size_t bytes = bytes_;
  for (const std::string_view key : keys) {
    bytes += key.size();
    if (rows_.size() + added.size() >= most_rows || bytes > most_bytes)
      return status_of(Mistake::too_many_watched);
    DigestRows rows;
    const Outcome found = with_row(work, key, Asks::every, {}, [&](const KeyedRow& row) {
      store::Found count;
      rows.digest = 0;
      return work.store.find(*row.use, row.selection(work), rows, work.out(), work.sink, count);
    });
    if (!found.ok()) return found;
    added.push_back({std::string(key), rows.digest});
  }
  rows_.insert(rows_.end(), added.begin(), added.end());
  bytes_ = bytes;
  return {};
}

Outcome Watched::check(Work& work) const {
  for (const Row& watched : rows_) {
    DigestRows rows;
    const Outcome kept = with_row(work, watched.key, Asks::every, {}, [&](const KeyedRow& row) {
      const store::Change keep{.kind = store::ChangeKind::lock, .rows_before = true};
      store::Changed changed;
      rows.digest = 0;
      return work.store.modify(*row.use, row.selection(work), keep, &rows, work.out(), changed);
    });
    if (!kept.ok()) return kept;
    if (rows.digest != watched.digest) return status_of(Mistake::watched_has_changed);
  }
  return {};
}

}  // namespace hs::redis
