#include "redis/session/watched.h"

#include "keys/items.h"
#include "redis/protocol/errors.h"
#include "redis/session/row_replies.h"

namespace hs::redis {

using store::Outcome;

namespace {

// A number that stands for what an item is; 0 for one that is not live.
class ItemDigest final : public store::Rows {
 public:
  ItemDigest(Work& work, const RowAccess& access)
      : Rows(most_reply_bytes), work_(work), access_(access) {}
  bool take(std::span<const store::Column> columns, const store::CurrentRow& row,
            std::size_t in_number, Buffer& out) override {
    work_.clock.forget();
    if (!keys::read_head(access_.item, columns, row, work_.clock.now_ms()).is_live) return true;
    return rows_.take(columns, row, in_number, out);
  }
  std::uint64_t digest() const { return rows_.digest; }

 private:
  Work& work_;
  const RowAccess& access_;
  DigestRows rows_;
};

// Reads the row or item, and if it locks, as a change of it does.
Outcome digest_of(Work& work, std::string_view key, bool locks, std::uint64_t& digest) {
  const auto take = [&](const KeyedRow& row, store::Rows& rows) {
    if (!locks) return keys::find_item(work, row, rows);
    const store::Change keep{.kind = store::ChangeKind::lock, .rows_before = true};
    store::Changed changed;
    return work.store.modify(*row.use, row.selection(work), keep, &rows, work.out(), changed);
  };
  const keys::ItemKey item = work.containers.resolve(key);
  if (item.container != nullptr) {
    return keys::with_item(work, item, keys::Asks::item, false, [&](const KeyedRow& row) {
      ItemDigest rows(work, *row.access);
      const Outcome outcome = take(row, rows);
      digest = rows.digest();
      return outcome;
    });
  }
  return with_row(work, key, Asks::every, {}, [&](const KeyedRow& row) {
    DigestRows rows;
    const Outcome outcome = take(row, rows);
    digest = rows.digest;
    return outcome;
  });
}

}  // namespace

Outcome Watched::add(Work& work, Words keys) {
  std::vector<Row> added;
  std::size_t bytes = bytes_;
  for (const std::string_view key : keys) {
    bytes += key.size();
    if (rows_.size() + added.size() >= most_rows || bytes > most_bytes)
      return status_of(Mistake::too_many_watched);
    std::uint64_t digest = 0;
    const Outcome found = digest_of(work, key, false, digest);
    if (!found.ok()) return found;
    added.push_back({std::string(key), digest});
  }
  rows_.insert(rows_.end(), added.begin(), added.end());
  bytes_ = bytes;
  return {};
}

Outcome Watched::check(Work& work) const {
  for (const Row& watched : rows_) {
    std::uint64_t digest = 0;
    const Outcome kept = digest_of(work, watched.key, true, digest);
    if (!kept.ok()) return kept;
    if (digest != watched.digest) return status_of(Mistake::watched_has_changed);
  }
  return {};
}

}  // namespace hs::redis
