// HINCRBY and HINCRBYFLOAT.
//
// A column of numbers is added to by SQL's rules, in one statement. Of a text the number is read and
// written here, while the row is locked: as a unit.
#include <cmath>
#include <string>

#include "redis/protocol/number.h"
#include "redis/session/row_replies.h"
#include "redis/session/work.h"

namespace hs::redis {
namespace {

using store::AssignKind;
using store::Outcome;
using store::Spelling;
using store::Value;

struct Sum {
  std::string_view key;
  std::string_view field;
  std::string_view amount;
  bool is_float;
};

// A trigger may have made it NULL.
void answer(Work& work, const Sum& sum, const OneValue& result) {
  if (result.is_null) return work.reply.null();
  if (sum.is_float) return work.reply.bulk(result.text);
  work.out().push_back(':');
  work.out().append(result.text);
  work.out().append("\r\n");
}

// Which rows are assigned to, by what their column is.
enum class Where : std::uint8_t { any, null, not_null };

Outcome assign(Work& work, const KeyedRow& row, AssignKind kind, std::string_view value,
               OneValue& rows, Where where = Where::any) {
  const store::Assignment assignment{.column = 0, .kind = kind, .value = {value}};
  const store::Change change{.kind = store::ChangeKind::assign,
                             .rows_before = true,
                             .rows_after = true,
                             .assignments = {&assignment, 1}};
  using enum store::Comparison;
  const store::Filter condition{
      store::FilterKind::skip, where == Where::null ? equal : not_equal, 0, {{}, true}};
  store::Selection selection = row.selection(work);
  if (where != Where::any) selection.filters = {&condition, 1};
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
    if (const Outcome inserted = insert(work, row, result); !inserted.ok()) return inserted;
    after.text = result;
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

// Of a number. The usual case is one statement, for a column that is not NULL.
Outcome add_to_number(Work& work, const KeyedRow& row, const Sum& sum, std::string_view first) {
  constexpr int most_tries = 3;
  Outcome outcome;
  for (int tries = 0; tries < most_tries; ++tries) {
    OneValue rows;
    outcome = assign(work, row, AssignKind::add, sum.amount, rows, Where::not_null);
    if (outcome.ok() && rows.rows == 0)
      outcome = assign(work, row, AssignKind::set, first, rows, Where::null);
    if (!outcome.ok()) return outcome;
    if (rows.rows != 0) {
      answer(work, sum, rows);
      return outcome;
    }
    outcome = insert(work, row, first);
    if (outcome.ok()) {
      rows.text = first;
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
  if (spelling != Spelling::text) return in_words_of_redis(add_to_number(work, row, sum, first));
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
