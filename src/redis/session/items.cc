#include "redis/session/items.h"

namespace hs::redis {
namespace {

using store::Outcome;

class WholeItem final : public store::Rows {
 public:
  WholeItem(const RowAccess& access, std::int64_t now_ms, FoundItem& found)
      : Rows(keys::most_value_bytes), access_(access), now_ms_(now_ms), found_(found) {}
  bool take(std::span<const store::Column> columns, const store::CurrentRow& row,
            std::size_t /*in_number*/, Buffer& /*out*/) override {
    const keys::ItemHead head = keys::read_head(access_.item, columns, row, now_ms_);
    found_.is_live = head.is_live;
    found_.item = {
        .value = {}, .flags = head.flags, .cas = head.cas, .expires_ms = head.expires_ms};
    if (head.is_live) found_.status = keys::append_value(access_, columns, row, found_.item.value);
    return found_.status.kind() != Error::no_memory;
  }

 private:
  const RowAccess& access_;
  const std::int64_t now_ms_;
  FoundItem& found_;
};

}  // namespace

Status item_of(Work& work, std::string_view key, keys::ItemKey& item) {
  item = work.containers.resolve(key);
  if (item.container != nullptr) return {};
  const keys::SplitKey split = keys::split_key(key);
  const bool is_row = split.has_parts &&
                      (keys::has_database_or_index(split.name) || !work.default_database.empty());
  return keys::status_of(is_row ? keys::KeyMistake::is_row : keys::KeyMistake::no_container);
}

Outcome put_item(Work& work, std::string_view key, const Item& item) {
  keys::ItemKey named;
  if (const Status status = item_of(work, key, named); !status.ok()) return status;
  return keys::with_changed_item(
      work, named, [&](const KeyedRow& row) { return keys::put_item(work, row, item); });
}

Outcome get_item(Work& work, std::string_view key, FoundItem& found) {
  return read_item(work, key, keys::Asks::item, [&](const KeyedRow& row) {
    found = {};
    WholeItem rows(*row.access, work.clock.now_ms(), found);
    const Outcome outcome = keys::find_item(work, row, rows);
    return outcome.ok() ? Outcome(found.status) : outcome;
  });
}

}  // namespace hs::redis
