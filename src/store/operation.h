// Operations: what a store can be asked to do, in values.
//
// Plain data, for any thread. It owns nothing: every view has to stay valid as long as the
// operation is at work. It knows no protocol and no table: the store checks the numbers of columns
// and key parts, because only the store knows the table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hs::store {

class Position;

// NULL or a string.
struct Value {
  std::string_view bytes;
  bool null = false;
  // Of a write: if its column cannot hold it as it is, that is an error, whatever SQL would make of it.
  bool is_whole = false;

  friend bool operator==(const Value&, const Value&) = default;
};

enum class Comparison : std::uint8_t { equal, greater, greater_equal, less, less_equal, not_equal };

// `order` is less than, equal to or greater than 0, as the left side is compared with the right.
constexpr bool holds(Comparison comparison, int order) {
  switch (comparison) {
    case Comparison::equal: return order == 0;
    case Comparison::greater: return order > 0;
    case Comparison::greater_equal: return order >= 0;
    case Comparison::less: return order < 0;
    case Comparison::less_equal: return order <= 0;
    case Comparison::not_equal: return order != 0;
  }
  return false;
}

// The ways along an index.
enum class Direction : std::uint8_t { up, down };

constexpr Direction opposite(Direction direction) {
  return direction == Direction::up ? Direction::down : Direction::up;
}

// The limit of a selection that has none.
inline constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

// Which rows a key selects, as they are met in the direction of the search.
enum class Bound : std::uint8_t {
  only,  // those that have the key
  from,  // those that have the key, and all behind them
  past,  // only those behind them
  // those whose key begins with the given values, between the selection's two ends
  within,
};

// The part of an index that a key selects, and the order in which it is read.
struct Range {
  Bound bound = Bound::only;
  Direction direction = Direction::up;

  // Whether a row belongs to it whose key compares so with the given one. For `within` the ends
  // decide, too: this is the answer without ends.
  constexpr bool contains(int order) const {
    if (bound == Bound::within) return order == 0;
    if (bound == Bound::only || order == 0) return order == 0 && bound != Bound::past;
    return (order > 0) == (direction == Direction::up);
  }
  friend constexpr bool operator==(const Range&, const Range&) = default;
};

// The rows whose key compares so with the given one, from it onwards. There is none for not_equal.
constexpr Range range_of(Comparison comparison) {
  switch (comparison) {
    case Comparison::greater: return {Bound::past, Direction::up};
    case Comparison::greater_equal: return {Bound::from, Direction::up};
    case Comparison::less: return {Bound::past, Direction::down};
    case Comparison::less_equal: return {Bound::from, Direction::down};
    case Comparison::equal:
    case Comparison::not_equal: break;
  }
  return {};
}

// One end of the rows that are `within` a key: values for the key parts that follow the key.
struct End {
  std::span<const Value> values{};  // empty: there is no end on this side
  bool open = false;                // rows that have just these values do not belong to it
  // Only of a lower end with one value, and then it is the only end: the rows are those whose part
  // is a text that begins with the value, as SQL's LIKE 'abc%' finds them.
  bool begins = false;

  constexpr bool is_given() const { return !values.empty(); }
};

// One key part takes each of `values` in turn.
struct In {
  std::uint32_t key_part = 0;
  std::span<const Value> values{};  // empty: there is no IN
};

enum class FilterKind : std::uint8_t {
  skip,  // a row that does not pass is left out
  stop,  // a row that does not pass ends the search
};

// A condition that each row has to meet: that its column compares so with the value.
struct Filter {
  FilterKind kind;
  Comparison comparison;
  std::uint32_t column;  // its position among the filter columns of the open index
  Value value;
};

struct Warning {
  bool is_note = false;
  std::uint32_t number = 0;
  std::string text{};  // in utf8mb4
};

// What the server itself says of a request. Empty: nothing.
struct Said {
  static constexpr std::size_t most_warnings = 64;

  // of its error
  std::string state{};  // SQLSTATE
  std::string text{};   // in utf8mb4
  // of a write that has succeeded, if they are wanted: the first ones
  bool wants_warnings = false;
  std::vector<Warning> warnings{};

