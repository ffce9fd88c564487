// HINCRBY and HINCRBYFLOAT.
//
// A column of numbers is added to by SQL's rules, in one statement. Of a text the number is read and
// written here, while the row is locked: as a unit.
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>

#include "keys/spelling.h"
#include "redis/protocol/number.h"
#include "redis/session/row_replies.h"
#include "redis/session/work.h"

namespace hs::redis {
namespace {

using store::AssignKind;
using store::Comparison;
using store::Filter;
using store::Outcome;
using store::Spelling;
using store::Value;

struct Sum {
  std::string_view key;
  std::string_view field;
  std::string_view amount;
  bool is_float;
};

// A column with ZEROFILL shows zeros that no number of RESP has. A trigger may have made the sum NULL, or
// something that RESP has no number for.
void answer(Work& work, const Sum& sum, const OneValue& result) {
  if (result.is_null) return work.reply.null();
  std::int64_t number = 0;
  if (!sum.is_float && read_integer(keys::without_zeros(result.text), number))
    return work.reply.integer(number);
  work.reply.bulk(result.text);
}

// What the column has to hold. The value lives as long as the filter.
constexpr Filter column_is(Comparison comparison, Value value) {
  return {store::FilterKind::skip, comparison, 0, value};
}

Outcome assign(Work& work, const KeyedRow& row, AssignKind kind, std::string_view value,
               OneValue& rows, std::span<const Filter> filters = {}) {
  const store::Assignment assignment{.column = 0, .kind = kind, .value = {value}};
  const store::Change change{.kind = store::ChangeKind::assign,
                             .rows_before = true,
                             .rows_after = true,
                             .assignments = {&assignment, 1}};
  store::Selection selection = row.selection(work);
  selection.filters = filters;
  rows = OneValue();
  store::Changed changed;
  return work.store.modify(*row.use, selection, change, &rows, work.out(), changed);
}

Outcome insert(Work& work, const KeyedRow& row, std::string_view value) {
  std::vector<Value>& values = work.scratch.values;
  values.assign(1, Value{value});
  values.insert(values.end(), work.scratch.parts.begin(), work.scratch.parts.end());
  return keys::insert_row(work, row, values);
}

// Within a unit: inserts the row and reads what it holds then. A trigger may have made another value of it,
// and where SQL is not strict, the column may have taken the nearest one.
Outcome insert_and_read(Work& work, const KeyedRow& row, std::string_view value, OneValue& rows) {
  if (const Outcome inserted = insert(work, row, value); !inserted.ok()) return inserted;
  rows = OneValue();
  const store::Change read{.kind = store::ChangeKind::lock, .rows_before = true};
  store::Changed changed;
  const Outcome outcome =
      work.store.modify(*row.use, row.selection(work), read, &rows, work.out(), changed);
  if (rows.rows == 0) rows.text = value;  // a trigger has given it another key
  return outcome;
}

// The same as a unit of its own. A table without transactions has none, and an engine without savepoints none
// behind other requests. There it is inserted alone: nothing may come behind a write that cannot be undone.
Outcome insert_as_unit(Work& work, const KeyedRow& row, std::string_view value, OneValue& rows) {
  const auto requests = [&] { return insert_and_read(work, row, value, rows); };
  if (work.is_in_unit) return requests();
  const Outcome outcome = store::run_unit(work.store, work.out(), requests);
  const bool has_no_unit = outcome.verdict() == store::Verdict::not_yet ||
                           (outcome.answered() && outcome.status() == store::cannot_be_undone);
  if (!has_no_unit) return outcome;
  rows.text = value;
  return insert(work, row, value);
}

// Adds to what the column holds as a text. False: it is no number, or there would be none.
Status add_to_text(const Sum& sum, std::string_view before, std::string& after) {
  if (sum.is_float) {
    if (!is_float(before)) return status_of(Mistake::hash_not_a_float);
    const long double result = long_double_of(before) + long_double_of(sum.amount);
    if (!std::isfinite(result)) return status_of(Mistake::not_a_number);
    after = text_of(result);
    return {};
  }
  std::int64_t left = 0;
  std::int64_t right = 0;
  if (!read_integer(before, left)) return status_of(Mistake::hash_not_an_integer);
  static_cast<void>(read_integer(sum.amount, right));
  if (__builtin_add_overflow(left, right, &left)) return status_of(Mistake::overflow);
  after = std::to_string(left);
  return {};
}

// Of a text, within a unit: locks the row by a change that changes nothing, and writes the sum.
Outcome add_to_locked_text(Work& work, const KeyedRow& row, const Sum& sum,
                           std::string_view first) {
  OneValue before;
  const Outcome locked = assign(work, row, AssignKind::append, "", before);
  if (!locked.ok()) return locked;
  std::string result(first);
  OneValue after;
  if (before.rows == 0) {
    const Outcome inserted = insert_and_read(work, row, result, after);
    if (!inserted.ok()) return inserted;
  } else {
    if (!before.is_null) {
      if (const Status added = add_to_text(sum, before.text, result); !added.ok()) return added;
    }
    const Outcome set = assign(work, row, AssignKind::set, result, after);
    if (!set.ok()) return set;
  }
  answer(work, sum, after);
  return {};
}

// The greatest number that the column may hold before, so that RESP has a number for the sum.
std::string most_before(std::string_view amount) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::int64_t number = 0;
  static_cast<void>(read_integer(amount, number));
  return std::to_string(most - static_cast<std::uint64_t>(number));
}

// Whether there is a row that holds more, without changing it.
Outcome look_for_more(Work& work, const KeyedRow& row, std::string_view most, bool& is_there) {
  const Filter filter = column_is(Comparison::greater, {most});
  store::Selection selection = row.selection(work);
  selection.filters = {&filter, 1};
  store::Changed locked;
  const Outcome outcome = work.store.modify(*row.use, selection, {.kind = store::ChangeKind::lock},
                                            nullptr, work.out(), locked);
  is_there = locked.rows != 0;
  return outcome;
}

// Of a number. The usual case is one statement, for a column that is not NULL. A column without a sign may
// hold numbers that RESP does not have. They are not added to, because nobody could read the answer.
Outcome add_to_number(Work& work, const KeyedRow& row, const Sum& sum, std::string_view first,
                      bool has_sign) {
  constexpr int most_tries = 3;
  constexpr Value null{{}, true};
  const bool is_bounded = !has_sign && !sum.is_float;
  const std::string most = is_bounded ? most_before(sum.amount) : std::string();
  const std::array can_be_added_to{column_is(Comparison::not_equal, null),
                                   column_is(Comparison::less_equal, {most})};
  const Filter is_null = column_is(Comparison::equal, null);
  Outcome outcome;
  for (int tries = 0; tries < most_tries; ++tries) {
    OneValue rows;
    outcome = assign(work, row, AssignKind::add, sum.amount, rows,
                     std::span(can_be_added_to).first(is_bounded ? 2 : 1));
    if (outcome.ok() && rows.rows == 0)
      outcome = assign(work, row, AssignKind::set, first, rows, {&is_null, 1});
    bool is_too_much = false;
    if (outcome.ok() && rows.rows == 0 && is_bounded)
      outcome = look_for_more(work, row, most, is_too_much);
    if (!outcome.ok()) return outcome;
    if (is_too_much) return status_of(Mistake::overflow);
    if (rows.rows == 0) outcome = insert_as_unit(work, row, first, rows);
    if (outcome.ok()) {
      answer(work, sum, rows);
      return outcome;
    }
    // Another session may have inserted the row meanwhile. If not, it is another row's value.
    if (outcome.status().kind() != Error::duplicate_key) return outcome;
  }
  return outcome;
}

// Whether a sum of this kind is possible in such a column.
Status check_column(Work& work, const Sum& sum, Spelling spelling) {
  const bool is_whole = spelling == Spelling::integer || spelling == Spelling::whole;
  if (is_whole && sum.is_float &&
      std::floor(long_double_of(sum.amount)) != long_double_of(sum.amount)) {
    return say(work, "ERR column '" + std::string(sum.field) + "' holds whole numbers only");
  }
  if (is_whole || spelling == Spelling::text) return {};
  if (!sum.is_float) return status_of(Mistake::hash_not_an_integer);
  return spelling == Spelling::decimal || spelling == Spelling::other
             ? Status{}
             : status_of(Mistake::hash_not_a_float);
}

// A sum that the column cannot hold is what Redis calls an overflow.
Outcome in_words_of_redis(Outcome outcome) {
  const bool is_overflow = outcome.answered() && outcome.status().kind() == Error::out_of_range;
  return is_overflow ? Outcome(status_of(Mistake::overflow)) : outcome;
}

Outcome add(Work& work, const KeyedRow& row, const Sum& sum) {
  const RowAccess& access = *row.access;
  const std::int32_t place = access.places[0];
  if (place == RowAccess::no_column) {
    return say(work, "ERR no column '" + std::string(sum.field) + "' in table '" +
                         access.names.database + "." + access.names.table + "'");
  }
  if (place < 0) {
    return say(work, "ERR column '" + std::string(sum.field) +
                         "' is a part of the key and cannot be changed");
  }
  const Spelling spelling = access.shape->columns[access.positions[0]].spelling;
  if (const Status possible = check_column(work, sum, spelling); !possible.ok()) return possible;
  const std::string first =
      sum.is_float ? text_of(long_double_of(sum.amount)) : std::string(sum.amount);
  if (spelling != Spelling::text) {
    return in_words_of_redis(add_to_number(work, row, sum, first, spelling != Spelling::whole));
  }
  if (work.is_in_unit) return in_words_of_redis(add_to_locked_text(work, row, sum, first));
  return in_words_of_redis(store::run_unit(
      work.store, work.out(), [&] { return add_to_locked_text(work, row, sum, first); }));
}

Status read_amount(const Sum& sum) {
  std::int64_t number = 0;
  if (!sum.is_float)
    return read_integer(sum.amount, number) ? Status{} : status_of(Mistake::not_an_integer);
  if (is_float(sum.amount)) return {};
  return status_of(is_infinity(sum.amount) ? Mistake::not_finite : Mistake::not_a_float);
}

}  // namespace

Outcome add_to_hash(Work& work, Command command, Words words) {
  const Sum sum{words[1], words[2], words[3], command == Command::hincrbyfloat};
  if (const Status amount = read_amount(sum); !amount.ok()) return amount;
  return with_row(work, sum.key, Asks::changes, words.subspan(2, 1),
                  [&](const KeyedRow& row) { return add(work, row, sum); });
}

}  // namespace hs::redis
