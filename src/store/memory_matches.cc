#include "store/memory_matches.h"

#include <algorithm>
#include <string>

namespace hs::store {
namespace {

// The server's number of it is that of its engines.
constexpr Status not_by_this_index{Error::not_supported, 131};

bool passes(const MemoryTable& table, std::span<const std::uint32_t> filter_columns,
            const Filter& filter, const Row& row) {
  const std::uint32_t column = filter_columns[filter.column];
  const MemoryColumn& of = table.spec().columns[column];
  Cell wanted;
  if (!to_cell(of, filter.value, wanted)) return filter.comparison == Comparison::not_equal;
  return holds(filter.comparison, compare(of, row.fields[column].cell(), wanted));
}

}  // namespace

std::size_t MemoryPosition::bytes() const {
  std::size_t bytes = sizeof *this;
  if (next) {
    for (const Field& field : next->fields) bytes += sizeof field + field.bytes.size();
  }
  return bytes;
}

MemoryMatches::MemoryMatches(const MemoryTable& table, std::size_t key,
                             std::span<const std::uint32_t> filter_columns,
                             const Selection& selection, std::uint64_t most_examined)
    : table_(table),
      key_(key),
      filter_columns_(filter_columns),
      selection_(selection),
      to_skip_(selection.offset),
      to_give_(selection.limit),
      most_examined_(most_examined) {
  if (!seek()) to_give_ = 0;
}

Status MemoryMatches::check(const MemoryTable& table, std::size_t key,
                            std::span<const std::uint32_t> filter_columns,
                            const Selection& selection) {
  if (selection.key_parts() > table.spec().keys[key].columns.size())
    return Error::too_many_key_parts;
  if (selection.lower.begins) {
    const std::uint32_t column = table.spec().keys[key].columns[selection.key.size()];
    if (table.spec().columns[column].integer) return not_by_this_index;
  }
  return check_filters(filter_columns, selection.filters);
}

Status MemoryMatches::check_filters(std::span<const std::uint32_t> filter_columns,
                                    std::span<const Filter> filters) {
  const bool known = std::ranges::all_of(
      filters, [&](const Filter& filter) { return filter.column < filter_columns.size(); });
  return known ? Status{} : Error::no_filter_column;
}

// Makes the cells of the key, with the next IN value in its place. False if no row can match them.
bool MemoryMatches::aim() {
  const std::vector<std::uint32_t>& columns = table_.spec().keys[key_].columns;
  bool holds = true;
  for (std::size_t part = 0; part < selection_.key.size(); ++part) {
    const bool in = !selection_.in.values.empty() && part == selection_.in.key_part;
    const Value& value = in ? selection_.in.values[in_taken_] : selection_.key[part];
    holds = to_cell(table_.spec().columns[columns[part]], value, cells_[part]) && holds;
  }
  ++in_taken_;
  if (selection_.range.bound != Bound::within) return holds;
  upper_cells_ = cells_;
  if (selection_.lower.begins) return aim_prefix() && holds;
  return aim_end(selection_.lower, cells_) && aim_end(selection_.upper, upper_cells_) && holds;
}

bool MemoryMatches::aim_end(const End& end, Cells& cells) const {
  std::size_t part = selection_.key.size();
  const std::vector<std::uint32_t>& columns = table_.spec().keys[key_].columns;
  return std::ranges::all_of(end.values, [&](const Value& value) {
    const MemoryColumn& column = table_.spec().columns[columns[part]];
    return to_cell(column, value, cells[part++]);
  });
}

// Texts are compared by their bytes. So all that begin with the prefix are from the prefix up to,
// and without, the text that has the next greater byte at its end.
bool MemoryMatches::aim_prefix() {
  const Value& prefix = selection_.lower.values.front();
  prefix_end_ = prefix.bytes;
  while (prefix_end_.ends_with('\xff')) prefix_end_.pop_back();
  if (!prefix_end_.empty()) ++prefix_end_.back();
  upper_cells_[selection_.key.size()] = {.bytes = prefix_end_};
  return !prefix.null && aim_end(selection_.lower, cells_);
}

void MemoryMatches::place_cursor() {
  const std::size_t parts = selection_.key.size();
  const Range range = selection_.range;
  if (range.bound != Bound::within) {
    cursor_ = table_.seek(key_, range, std::span(cells_.data(), parts));
    return;
  }
  std::size_t of_lower = selection_.lower.values.size();
  bool is_open = selection_.lower.open && selection_.lower.is_given();
  // NULL is not below any value.
  if (!selection_.lower.is_given() && selection_.upper.is_given()) {
    cells_[parts] = {{}, 0, true};
    of_lower = 1;
    is_open = true;
  }
  std::size_t of_upper = selection_.upper.values.size();
  bool is_upper_open = selection_.upper.open && selection_.upper.is_given();
  if (selection_.lower.begins && !prefix_end_.empty()) {
    of_upper = 1;
    is_upper_open = true;
  }
  cursor_ = table_.walk(key_, range.direction, {{cells_.data(), parts + of_lower}, is_open},
                        {{upper_cells_.data(), parts + of_upper}, is_upper_open});
}

// Whether no earlier value of IN is the same. The column can hold this one.
bool MemoryMatches::is_new_value(std::size_t number) {
  if (selection_.in.values.size() < 2) return true;
  const std::uint32_t column = table_.spec().keys[key_].columns[selection_.in.key_part];
  const MemoryColumn& of = table_.spec().columns[column];
  Cell cell;
  if (!to_cell(of, selection_.in.values[number], cell)) return false;
  if (cell.null) return seen_.emplace("NULL").second;
  return seen_.insert('=' + (of.integer ? std::to_string(cell.number) : std::string(cell.bytes)))
      .second;
}

// Moves to the first row of the key, or of the next IN value that has one.
bool MemoryMatches::seek() {
  const std::size_t rounds = selection_.in.values.empty() ? 1 : selection_.in.values.size();
  while (in_taken_ < rounds) {
    const bool holds = aim();
    ++examined_;
    if (gave_up()) return false;
    if (!holds || !is_new_value(in_taken_ - 1)) continue;
    place_cursor();
    if (cursor_.row() != nullptr) return true;
  }
  return false;
}

void MemoryMatches::step() {
  given_ = false;
  cursor_.next();
  if (cursor_.row() == nullptr && !seek()) to_give_ = 0;
}

const Row* MemoryMatches::next() {
  if (given_) step();
  while (to_give_ != 0) {
    const Row* const row = cursor_.row();
    ++examined_;
    if (gave_up()) return nullptr;
    switch (filter(*row)) {
      case Passing::stop: to_give_ = 0; return nullptr;
      case Passing::no: break;
      case Passing::yes:
        if (to_skip_ == 0) {
          --to_give_;
          given_ = to_give_ != 0;
          at_limit_ = to_give_ == 0;
          return row;
        }
        --to_skip_;
        break;
    }
    step();
  }
  return nullptr;
}

std::unique_ptr<MemoryPosition> MemoryMatches::leave() {
  if (given_) step();
  auto position = std::make_unique<MemoryPosition>();
  position->to_skip = to_skip_;
  position->to_give = to_give_;
  if (to_give_ != 0) {
    // The key of a single row has to be searched again, because the row may be gone by then.
    if (cursor_.is_single()) {
      --in_taken_;
    } else {
      position->next = cursor_.leave();
    }
  }
  position->in_taken = in_taken_;
  cursor_ = {};
  return position;
}

std::unique_ptr<MemoryPosition> MemoryMatches::leave_at_limit() {
  if (!at_limit_) return nullptr;
  to_give_ = 1;
  step();
  return to_give_ != 0 ? leave() : nullptr;
}

void MemoryMatches::resume(const MemoryPosition& from) {
  in_taken_ = from.in_taken;
  to_skip_ = from.to_skip;
  to_give_ = from.to_give;
  given_ = false;
  cursor_ = {};
  if (to_give_ == 0) return;
  seen_.clear();
  for (std::size_t number = 0; number < from.in_taken; ++number) {
    static_cast<void>(is_new_value(number));
  }
  if (from.next) {
    --in_taken_;
    aim();
    place_cursor();
    cursor_.resume(*from.next);
  }
  if (cursor_.row() == nullptr && !seek()) to_give_ = 0;
}

MemoryMatches::Passing MemoryMatches::filter(const Row& row) const {
  for (const Filter& filter : selection_.filters) {
    if (!passes(table_, filter_columns_, filter, row))
      return filter.kind == FilterKind::stop ? Passing::stop : Passing::no;
  }
  return Passing::yes;
}

bool MemoryMatches::meets(const MemoryTable& table, std::span<const std::uint32_t> filter_columns,
                          std::span<const Filter> filters, const Row& row) {
  return std::ranges::all_of(
      filters, [&](const Filter& filter) { return passes(table, filter_columns, filter, row); });
}

}  // namespace hs::store