  void clear() {
    state.clear();
    text.clear();
    warnings.clear();
  }
};

// The names by which an index is opened.
struct IndexNames {
  std::string_view database;
  std::string_view table;
  std::string_view index;           // empty means PRIMARY; a leading digit makes it a number
  std::string_view columns;         // separated by `separator`; empty for none
  std::string_view filter_columns;  // the same
  // In place of `columns`: those that SELECT * gives, whatever they are when a row is read.
  bool every_column = false;
  // A byte that is in none of these names. A zero byte is in no column's name at all.
  char separator = ',';
  // Finds by it want to know where they end, see Found. A long find has that without it.
  bool keeps_positions = false;
};

// The rows that an operation is about.
//
// With Bound::within they are all that begin with the key, or all of the index if the key is empty,
// from the lower end to the upper one, read up or down. The key part behind the key decides what is
// lower: up means that its values rise, however the index orders them. What lies behind that part
// follows the order of the index. An end is a place in this order, where NULL is below all other
// values. So an end that is the key of a row, and is open, leads to the rows behind that row. As in
// SQL a row whose part is NULL is not below any value: if there is only an upper end, rows with
// NULL in its first part do not belong to it. Without ends they do.
struct Selection {
  Range range{};
  std::span<const Value> key{};  // values for the first parts of the index
  End lower{};                   // only of Bound::within, as is the other one
  End upper{};
  std::uint64_t limit = 1;
  std::uint64_t offset = 0;
  In in{};
  std::span<const Filter> filters{};
  // With Bound::within: a store may read the rows in either order. Nobody can tell when all of them are
  // counted.
  bool in_any_order = false;
  // Of a find: it goes on behind this place, where an earlier find of the same range, key, ends, IN and
  // filters has ended. Its limit counts from there, and its offset is what was left of the earlier one's.
  const Position* behind = nullptr;

  // What every store relies on. Whoever makes a selection keeps to it, and stores assert it.
  constexpr bool is_valid() const {
    const bool is_within = range.bound == Bound::within;
    const bool is_prefix = lower.begins || upper.begins;
    if (is_prefix && (lower.values.size() != 1 || upper.is_given() || upper.begins)) return false;
    return (is_within || (!key.empty() && !lower.is_given() && !upper.is_given())) && limit >= 1 &&
           (in.values.empty() || in.key_part < key.size()) &&
           (range.bound != Bound::only || range.direction == Direction::up);
  }
  // So many parts of the index get values.
  constexpr std::size_t key_parts() const {
    const std::size_t of_ends = std::max(lower.values.size(), upper.values.size());
    return key.size() + of_ends;
  }
};

// What an assignment does to its column. For all kinds but those that begin with `set`, a NULL on either
// side leaves the column as it is.
enum class AssignKind : std::uint8_t {
  set,
  set_default,  // the column's default; there is no value
  set_now,      // the server's current time; there is no value
  set_new,      // what the insert gives the column, see InsertRows; there is no value
  add,
  subtract,
  append,
  prepend,
  at_least,  // sets it if the value is greater
  at_most,   // sets it if the value is less
  bit_and,
  bit_or,
  bit_xor,
};

// What becomes of one column of a row.
struct Assignment {
  std::uint32_t column = 0;  // its position among the columns of the open index
  AssignKind kind = AssignKind::set;
  Value value{};
  // Of `add` and `subtract`: the lowest and the highest result, which a sum beyond them becomes. NULL:
  // there is none. Empty: neither.
  std::span<const Value> bounds{};

  // Whether it takes a value from the request that may differ from the column's own.
  constexpr bool gives_value() const {
    const bool is_made = kind == AssignKind::set_default || (kind == AssignKind::set && value.null);
    return !is_made;
  }
  // Whether the result depends on what the column holds.
  constexpr bool reads_column() const { return kind > AssignKind::set_new; }
  constexpr bool is_valid() const {
    const bool may_have_bounds = kind == AssignKind::add || kind == AssignKind::subtract;
    return bounds.empty() || (may_have_bounds && bounds.size() == 2);
  }
};

