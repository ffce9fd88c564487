// Gets of ranges, as MySQL's memcached plugin had them: `@>key`, `@>=key`, `@<key` and `@<=key`.
#include <algorithm>
#include <string>

#include "memcached/protocol/number.h"
#include "memcached/session/items.h"

namespace hs::memcached {
namespace {

using store::Comparison;
using store::Outcome;
using Kind = store::ColumnValue::Kind;

// A byte that may stand in a key of the text protocol.
bool is_of_key(char byte) {
  constexpr char delete_sign = 0x7f;
  return static_cast<unsigned char>(byte) > ' ' && byte != delete_sign;
}

// In a get, what begins so is a container's name or a range.
bool means_something_else(std::string_view key) {
  return key.starts_with("@@") || key.starts_with("@>") || key.starts_with("@<");
}

// Writes each live item, with the key that its row has. A row whose key no client could write is left out:
// its bytes could be taken for other lines of the reply.
class RangeRows final : public store::Rows {
 public:
  RangeRows(RowWork& work, const Request& request, const RowAccess& access)
      : Rows(keys::most_reply_bytes), work_(work), request_(request), access_(access) {}
  bool take(std::span<const store::Column> columns, const store::CurrentRow& row,
            std::size_t /*in_number*/, Buffer& out) override {
    const std::int64_t now_ms = work_.clock.now_ms();
    const keys::ItemHead head = keys::read_head(access_.item, columns, row, now_ms);
    if (!head.is_live) return true;
    value_.clear();
    if (!read_key(columns, row)) return false;
    if (!status_.ok() || !is_key_written_) return true;
    status_ = keys::append_value(access_, columns, row, value_);
    if (!status_.ok()) return status_.kind() != Error::no_memory;
    Reply(out).item(request_, key_,
                    {.flags = head.flags,
                     .cas = head.cas,
                     .seconds_left = seconds_left(head.expires_ms, now_ms),
                     .value = value_});
    return true;
  }

  Status status() const { return status_; }

 private:
  // As a client would write it. False: there is no memory.
  bool read_key(std::span<const store::Column> columns, const store::CurrentRow& row) {
    const store::IndexShape& shape = *access_.shape;
    const std::size_t parts = shape.key.size();
    const std::size_t first = access_.positions.size() - parts;
    char room[store::Column::room];
    key_.clear();
    is_key_written_ = false;
    for (std::size_t part = 0; part < parts; ++part) {
      const store::ColumnValue value = columns[first + part].value(row, room);
      if (value.kind == Kind::no_memory) return false;
      if (value.kind == Kind::null || value.size > most_key_bytes) return true;
      keys::append_part({value.data, value.size}, shape.columns[shape.key[part]], part + 1 == parts,
                        key_, is_of_key);
    }
    is_key_written_ = !key_.empty() && key_.size() <= most_key_bytes &&
                      std::ranges::all_of(key_, is_of_key) && !means_something_else(key_);
    return true;
  }

  RowWork& work_;
  const Request& request_;
  const RowAccess& access_;
  std::string key_;
  bool is_key_written_ = false;
  std::string value_;
  Status status_{};
};

}  // namespace

bool take_range(std::string_view& key, Comparison& comparison) {
  if (!key.starts_with('@') || key.size() < 2) return false;
  const bool is_greater = key[1] == '>';
  if (!is_greater && key[1] != '<') return false;
  const bool is_equal = key.size() > 2 && key[2] == '=';
  if (is_greater) comparison = is_equal ? Comparison::greater_equal : Comparison::greater;
  if (!is_greater) comparison = is_equal ? Comparison::less_equal : Comparison::less;
  key.remove_prefix(is_equal ? 3 : 2);
  return true;
}

Outcome read_range(RowWork& work, const Request& request, const keys::ItemKey& from,
                   Comparison comparison) {
  return keys::with_item(
      work, from, keys::Asks::item, false, [&](const KeyedRow& row) -> store::Outcome {
        const std::size_t begin = work.out().size();
        RangeRows rows(work, request, *row.access);
        store::Selection selection = row.selection(work);
        selection.range = store::range_of(comparison);
        selection.limit = store::no_limit;
        store::Found found;
        const store::Outcome outcome =
            work.store.find(*row.use, selection, rows, work.out(), work.sink, found);
        if (!outcome.ok() || rows.status().ok()) return outcome;
        work.out().truncate(begin);
        return rows.status();
      });
}

}  // namespace hs::memcached
