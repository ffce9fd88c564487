#include "keys/items.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace hs::keys {
namespace {

using store::AssignKind;
using store::Assignment;
using store::Outcome;
using store::Value;
using Kind = store::ColumnValue::Kind;

constexpr std::int64_t ms_per_second = 1000;
// With what rounding up adds it is still a number.
constexpr std::int64_t most_ms = std::numeric_limits<std::int64_t>::max() - ms_per_second;

std::uint64_t number_of(const store::ColumnValue& value) {
  std::uint64_t number = 0;
  if (value.kind == Kind::in_room || value.kind == Kind::bytes)
    std::from_chars(value.data, value.data + value.size, number);
  return number;
}

// Seconds with a point or without, in milliseconds. What is no time in the future of 1970 is `never`.
std::int64_t expiry_of(const store::ColumnValue& value) {
  if (value.kind != Kind::in_room && value.kind != Kind::bytes) return Item::never;
  const char* const end = value.data + value.size;
  std::int64_t seconds = 0;
  const auto [stop, error] = std::from_chars(value.data, end, seconds);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / ms_per_second;
  if (error != std::errc{} || *value.data == '-') return Item::never;
  std::int64_t ms = std::min(seconds, most) * ms_per_second;
  const char* digit = stop;
  std::int64_t fraction = 0;
  std::int64_t worth = ms_per_second;
  while (++digit < end && (worth /= 10) != 0) fraction += (*digit - '0') * worth;
  return __builtin_add_overflow(ms, fraction, &ms) ? std::numeric_limits<std::int64_t>::max() : ms;
}

// What the columns but those of the value say.
ItemHead read_columns(const ItemColumns& columns, std::span<const store::Column> of_row,
                      const store::CurrentRow& row, std::int64_t now_ms) {
  char room[store::Column::room];
  ItemHead head;
  const auto value = [&](std::size_t place) { return of_row[place].value(row, room); };
  if (columns.expiry != ItemColumns::none) head.expires_ms = expiry_of(value(columns.expiry));
  if (columns.flags != ItemColumns::none)
    head.flags = static_cast<std::uint32_t>(number_of(value(columns.flags)));
  if (columns.cas != ItemColumns::none) head.cas = number_of(value(columns.cas));
  head.is_live = head.expires_ms == Item::never || head.expires_ms > now_ms;
  return head;
}

// Rounded up to what the column can hold, so that nothing expires before its time.
std::string expiry_text(std::int64_t ms, unsigned decimals) {
  std::int64_t step = ms_per_second;
  for (unsigned i = 0; i < decimals && step > 1; ++i) step /= 10;
  if (ms % step != 0) ms = std::min(ms, most_ms) / step * step + step;
  if (decimals == 0) return std::to_string(ms / ms_per_second);
  const std::string fraction = std::to_string(ms_per_second + ms % ms_per_second);
  return std::to_string(ms / ms_per_second) + '.' + fraction.substr(1);
}

// What the column for the expiry is to hold, a view into `text`.
Value expiry_value(const ItemColumns& columns, std::int64_t expires_ms, std::string& text) {
  if (expires_ms == Item::never && columns.expiry_may_be_null) return {{}, true};
  text = expires_ms == Item::never ? "0" : expiry_text(expires_ms, columns.expiry_decimals);
  return {.bytes = text, .is_whole = true};
}

class LockedRows final : public store::Rows {
 public:
  LockedRows(const RowAccess& access, Clock& clock, LockedItem& locked)
      : Rows(most_value_bytes), access_(access), clock_(clock), locked_(locked) {}
  bool take(std::span<const store::Column> columns, const store::CurrentRow& row,
            std::size_t /*in_number*/, Buffer& /*out*/) override {
    // The lock may have been waited for.
    clock_.forget();
    const ItemHead head = read_head(access_.item, columns, row, clock_.now_ms());
    locked_.has_row = true;
    locked_.is_live = head.is_live;
    locked_.item = {
        .value = {}, .flags = head.flags, .cas = head.cas, .expires_ms = head.expires_ms};
    locked_.status = append_value(access_, columns, row, locked_.item.value);
    return locked_.status.kind() != Error::no_memory;
  }

