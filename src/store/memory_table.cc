#include "store/memory_table.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace hs::store {

void UndoLog::rollback_to(std::size_t size) {
  assert(size <= changes_.size());
  while (changes_.size() > size) {
    Change& change = changes_.back();
    change.table->undo(change);
    changes_.pop_back();
  }
}

MemoryTable::MemoryTable(MemoryTableSpec spec) : spec_(std::move(spec)) {
  const auto column = std::ranges::find_if(spec_.columns, &MemoryColumn::auto_increment);
  auto_increment_ = static_cast<std::size_t>(column - spec_.columns.begin());
  for (std::size_t key = 0; key < spec_.keys.size(); ++key) {
    assert(!spec_.keys[key].columns.empty() && spec_.keys[key].columns.size() <= max_key_parts);
    keys_.push_back({KeyTree(spec_, key), std::nullopt});
    if (spec_.keys[key].unique) keys_.back().hash.emplace(spec_, key);
  }
}

KeyTree::Cursor MemoryTable::seek(std::size_t key, Range range, std::span<const Cell> parts) const {
  const Key& in = keys_[key];
  if (range.bound == Bound::only && in.hash && parts.size() == spec_.keys[key].columns.size() &&
      std::ranges::none_of(parts, &Cell::null)) {
    return KeyTree::Cursor(in.hash->find(parts));
  }
  return in.tree.seek(range, parts);
}

KeyTree::Cursor MemoryTable::walk(std::size_t key, Direction direction, KeyTree::Edge lower,
                                  KeyTree::Edge upper) const {
  return keys_[key].tree.walk(direction, lower, upper);
}

Status MemoryTable::make_row(std::span<const std::uint32_t> columns, std::span<const Value> values,
                             bool ignores_mistakes, Row& row) const {
  assert(values.size() <= columns.size());
  row.fields.resize(spec_.columns.size());
  for (std::size_t i = 0; i < spec_.columns.size(); ++i) take_default(i, row.fields[i]);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t column = columns[i];
    if (column == auto_increment_ && values[i].null) continue;
    const Status status = to_field(spec_.columns[column], values[i], row.fields[column]);
    if (status.ok()) continue;
    if (!ignores_mistakes) return status;
    take_default(column, row.fields[column]);
  }
  if (has_auto_increment()) {
    Field& field = row.fields[auto_increment_];
    if (field.null || field.number == 0) field.set_number(next_number_);
  }
  return {};
}

bool MemoryTable::asks_for_id(std::span<const std::uint32_t> columns,
                              std::span<const Value> values) const {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (columns[i] == auto_increment_) return !values[i].null && values[i].bytes == "0";
  }
  return false;
}

// The default is NULL, or else an empty value.
void MemoryTable::take_default(std::size_t column, Field& field) const {
  field = {};
  field.null = spec_.columns[column].nullable;
  if (!field.null && spec_.columns[column].integer) field.set_number(0);
}

void MemoryTable::add(Row row, UndoLog& undo) {
  if (has_auto_increment()) {
    const std::int64_t number = number_of(row);
    const bool last = number == std::numeric_limits<std::int64_t>::max();
    next_number_ = std::max(next_number_, last ? number : number + 1);
  }
  row.id = next_row_++;
  Row& owned = rows_.emplace(row.id, std::move(row)).first->second;
  index(owned);
  undo.add({.table = this, .row = &owned, .before = {}, .erased = {}});
}

Status MemoryTable::insert(std::span<const std::uint32_t> columns, std::span<const Value> values,
                           UndoLog& undo, std::uint64_t& insert_id) {
  Row row;
  if (const Status status = make_row(columns, values, false, row); !status.ok()) return status;
  if (duplicate_of(row) != nullptr) return duplicate_key;
  if (has_auto_increment()) insert_id = static_cast<std::uint64_t>(number_of(row));
  add(std::move(row), undo);
  return {};
}

Status MemoryTable::update(const Row& row, std::vector<Field> fields, UndoLog& undo) {
  Row changed{row.id, std::move(fields)};
  if (duplicate_of(changed) != nullptr) return duplicate_key;
  Row& owned = rows_.find(row.id)->second;
  unindex(owned);
  std::swap(owned.fields, changed.fields);
  index(owned);
  undo.add({.table = this, .row = &owned, .before = std::move(changed.fields), .erased = {}});
  return {};
}

void MemoryTable::erase(const Row& row, UndoLog& undo) {
  unindex(row);
  undo.add({.table = this, .row = nullptr, .before = {}, .erased = rows_.extract(row.id)});
}

void MemoryTable::undo(UndoLog::Change& change) {
  if (change.row == nullptr) {
    index(rows_.insert(std::move(change.erased)).position->second);
    return;
  }
  unindex(*change.row);
  if (change.before.empty()) {
    rows_.erase(change.row->id);
  } else {
    change.row->fields = std::move(change.before);
    index(*change.row);
  }
}

const Row* MemoryTable::duplicate_of(const Row& row) const {
  for (const Key& key : keys_) {
    const Row* const same = key.hash ? key.hash->find_same(row) : nullptr;
    if (same != nullptr && same->id != row.id) return same;
  }
  return nullptr;
}

void MemoryTable::index(const Row& row) {
  for (Key& key : keys_) {
    key.tree.insert(row);
    if (key.hash) key.hash->insert(row);
  }
}

void MemoryTable::unindex(const Row& row) {
  for (Key& key : keys_) {
    key.tree.erase(row);
    if (key.hash) key.hash->erase(row);
  }
}

}  // namespace hs::store
