// The commands that set columns of a row, or make them NULL.
#include <algorithm>
#include <string>

#include "redis/session/hash_columns.h"
#include "redis/session/row_replies.h"
#include "redis/session/work.h"

namespace hs::redis {
namespace {

using store::Outcome;
using store::Value;

// Another session may insert the row, or delete it, between two looks at it. After so many it is the
// client's to try again.
constexpr int most_tries = 3;

// Fills the values of the columns that an insert needs: those of the fields, the last one of each, and
// behind them those of the key.
Status take_values(Work& work, const KeyedRow& row, Words fields, Words values) {
  const RowAccess& access = *row.access;
  const std::vector<Value>& parts = work.scratch.parts;
  std::vector<Value>& taken = work.scratch.values;
  taken.assign(access.field_columns, Value{});
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::int32_t place = access.places[i];
    if (place == RowAccess::no_column) return no_such_column(work, row, fields[i]);
    if (place >= 0) {
      taken[static_cast<std::size_t>(place)] = {values[i]};
    } else if (values[i] != parts[RowAccess::key_part(place)].bytes) {
      return part_of_key(work, fields[i]);
    }
  }
  taken.insert(taken.end(), parts.begin(), parts.end());
  return {};
}

// How many different parts of the key are among the fields.
std::size_t key_fields(const RowAccess& access) {
  std::size_t count = 0;
  for (std::size_t part = 0; part < access.shape->key.size(); ++part) {
    const auto is_it = [&](std::int32_t place) { return place == RowAccess::of_key(part); };
    count += std::ranges::any_of(access.places, is_it) ? 1 : 0;
  }
  return count;
}

// Sets the columns of a row that is there: how many rows that are, and how many columns were NULL.
Outcome update(Work& work, const KeyedRow& row, CountingRows& before) {
  store::Changed changed;
  const store::Change change{
      .rows_before = true,
      .values = std::span<const Value>(work.scratch.values).first(row.access->field_columns)};
  return work.store.modify(*row.use, row.selection(work), change, &before, work.out(), changed);
}

// Whether the row is there, and then how many of its columns were NULL before they were set.
Outcome set_if_there(Work& work, const KeyedRow& row, bool& is_there, std::size_t& created) {
  const std::size_t columns = row.access->field_columns;
  if (columns == 0) return look_for(work, row, is_there);
  CountingRows before(columns);
  const Outcome updated = update(work, row, before);
  is_there = before.rows != 0;
  created = columns - before.present;
  return updated;
}

// `created` is how many fields came into being.
Outcome set_or_insert(Work& work, const KeyedRow& row, std::size_t& created) {
  Outcome inserted;
  for (int tries = 0; tries < most_tries; ++tries) {
    bool is_there = false;
    const Outcome set = set_if_there(work, row, is_there, created);
    if (!set.ok() || is_there) return set;
    inserted = keys::insert_row(work, row, work.scratch.values);
    // Another session may have inserted the row meanwhile. If not, it is another row's value.
    if (inserted.status().kind() != Error::duplicate_key) break;
  }
  created = row.access->field_columns + key_fields(*row.access);
  return inserted;
}

Outcome set_fields(Work& work, Command command, Words words) {
  if (words.size() % 2 != 0) return wrong_arity(work, command == Command::hset ? "hset" : "hmset");
  std::vector<std::string_view>& fields = work.scratch.fields;
  std::vector<std::string_view> values;
  fields.clear();
  for (std::size_t i = 2; i < words.size(); i += 2) {
    fields.push_back(words[i]);
    values.push_back(words[i + 1]);
  }
  return with_row(work, words[1], Asks::changes, fields, [&](const KeyedRow& row) -> Outcome {
    if (const Status taken = take_values(work, row, fields, values); !taken.ok()) return taken;
    std::size_t created = 0;
    const Outcome outcome = set_or_insert(work, row, created);
    if (!outcome.ok()) return outcome;
    if (command == Command::hmset) {
      work.reply.ok();
    } else {
      work.reply.integer(static_cast<std::int64_t>(created));
    }
    return outcome;
  });
}

// Sets the first column of a row if it is NULL, or inserts the row. `is_set` says whether one was done.
Outcome set_null_or_insert(Work& work, const KeyedRow& row, bool& is_set) {
  const store::Filter is_null{store::FilterKind::skip, store::Comparison::equal, 0, {{}, true}};
  store::Selection selection = row.selection(work);
  selection.filters = {&is_null, 1};
  const store::Change change{.values = std::span<const Value>(work.scratch.values).first(1)};
  Outcome inserted;
  for (int tries = 0; tries < most_tries; ++tries) {
    store::Changed changed;
    const Outcome set =
        work.store.modify(*row.use, selection, change, nullptr, work.out(), changed);
    is_set = changed.rows != 0;
    if (!set.ok() || is_set) return set;
    bool is_there = false;
    const Outcome looked = look_for(work, row, is_there);
    if (!looked.ok() || is_there) return looked;
    inserted = keys::insert_row(work, row, work.scratch.values);
    is_set = inserted.ok();
    if (inserted.status().kind() != Error::duplicate_key) break;
  }
  return inserted;
}

Outcome set_if_null(Work& work, Words words) {
  const Words field = words.subspan(2, 1);
  return with_row(work, words[1], Asks::changes, field, [&](const KeyedRow& row) -> Outcome {
    const std::int32_t place = row.access->places[0];
    if (place == RowAccess::no_column) return no_such_column(work, row, words[2]);
    if (place < 0) return part_of_key(work, words[2]);
    std::vector<Value>& values = work.scratch.values;
    values.assign(1, Value{words[3]});
    values.insert(values.end(), work.scratch.parts.begin(), work.scratch.parts.end());
    bool is_set = false;
    const Outcome outcome = set_null_or_insert(work, row, is_set);
    if (outcome.ok()) work.reply.integer(is_set ? 1 : 0);
    return outcome;
  });
}

Outcome clear_fields(Work& work, Words words) {
  const Words fields = words.subspan(2);
  return with_row(work, words[1], Asks::changes, fields, [&](const KeyedRow& row) -> Outcome {
    bool is_there = true;
    if (const Outcome chosen = choose_nulls(work, row, fields, is_there); !chosen.ok())
      return chosen;
    std::size_t cleared = 0;
    if (row.access->field_columns != 0) {
      CountingRows before(row.access->field_columns);
      const Outcome updated = update(work, row, before);
      if (!updated.ok()) return updated;
      cleared = before.present;
    }
    work.reply.integer(static_cast<std::int64_t>(cleared));
    return {};
  });
}

}  // namespace

Outcome change_hash(Work& work, Command command, Words words) {
  if (command == Command::hdel) return clear_fields(work, words);
  if (command == Command::hsetnx) return set_if_null(work, words);
  return set_fields(work, command, words);
}

}  // namespace hs::redis