 private:
  const RowAccess& access_;
  Clock& clock_;
  LockedItem& locked_;
};

// A command that is answered has stored what it was given: sql_mode has no value cut.
void keep_whole(std::span<Value> values) {
  for (Value& value : values) value.is_whole = true;
}

// The values of an item's columns, as views into `item` and into this.
class ItemValues {
 public:
  // Not ok: the container has no column for what the item has, or no reply would hold its value.
  Status take(const RowAccess& access, const Item& item, std::uint64_t cas,
              std::vector<Value>& values) {
    const ItemColumns& columns = access.item;
    if (item.value.size() > most_value_bytes) return Error::too_large;
    values.clear();
    split(access, item.value, values);
    if (columns.flags == ItemColumns::none) {
      if (item.flags != 0) return status_of(KeyMistake::no_flags);
    } else {
      values.push_back({print(flags_, item.flags)});
    }
    if (columns.cas != ItemColumns::none) values.push_back({print(cas_, cas)});
    const bool has_expiry = columns.expiry != ItemColumns::none;
    if (has_expiry) values.push_back(expiry_value(columns, item.expires_ms, expiry_));
    keep_whole(values);
    return status_of(has_expiry || item.expires_ms == Item::never ? KeyMistake::none
                                                                  : KeyMistake::no_expiry);
  }

 private:
  using Digits = std::array<char, 24>;
  static std::string_view print(Digits& digits, std::uint64_t number) {
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return {digits.data(), static_cast<std::size_t>(end - digits.data())};
  }
  // Of too few values the last columns get NULL, of too many the last one gets the rest.
  static void split(const RowAccess& access, std::string_view text, std::vector<Value>& values) {
    const std::string& separator = access.container->separator;
    bool is_over = false;
    for (std::size_t column = 1; column <= access.item.values; ++column) {
      if (is_over) {
        values.push_back({{}, true});
        continue;
      }
      const std::size_t end =
          column == access.item.values ? std::string_view::npos : text.find(separator);
      values.push_back({text.substr(0, end)});
      is_over = end == std::string_view::npos;
      if (!is_over) text.remove_prefix(end + separator.size());
    }
  }

  Digits flags_;
  Digits cas_;
  std::string expiry_;
};

Outcome update(RowWork& work, const KeyedRow& row, std::span<const Value> values,
               std::uint64_t& rows) {
  std::vector<Assignment> assignments;
  assignments.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_cas = i == row.access->item.cas;
    assignments.push_back({.column = static_cast<std::uint32_t>(i),
                           .kind = is_cas ? AssignKind::add : AssignKind::set,
                           .value = is_cas ? Value{"1"} : values[i]});
  }
  store::Changed changed;
  const store::Change change{.kind = store::ChangeKind::assign, .assignments = assignments};
  const Outcome outcome =
      work.store.modify(*row.use, row.selection(work), change, nullptr, work.out(), changed);
  rows = changed.rows;
  return outcome;
}

Outcome insert(RowWork& work, const KeyedRow& row, std::vector<Value>& values) {
  const std::size_t columns = values.size();
  values.insert(values.end(), work.scratch.parts.begin(), work.scratch.parts.end());
  keep_whole(std::span(values).subspan(columns));
  const Outcome outcome = insert_row(work, row, values);
  values.resize(columns);
  return outcome;
}

}  // namespace

ItemHead read_head(const ItemColumns& columns, std::span<const store::Column> of_row,
                   const store::CurrentRow& row, std::int64_t now_ms) {
  ItemHead head = read_columns(columns, of_row, row, now_ms);
  char room[store::Column::room];
  if (columns.values == 1 && head.is_live)
    head.is_live = of_row.front().value(row, room).kind != Kind::null;
  return head;
}

ShownItem show_item(const RowAccess& access, std::span<const store::Column> of_row,
                    const store::CurrentRow& row, std::int64_t now_ms, char* room,
                    std::string& joined) {
  ShownItem item{.head = read_columns(access.item, of_row, row, now_ms)};
  if (!item.head.is_live) return item;
  if (access.item.values != 1) {
    joined.clear();
    item.status = append_value(access, of_row, row, joined);
    item.value = joined;
    return item;
  }
  const store::ColumnValue value = of_row.front().value(row, room);
  item.head.is_live = value.kind != Kind::null;
  if (value.kind == Kind::no_memory) item.status = Error::no_memory;
  item.value = {value.data, value.size};
  return item;
}