enum class ChangeKind : std::uint8_t {
  update,
  erase,
  increment,
  decrement,
  assign,
  lock,  // nothing: the rows are read and locked as an update does it
};

// What happens to the selected rows.
struct Change {
  ChangeKind kind = ChangeKind::update;
  bool rows_before = false;         // the reply contains the rows as they were before
  std::span<const Value> values{};  // for the first columns; none for `erase`, `assign` and `lock`
  bool rows_after = false;          // and as they are afterwards, each behind the row before it
  // Of `assign`, in their order: each one sees the results of those before it, as in SQL.
  std::span<const Assignment> assignments{};

  constexpr bool erases() const { return kind == ChangeKind::erase; }
  constexpr bool assigns() const { return kind == ChangeKind::assign; }
  constexpr bool only_locks() const { return kind == ChangeKind::lock; }
  constexpr bool gives_rows() const { return rows_before || rows_after; }

  // How many columns it writes, which one that is, and whether it gives it a value of its own.
  constexpr std::size_t columns() const { return assigns() ? assignments.size() : values.size(); }
  constexpr std::size_t column(std::size_t number) const {
    return assigns() ? assignments[number].column : number;
  }
  constexpr const Value& value(std::size_t number) const {
    return assigns() ? assignments[number].value : values[number];
  }
  constexpr bool gives_value(std::size_t number) const {
    return assigns() ? assignments[number].gives_value() : !values[number].null;
  }
};

// A new row.
struct Insert {
  std::span<const Value> values{};  // for the first columns of the open index
  // A 0 for the AUTO_INCREMENT column is a value. Where the server would make an id in its place, the answer is
  // zero_asks_for_id.
  bool keeps_zero = false;
};

// What an insert does about a row that is there already and has a unique value of the new one.
enum class OnDuplicate : std::uint8_t {
  fail,     // the request is answered with the error
  ignore,   // the new row is left out. Other mistakes become warnings, as SQL's IGNORE does it
  replace,  // every such row is deleted before the new one is inserted
  update,   // such a row is assigned to, and the new one is not inserted
};

// Several new rows as one statement: all of them or none.
struct InsertRows {
  std::span<const Value>
      values{};             // of each row the values for the first columns of the open index
  std::size_t columns = 1;  // so many of each row
  OnDuplicate on_duplicate = OnDuplicate::fail;
  // Of `update`: what becomes of the row that is there. `set_new` is what the new row would have held.
  std::span<const Assignment> assignments{};
  // Of `update`: the row that is there is left alone if it does not fulfil all of them.
  std::span<const Filter> condition{};

  constexpr std::size_t rows() const { return values.size() / columns; }
  constexpr std::span<const Value> row(std::size_t number) const {
    return values.subspan(number * columns, columns);
  }
  constexpr bool updates() const { return on_duplicate == OnDuplicate::update; }
  constexpr bool is_valid() const {
    return columns != 0 && !values.empty() && values.size() % columns == 0 &&
           updates() != assignments.empty() && (updates() || condition.empty());
  }
};

// The value of an AUTO_INCREMENT column. A signed column may hold a negative one.
struct InsertId {
  std::uint64_t bits = 0;
  bool is_signed = false;

  constexpr bool is_negative() const { return is_signed && static_cast<std::int64_t>(bits) < 0; }
  constexpr std::uint64_t magnitude() const { return is_negative() ? 0 - bits : bits; }
};

// What became of one row of several.
enum class RowFate : std::uint8_t {
  inserted,
  updated,
  unchanged,  // the row that is there holds what it was to be assigned
  ignored,
  replaced,  // another row was deleted for it
  unmet,     // the row that is there does not fulfil the condition
};
struct InsertedRow {
  RowFate fate = RowFate::inserted;
  // Of the row that is in the table now; of an ignored row there is none.
  std::optional<InsertId> id{};
};

// What a write has done.
struct Changed {
  std::uint64_t rows = 0;        // so many rows count as changed; of `lock`, so many were locked
  std::optional<InsertId> id{};  // of an insert
};

}  // namespace hs::store
