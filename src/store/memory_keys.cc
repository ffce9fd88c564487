#include "store/memory_keys.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <iterator>
#include <utility>

namespace hs::store {
namespace {

std::uint64_t head_of(const MemoryColumn& column, const Cell& cell) {
  if (cell.null) return 0;
  if (column.integer) return static_cast<std::uint64_t>(cell.number) ^ (std::uint64_t{1} << 63);
  std::uint64_t head = 0;
  for (std::size_t i = 0; i < sizeof head; ++i) {
    const unsigned char byte =
        i < cell.bytes.size() ? static_cast<unsigned char>(cell.bytes[i]) : 0;
    head = head << 8 | byte;
  }
  return head;
}

std::size_t add_to_hash(std::size_t hash, const MemoryColumn& column, const Cell& cell) {
  const std::size_t of_cell = column.integer ? static_cast<std::size_t>(cell.number)
                                             : std::hash<std::string_view>{}(cell.bytes);
  return (hash ^ of_cell) * 0x9e3779b97f4a7c15u;
}

}  // namespace

const MemoryColumn& KeyTree::Order::column(std::size_t part) const {
  return spec_->columns[spec_->keys[key_].columns[part]];
}

Cell KeyTree::Order::cell(const Row& row, std::size_t part) const {
  return row.fields[spec_->keys[key_].columns[part]].cell();
}

bool KeyTree::Order::operator()(const Entry& left, const Entry& right) const {
  if (left.head != right.head) return left.head < right.head;
  const std::size_t parts = spec_->keys[key_].columns.size();
  for (std::size_t part = 0; part < parts; ++part) {
    const int order = compare(column(part), cell(*left.row, part), cell(*right.row, part));
    if (order != 0) return order < 0;
  }
  return left.row->id < right.row->id;
}

int KeyTree::Order::compare_prefix(const Entry& entry, const Probe& probe) const {
  if (entry.head != probe.head) return entry.head < probe.head ? -1 : 1;
  for (std::size_t part = 0; part < probe.parts.size(); ++part) {
    const int order = compare(column(part), cell(*entry.row, part), probe.parts[part]);
    if (order != 0) return order;
  }
  return 0;
}

bool KeyTree::Order::operator()(const Entry& entry, const Probe& probe) const {
  const int order = compare_prefix(entry, probe);
  return order < 0 || (order == 0 && probe.after);
}

bool KeyTree::Order::operator()(const Probe& probe, const Entry& entry) const {
  const int order = compare_prefix(entry, probe);
  return order > 0 || (order == 0 && !probe.after);
}

bool KeyTree::Cursor::is_met(const Entry& entry) const {
  return !ends_ || set_->key_comp()(entry, bound_) != down_;
}

void KeyTree::Cursor::settle() {
  row_ = nullptr;
  if (place_ == (down_ ? set_->begin() : set_->end())) return;
  const Entry& entry = down_ ? *std::prev(place_) : *place_;
  if (is_met(entry)) row_ = entry.row;
}

void KeyTree::Cursor::next() {
  assert(row_ != nullptr);
  if (set_ == nullptr) {
    row_ = nullptr;
    return;
  }
  if (down_) {
    --place_;
  } else {
    ++place_;
  }
  settle();
}

Row KeyTree::Cursor::leave() {
  assert(row_ != nullptr && set_ != nullptr);
  return *std::exchange(row_, nullptr);
}

// The row's own values and id lead back to its place.
void KeyTree::Cursor::resume(const Row& left_at) {
  assert(set_ != nullptr);
  const Entry left = set_->key_comp().entry(left_at);
  place_ = down_ ? set_->upper_bound(left) : set_->lower_bound(left);
  settle();
}

KeyTree::Entry KeyTree::Order::entry(const Row& row) const {
  return {head_of(column(0), cell(row, 0)), &row};
}

KeyTree::Probe KeyTree::probe(std::span<const Cell> parts, bool after) const {
  const MemoryColumn& first = spec_.columns[spec_.keys[key_].columns[0]];
  return {head_of(first, parts[0]), parts, after};
}

KeyTree::Cursor KeyTree::seek(Range range, std::span<const Cell> parts) const {
  assert(range.bound != Bound::within);
  if (range.bound == Bound::only) return walk(Direction::up, {parts}, {parts});
  const Edge edge{parts, range.bound == Bound::past};
  return range.direction == Direction::up ? walk(Direction::up, edge, {})
                                          : walk(Direction::down, {}, edge);
}

KeyTree::Cursor KeyTree::walk(Direction direction, Edge lower, Edge upper) const {
  Cursor cursor;
  cursor.set_ = &set_;
  cursor.down_ = direction == Direction::down;
  const Edge& first = cursor.down_ ? upper : lower;
  const Edge& last = cursor.down_ ? lower : upper;
  // A closed upper edge is behind the rows that have its values, and so is an open lower one.
  if (!first.parts.empty()) {
    cursor.place_ = set_.lower_bound(probe(first.parts, first.open != cursor.down_));
  } else {
    cursor.place_ = cursor.down_ ? set_.end() : set_.begin();
  }
  cursor.ends_ = !last.parts.empty();
  if (cursor.ends_) cursor.bound_ = probe(last.parts, last.open == cursor.down_);
  cursor.settle();
  return cursor;
}

std::size_t KeyHash::Hash::operator()(const Row* row) const {
  std::size_t hash = 0;
  for (const std::uint32_t column : spec->keys[key].columns) {
    hash = add_to_hash(hash, spec->columns[column], row->fields[column].cell());
  }
  return hash;
}

std::size_t KeyHash::Hash::operator()(std::span<const Cell> parts) const {
  std::size_t hash = 0;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    hash = add_to_hash(hash, spec->columns[spec->keys[key].columns[part]], parts[part]);
  }
  return hash;
}

bool KeyHash::Equal::operator()(const Row* left, const Row* right) const {
  return std::ranges::all_of(spec->keys[key].columns, [&](std::uint32_t column) {
    return compare(spec->columns[column], left->fields[column].cell(),
                   right->fields[column].cell()) == 0;
  });
}

bool KeyHash::Equal::operator()(std::span<const Cell> parts, const Row* row) const {
  const std::vector<std::uint32_t>& columns = spec->keys[key].columns;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const std::uint32_t column = columns[part];
    if (compare(spec->columns[column], parts[part], row->fields[column].cell()) != 0) return false;
  }
  return true;
}

bool KeyHash::has_null(const Row& row) const {
  const Equal equal = rows_.key_eq();
  return std::ranges::any_of(equal.spec->keys[equal.key].columns,
                             [&](std::uint32_t column) { return row.fields[column].null; });
}

void KeyHash::insert(const Row& row) {
  if (!has_null(row)) rows_.insert(&row);
}

void KeyHash::erase(const Row& row) {
  if (!has_null(row)) rows_.erase(&row);
}

const Row* KeyHash::find(std::span<const Cell> parts) const {
  const auto found = rows_.find(parts);
  return found == rows_.end() ? nullptr : *found;
}

const Row* KeyHash::find_same(const Row& row) const {
  if (has_null(row)) return nullptr;
  const auto found = rows_.find(&row);
  return found == rows_.end() ? nullptr : *found;
}

}  // namespace hs::store
