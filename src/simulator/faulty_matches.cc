#include "simulator/faulty_matches.h"

#include <algorithm>
#include <iterator>

#include "simulator/faulty_rows.h"

namespace hs::simulator {

FaultyMatches::FaultyMatches(const FaultyIndex& index, const Transaction& transaction,
                             const store::Selection& selection, const RecordPosition* parked)
    : index_(index), selection_(selection), to_skip_(selection.offset) {
  choose_keys(transaction);
  if (parked != nullptr) {
    go_on_behind(*parked);
    met_ = parked->met;
  } else if (selection.behind != nullptr) {
    go_on_behind(static_cast<const RecordPosition&>(*selection.behind));
  }
}

void FaultyMatches::choose_keys(const Transaction& transaction) {
  if (!selection_.in.values.empty()) {
    for (const store::Value& value : selection_.in.values) {
      std::string key(value.bytes);
      if (std::ranges::find(keys_, key) == keys_.end()) keys_.push_back(std::move(key));
    }
    return;
  }
  if (selection_.range.bound == store::Bound::only) {
    keys_.emplace_back(selection_.key.front().bytes);
    return;
  }
  for (const std::string& key : transaction.keys(*index_.table)) {
    if (selects(key)) keys_.push_back(key);
  }
  const bool down = selection_.range.direction == store::Direction::down;
  std::ranges::sort(keys_, [&](const std::string& left, const std::string& right) {
    const int order = compare(left, {right});
    return down ? order > 0 : order < 0;
  });
}

// The key may have gone meanwhile. An IN has its keys in the order of the request.
void FaultyMatches::go_on_behind(const RecordPosition& place) {
  const auto is_behind = [&](const std::string& key) {
    const int order = compare(key, {place.key});
    return selection_.range.direction == store::Direction::down ? order < 0 : order > 0;
  };
  auto first = keys_.begin();
  if (selection_.in.values.empty()) {
    first = std::ranges::find_if(keys_, is_behind);
  } else {
    first = std::next(std::ranges::find(keys_, place.key));
  }
  keys_.erase(keys_.begin(), first);
  to_skip_ = place.to_skip;
}

int FaultyMatches::compare(const std::string& key, const store::Value& value) const {
  return order_of(key, value, index_.table->columns.front().is_integer);
}

bool FaultyMatches::selects(const std::string& key) const {
  const store::Range range = selection_.range;
  const std::span<const store::Value> values = selection_.key;
  const store::End& lower = selection_.lower;
  const store::End& upper = selection_.upper;
  if (range.bound != store::Bound::within) return range.contains(compare(key, values.front()));
  if (!values.empty() && compare(key, values.front()) != 0) return false;
  if (lower.begins) return key.starts_with(lower.values.front().bytes);
  if (lower.is_given()) {
    const int order = compare(key, lower.values.front());
    if (order < 0 || (order == 0 && lower.open)) return false;
  }
  if (!upper.is_given()) return true;
  const int order = compare(key, upper.values.front());
  return order < 0 || (order == 0 && !upper.open);
}

FaultyMatches::Fate FaultyMatches::meet(const Record& record) {
  for (const store::Filter& filter : selection_.filters) {
    const std::uint32_t number = index_.filter_columns[filter.column];
    const int order =
        order_of(record[number], filter.value, index_.table->columns[number].is_integer);
    if (!store::holds(filter.comparison, order))
      return filter.kind == store::FilterKind::stop ? Fate::last : Fate::left_out;
  }
  if (to_skip_ != 0) {
    --to_skip_;
    return Fate::left_out;
  }
  ++met_;
  return Fate::taken;
}

std::unique_ptr<RecordPosition> FaultyMatches::leave(const std::string& behind) const {
  auto position = std::make_unique<RecordPosition>();
  position->key = behind;
  position->to_skip = to_skip_;
  position->met = met_;
  return position;
}

}  // namespace hs::simulator
