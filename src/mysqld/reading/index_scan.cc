#include "mysqld/reading/index_scan.h"

#include <algorithm>
#include <utility>

#include "mysqld/server/api.h"
#include "mysqld/server/errors.h"

namespace hs::mysqld {
namespace {

using store::Bound;
using store::Direction;
using store::Range;

// In the time of one step so many conditions can be checked.
constexpr std::size_t filters_in_a_step = 16;

ha_rkey_function read_function(Range range) {
  const bool up = range.direction == Direction::up;
  switch (range.bound) {
    case Bound::past: return up ? HA_READ_AFTER_KEY : HA_READ_BEFORE_KEY;
    case Bound::from: return up ? HA_READ_KEY_OR_NEXT : HA_READ_PREFIX_LAST_OR_PREV;
    case Bound::only:
    case Bound::within: break;
  }
  return HA_READ_KEY_EXACT;
}

bool goes_up(Range range) { return range.direction == Direction::up; }

// A range is one of values. So on an index whose first part descends, the scan goes the other way.
Range mirrored(Range range) {
  if (range.bound == Bound::only) return range;
  return {range.bound, store::opposite(range.direction)};
}

// A row whose key part is NULL is not below any value.
constexpr store::Value null_value{{}, true};
constexpr store::End above_null{{&null_value, 1}, true};

// The rows from an end onwards, or from the key itself if there is no such end.
Range range_from(const store::End& end, Direction direction) {
  return {end.is_given() && end.open ? Bound::past : Bound::from, direction};
}

}  // namespace

void IndexScan::Key::set(std::span<const store::Value> key, const store::End& end) {
  std::ranges::copy(end.values, std::ranges::copy(key, values.begin()).out);
  parts = static_cast<std::uint32_t>(key.size() + end.values.size());
}

// A range within two ends becomes one from the first of them, and an end behind its rows.
Status IndexScan::set_up_within() {
  const store::Selection& selection = *selection_;
  const std::size_t next = selection.key.size();
  const PlannedKeyPart* const part = next < plan_->key_parts() ? &plan_->key()[next] : nullptr;
  const bool descends = part != nullptr && part->descends;
  // Engines are fastest in the order of the index.
  const bool up = selection.in_any_order ? !descends : selection.range.direction == Direction::up;
  const bool leaves_out_null = !selection.lower.is_given() && selection.upper.is_given() &&
                               part != nullptr && part->is_nullable;
  const store::End& lower = leaves_out_null ? above_null : selection.lower;
  const store::End& first = up ? lower : selection.upper;
  const store::End& last = up ? selection.upper : lower;
  const Direction direction = up != descends ? Direction::up : Direction::down;
  begins_ = lower.begins;
  if (begins_) return set_up_prefix(up, direction);
  first_.set(selection.key, first);
  last_.set(selection.key, last);
  key_ = first_.span();
  // Engines know how to end a search for equal keys, but not one that goes down.
  const bool is_equal =
      !first.is_given() && !last.is_given() && !selection.key.empty() && direction == Direction::up;
  range_ = is_equal ? Range{} : range_from(first, direction);
  backwards_ = range_from(last, store::opposite(direction));
  has_end_ = !is_equal && last_.parts != 0;
  return {};
}

// The rows are between two edges, which are found when the key before them is known.
Status IndexScan::set_up_prefix(bool up, Direction direction) {
  const store::Selection& selection = *selection_;
  const auto part = static_cast<std::uint32_t>(selection.key.size());
  if (!text_.prepare(*plan_, *table_, part, selection.lower.values.front()))
    return server::status_of(HA_ERR_WRONG_COMMAND);
  first_edge_ = up ? TextPrefix::Edge::least : TextPrefix::Edge::greatest;
  last_edge_ = up ? TextPrefix::Edge::greatest : TextPrefix::Edge::least;
  first_.set(selection.key, {});
  last_.set(selection.key, {});
  key_ = first_.span();
  range_ = {Bound::from, direction};
  backwards_ = {Bound::from, store::opposite(direction)};
  has_end_ = true;
  return {};
}

Status IndexScan::set_up(const IndexPlan& plan, OpenTable& opened,
                         const store::Selection& selection, std::uint64_t most_steps) {
  TABLE& table = *opened.table;
  if (selection.key_parts() > plan.key_parts()) return Error::too_many_key_parts;
  if (!plan.can_search(selection)) [[unlikely]]
    return server::status_of(HA_ERR_WRONG_COMMAND);
  if (Status status = filters_.prepare(plan, table, selection.filters); !status.ok()) return status;
  plan_ = &plan;
  opened_ = &opened;
  table_ = &table;
  selection_ = &selection;
  if (selection.range.bound == Bound::within) [[unlikely]] {
    if (Status status = set_up_within(); !status.ok()) return status;
  } else {
    key_ = selection.key;
    range_ = plan.descends() ? mirrored(selection.range) : selection.range;
    has_end_ = false;
  }
  offset_ = selection.offset;
  limit_ = selection.limit;
  step_cost_ = 1 + selection.filters.size() / filters_in_a_step;
  gives_up_at_ = most_steps == no_bound ? no_bound : meter_.spent() + most_steps;
  has_in_ = !selection.in.values.empty();
  in_next_ = 0;
  in_is_new_ = nullptr;
  at_ = At::end;  // of no value of IN yet; the first search follows
  return {};
}

[[gnu::flatten]] Status IndexScan::start(const IndexPlan& plan, OpenTable& opened,
                                         const store::Selection& selection,
                                         std::uint64_t most_steps) {
  if (Status status = set_up(plan, opened, selection, most_steps); !status.ok()) return status;
  if (has_in_) {
    in_values_.begin(plan, *table_, selection.in.key_part, selection.in.values.size());
    return {};
  }
  const int error = search_for(nullptr);
  return error == 0 ? Status{} : server::status_of(error);
}

// Returns 0 or the engine's error.
int IndexScan::search_for(const store::Value* in_value) {
  make_search(in_value);
  std::size_t compared_bytes = filters_.bytes();
  compares_rows_ = search_.compared | has_end_;
  if (compares_rows_) [[unlikely]] {
    const std::uint32_t in_part = selection_->in.key_part;
    prefix_.prepare(*plan_, *table_, key_, in_value, in_part, search_);
    compared_bytes += prefix_.bytes(search_);
    if (has_end_) {
      if (begins_) text_.narrow(search_, first_edge_);
      end_.set(*plan_, *table_, last_.span(), backwards_, in_value, in_part);
      if (begins_) {
        end_.narrow(text_, last_edge_);
        compared_bytes += text_.bytes();
      }
      search_.nothing |= end_.is_before_all();
      compared_bytes += end_.bytes();
    }
  }
  meter_.begin_rows(compared_bytes);
  at_ = At::start;
  resumed_ = false;
  one_row_ = search_.range.bound == Bound::only && plan_->is_unique(search_.parts);
  return compares_rows_ ? plan_->read_key_columns(*opened_) : 0;
}

void IndexScan::make_search(const store::Value* in_value) {
  make_key_search(*plan_, *table_, key_, range_, in_value, selection_->in.key_part, search_);
}

// Makes the search for the next value of IN. If that value has been searched already, the search is
// at its end at once. Returns HA_ERR_END_OF_FILE after the last value, otherwise 0 or the engine's
// error.
int IndexScan::search_next_in() {
  const std::span<const store::Value> values = selection_->in.values;
  if (in_next_ >= values.size()) return HA_ERR_END_OF_FILE;
  const std::size_t number = in_next_++;
  if (ahead_ != nullptr && number % RowsAhead::most_values == 0) [[unlikely]]
    tell_next_in(number);
  const store::Value& value = values[number];
  if (in_is_new_ != nullptr) [[unlikely]]
    return (*in_is_new_)[number] ? search_for(&value) : 0;
  if (const int error = search_for(&value); error != 0) return error;
  if (!in_values_.is_new(value, search_)) at_ = At::end;
  return 0;
}

// The values from this one on are searched next.
void IndexScan::tell_next_in(std::size_t number) {
  const store::In& in = selection_->in;
  if (range_.bound != Bound::only) return;
  const std::size_t count = std::min(in.values.size() - number, RowsAhead::most_values);
  ahead_->fetch_in(*plan_, *opened_, key_, in.key_part, in.values.subspan(number, count));
}

std::unique_ptr<ScanPosition> IndexScan::position() {
  auto position = std::make_unique<ScanPosition>();
  position->shape = plan_->position_shape();
  if (at_ == At::inside) {
    position->key.resize(plan_->position_length());
    key_copy(position->key.data(), table_->record[0], &table_->key_info[plan_->index()],
             plan_->position_length());
  }
  // A search whose first row has not been asked for is made again.
  position->in_next = at_ == At::start ? in_next_ - 1 : in_next_;
  if (has_in_) position->in_is_new = new_in_values();
  position->offset = offset_;
  position->limit = limit_;
  return position;
}

// Which values of IN have to be searched from here on. This is found out once, when the scan is
// left for the first time. Otherwise each store that goes on would have to look at all earlier
// values.
std::shared_ptr<const std::vector<bool>> IndexScan::new_in_values() {
  if (in_is_new_ != nullptr) return in_is_new_;
  const store::In& in = selection_->in;
  std::vector<bool> is_new(in.values.size(), true);
  for (std::size_t i = in_next_; i < in.values.size(); ++i) {
    make_search(&in.values[i]);
    is_new[i] = in_values_.is_new(in.values[i], search_);
  }
  return std::make_shared<const std::vector<bool>>(std::move(is_new));
}

Status IndexScan::resume(const IndexPlan& plan, OpenTable& opened,
                         const store::Selection& selection, const ScanPosition& from,
                         std::uint64_t most_steps) {
  if (Status status = set_up(plan, opened, selection, most_steps); !status.ok()) return status;
  if (plan.position_parts() == 0 || plan.position_shape() != from.shape)
    return server::status_of(ER_TABLE_DEF_CHANGED);
  in_next_ = from.in_next;
  in_is_new_ = from.in_is_new;
  offset_ = from.offset;
  limit_ = selection.behind == &from ? selection.limit : from.limit;
  if (from.key.empty()) return {};
  const int error = search_for(has_in_ ? &selection.in.values[in_next_ - 1] : nullptr);
  if (error != 0) return server::status_of(error);
  at_ = At::inside;
  resumed_ = true;
  from_ = &from;
  return {};
}

// Whether the row still has the key that the search asked for. Values are compared, because -0
// equals 0; the server's own key_cmp_if_same() compares the bytes of numbers.
bool IndexScan::is_same_key() const {
  const unsigned char* image = search_.image.data();
  const KEY& key = table_->key_info[plan_->index()];
  for (std::uint32_t i = 0; i < search_.parts; ++i) {
    const KEY_PART_INFO& part = key.key_part[i];
    const bool is_nullable = part.null_bit != 0;
    const bool asked_null = is_nullable && *image != 0;
    const bool is_null = is_nullable && part.field->is_null();
    if (asked_null != is_null) return false;
    if (!is_null && part.field->key_cmp(image + (is_nullable ? 1 : 0), part.length) != 0)
      return false;
    image += part.store_length;
  }
  return true;
}

// The next row of a search that was resumed. The key image of a position belongs to one row only,
// so the rows behind it have not been read. The engine does not know which key was asked for, so an
// equal search has to check each row.
int IndexScan::read_resumed() {
  handler& engine = *table_->file;
  const bool equal = search_.range.bound == Bound::only;
  const bool up = goes_up(search_.range);
  int error = 0;
  if (const ScanPosition* const from = std::exchange(from_, nullptr); from != nullptr) {
    error = engine.ha_index_read_map(table_->record[0], from->key.data(),
                                     (key_part_map{1} << plan_->position_parts()) - 1,
                                     up ? HA_READ_AFTER_KEY : HA_READ_BEFORE_KEY);
  } else {
    error = up ? engine.ha_index_next(table_->record[0]) : engine.ha_index_prev(table_->record[0]);
  }
  return error == 0 && equal && !is_same_key() ? HA_ERR_END_OF_FILE : error;
}

int IndexScan::read_first() {
  handler& engine = *table_->file;
  if (search_.nothing) return HA_ERR_KEY_NOT_FOUND;
  if (search_.parts == 0) {
    return goes_up(search_.range) ? engine.ha_index_first(table_->record[0])
                                  : engine.ha_index_last(table_->record[0]);
  }
  return engine.ha_index_read_map(table_->record[0], search_.image.data(),
                                  (key_part_map{1} << search_.parts) - 1,
                                  read_function(search_.range));
}

int IndexScan::read_following() {
  handler& engine = *table_->file;
  if (one_row_) return HA_ERR_END_OF_FILE;
  if (resumed_) [[unlikely]]
    return read_resumed();
  if (search_.range.bound == Bound::only) {
    return engine.ha_index_next_same(table_->record[0], search_.image.data(), search_.length);
  }
  return goes_up(search_.range) ? engine.ha_index_next(table_->record[0])
                                : engine.ha_index_prev(table_->record[0]);
}

// The next row of the search, before any check. HA_ERR_END_OF_FILE if there is none.
int IndexScan::read() {
  const int error = at_ == At::start ? read_first() : read_following();
  if (error == HA_ERR_KEY_NOT_FOUND || error == HA_ERR_END_OF_FILE) {
    at_ = At::end;
    return HA_ERR_END_OF_FILE;
  }
  at_ = At::inside;
  return error;
}

// Compares the row with the values that were asked for. A row behind the end ends the search.
bool IndexScan::is_asked_for() {
  if (has_end_) {
    const RangeEnd::Place place = end_.place_of_row();
    if (place == RangeEnd::Place::behind) at_ = At::end;
    if (place != RangeEnd::Place::within || (begins_ && !text_.matches())) return false;
  }
  return prefix_.matches(search_);
}

bool IndexScan::is_end(int error) { return error == HA_ERR_END_OF_FILE; }

int IndexScan::next() {
  // The row that was given is the only one of its key, so nothing is behind it.
  if (one_row_ && at_ == At::inside && !resumed_) at_ = At::end;
  while (limit_ != 0) {
    if (at_ == At::end) {
      const int error = has_in_ ? search_next_in() : HA_ERR_END_OF_FILE;
      if (error != 0) return error;
    }
    meter_.step(step_cost_);
    if (is_over_bound()) [[unlikely]]
      return gave_up;
    if (server::is_killed(table_->in_use)) [[unlikely]]
      return server::killed_error();
    if (at_ == At::end) continue;  // a value of IN that has been searched already
    meter_.count_row();
    const int error = read();
    if (error == HA_ERR_END_OF_FILE || error == HA_ERR_RECORD_DELETED) continue;
    if (error != 0) return error;
    if (server::has_blobs(*table_)) [[unlikely]]
      meter_.read_bytes(server::blob_bytes(*table_));
    if (compares_rows_ && !is_asked_for()) [[unlikely]]
      continue;
    if (!server::is_current_row(*table_)) continue;
    const RowFilters::Decision decision = filters_.check();
    if (decision == RowFilters::Decision::stop) return HA_ERR_END_OF_FILE;
    if (decision == RowFilters::Decision::skip) continue;
    if (offset_ != 0) {
      --offset_;
      continue;
    }
    --limit_;
    return 0;
  }
  return HA_ERR_END_OF_FILE;
}

}  // namespace hs::mysqld