Status append_value(const RowAccess& access, std::span<const store::Column> of_row,
                    const store::CurrentRow& row, std::string& to) {
  char room[store::Column::room];
  for (std::size_t i = 0; i < access.item.values; ++i) {
    const store::ColumnValue value = of_row[i].value(row, room);
    if (value.kind == Kind::no_memory) return Error::no_memory;
    if (to.size() + value.size > most_value_bytes) return Error::too_large;
    if (i != 0) to += access.container->separator;
    if (value.kind != Kind::null) to.append(value.data, value.size);
  }
  return {};
}

Outcome find_item(RowWork& work, const KeyedRow& row, store::Rows& rows) {
  store::Found found;
  return find_row(work, row, rows, found);
}

Outcome lock_item(RowWork& work, const KeyedRow& row, LockedItem& locked) {
  locked = {};
  LockedRows rows(*row.access, work.clock, locked);
  const store::Change lock{.kind = store::ChangeKind::lock, .rows_before = true};
  store::Changed changed;
  const Outcome outcome =
      work.store.modify(*row.use, row.selection(work), lock, &rows, work.out(), changed);
  return outcome.ok() ? Outcome(locked.status) : outcome;
}

Outcome write_item(RowWork& work, const KeyedRow& row, bool has_row, const Item& item,
                   std::uint64_t cas_of_new) {
  ItemValues taken;
  std::vector<Value>& values = work.scratch.values;
  if (const Status status = taken.take(*row.access, item, cas_of_new, values); !status.ok())
    return status;
  if (!has_row) return insert(work, row, values);
  std::uint64_t rows = 0;
  return update(work, row, values, rows);
}

Outcome touch_item(RowWork& work, const KeyedRow& row, std::int64_t expires_ms) {
  const ItemColumns& columns = row.access->item;
  if (columns.expiry == ItemColumns::none)
    return status_of(expires_ms == Item::never ? KeyMistake::none : KeyMistake::no_expiry);
  std::string text;
  const Assignment assignment{.column = static_cast<std::uint32_t>(columns.expiry),
                              .value = expiry_value(columns, expires_ms, text)};
  const store::Change change{.kind = store::ChangeKind::assign, .assignments = {&assignment, 1}};
  store::Changed changed;
  return work.store.modify(*row.use, row.selection(work), change, nullptr, work.out(), changed);
}

Outcome erase_item(RowWork& work, const KeyedRow& row) {
  const store::Change erase{.kind = store::ChangeKind::erase};
  store::Changed changed;
  return work.store.modify(*row.use, row.selection(work), erase, nullptr, work.out(), changed);
}

Outcome execute_decision(RowWork& work, const KeyedRow& row, bool has_row, Decision decision,
                         const Item& after) {
  switch (decision) {
    case Decision::keep: return {};
    case Decision::set: return write_item(work, row, has_row, after, work.containers.next_cas());
    case Decision::touch: return touch_item(work, row, after.expires_ms);
    case Decision::erase: return has_row ? erase_item(work, row) : Outcome();
  }
  return {};
}

Outcome put_item(RowWork& work, const KeyedRow& row, const Item& item) {
  constexpr int most_tries = 3;
  ItemValues taken;
  std::vector<Value>& values = work.scratch.values;
  if (const Status status = taken.take(*row.access, item, work.containers.next_cas(), values);
      !status.ok())
    return status;
  Outcome outcome;
  for (int tries = 0; tries < most_tries; ++tries) {
    std::uint64_t rows = 0;
    outcome = update(work, row, values, rows);
    if (!outcome.ok() || rows != 0) return outcome;
    outcome = insert(work, row, values);
    // Another session may have inserted the row meanwhile. If not, it is another row's value.
    if (outcome.status().kind() != Error::duplicate_key) return outcome;
  }
  return outcome;
}

Outcome move_item(RowWork& work, const KeyedRow& row, std::span<const Value> parts) {
  const RowAccess& access = *row.access;
  const std::string cas = std::to_string(work.containers.next_cas());
  std::vector<Assignment> assignments;
  auto column = static_cast<std::uint32_t>(access.positions.size() - parts.size());
  for (const Value& part : parts)
    assignments.push_back({.column = column++, .value = {.bytes = part.bytes, .is_whole = true}});
  if (access.item.cas != ItemColumns::none)
    assignments.push_back({.column = static_cast<std::uint32_t>(access.item.cas), .value = {cas}});
  const store::Change change{.kind = store::ChangeKind::assign, .assignments = assignments};
  store::Changed changed;
  return work.store.modify(*row.use, row.selection(work), change, nullptr, work.out(), changed);
}

}  // namespace hs::keys
