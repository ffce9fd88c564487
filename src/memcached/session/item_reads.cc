// The requests that read items.
#include <string>

#include "memcached/protocol/number.h"
#include "memcached/session/items.h"

namespace hs::memcached {
namespace {

using store::Outcome;

// Writes the item if it is live.
class ItemRows final : public store::Rows {
 public:
  ItemRows(RowWork& work, const Request& request, std::string_view key, const RowAccess& access)
      : Rows(keys::most_reply_bytes), work_(work), request_(request), key_(key), access_(access) {}
  [[gnu::flatten]] bool take(std::span<const store::Column> columns, const store::CurrentRow& row,
                             std::size_t /*in_number*/, Buffer& out) override {
    const std::int64_t now_ms = work_.clock.now_ms();
    char room[store::Column::room];
    const keys::ShownItem item =
        keys::show_item(access_, columns, row, now_ms, room, work_.scratch.joined);
    is_live_ = item.head.is_live;
    status_ = item.status;
    if (!status_.ok()) return status_.kind() != Error::no_memory;
    if (!is_live_) return true;
    const std::int64_t left = seconds_left(item.head.expires_ms, now_ms);
    Reply(out).item(request_, key_,
                    {.flags = item.head.flags,
                     .cas = item.head.cas,
                     .seconds_left = left,
                     .seconds_left_before = left,
                     .value = item.value});
    return true;
  }
  bool is_live() const { return is_live_; }
  Status status() const { return status_; }

 private:
  RowWork& work_;
  const Request& request_;
  const std::string_view key_;
  const RowAccess& access_;
  bool is_live_ = false;
  Status status_{};
};

}  // namespace

Status without_container(std::string_view container) {
  return container.empty() ? keys::status_of(keys::KeyMistake::no_container)
                           : status_of(Mistake::no_such_container);
}

bool is_of_container(Status status) {
  using enum keys::KeyMistake;
  const keys::KeyMistake mistake = keys::key_mistake_of(status);
  if (mistake == not_unique || mistake == unusable_container) return true;
  switch (status.kind()) {
    case Error::no_table:
    case Error::locked_table:
    case Error::no_index:
    case Error::no_column:
    case Error::denied: return true;
    default: return false;
  }
}

Outcome read_item(RowWork& work, const Request& request, std::string_view key,
                  const ChosenItem& chosen) {
  if (chosen.is_container) {
    const keys::Container& container = *chosen.item.container;
    const std::string names = container.database + '/' + container.table;
    Reply(work.out()).item(request, key, {.value = names});
    return {};
  }
  // Other forms have one reply for a key.
  keys::ItemKey from = chosen.item;
  store::Comparison comparison{};
  if (request.form == Form::text && take_range(from.key, comparison)) [[unlikely]]
    return read_range(work, request, from, comparison);
  return keys::with_item(work, chosen.item, asks_of(request), false,
                         [&](const KeyedRow& row) -> Outcome {
                           ItemRows rows(work, request, key, *row.access);
                           const Outcome outcome = keys::find_item(work, row, rows);
                           if (!outcome.ok()) return outcome;
                           if (!rows.is_live()) Reply(work.out()).no_item(request, key);
                           return rows.status();
                         });
}

}  // namespace hs::memcached
