// HGETDEL, and what is to be known before columns become NULL.
#include <string>
#include <vector>

#include "redis/protocol/number.h"
#include "redis/session/hash_columns.h"
#include "redis/session/row_replies.h"
#include "redis/session/work.h"

namespace hs::redis {
namespace {

using store::Outcome;
using store::Value;

// Whether a column that is to become NULL cannot be: without strict mode, SQL would put something else in
// its place.
bool is_never_null(const store::ShapedColumn& column) {
  return !column.is_nullable && !column.is_generated;
}

// A field that is given twice is not there any more the second time.
std::vector<std::int32_t> places_of_first(const RowAccess& access) {
  std::vector<std::int32_t> places = access.places;
  std::vector<bool> is_taken(access.field_columns);
  for (std::int32_t& place : places) {
    if (place < 0) continue;
    if (is_taken[static_cast<std::size_t>(place)]) place = RowAccess::no_column;
    if (place >= 0) is_taken[static_cast<std::size_t>(place)] = true;
  }
  return places;
}

}  // namespace

Outcome look_for(Work& work, const KeyedRow& row, bool& is_there) {
  store::Changed locked;
  const Outcome outcome =
      work.store.modify(*row.use, row.selection(work), {.kind = store::ChangeKind::lock}, nullptr,
                        work.out(), locked);
  is_there = locked.rows != 0;
  return outcome;
}

Outcome choose_nulls(Work& work, const KeyedRow& row, Words fields, bool& is_there) {
  const RowAccess& access = *row.access;
  std::vector<Value>& values = work.scratch.values;
  values.assign(access.field_columns, Value{{}, true});
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::int32_t place = access.places[i];
    if (place == RowAccess::no_column) continue;
    if (place < 0) return part_of_key(work, fields[i]);
    const std::uint32_t position = access.positions[static_cast<std::size_t>(place)];
    const store::ShapedColumn& column = access.shape->columns[position];
    // SQL takes NULL for a column that is computed, and does nothing. It refuses a value.
    if (column.is_generated) values[static_cast<std::size_t>(place)] = Value{};
    if (!is_never_null(column) || !is_there) continue;
    if (const Outcome looked = look_for(work, row, is_there); !looked.ok()) return looked;
    if (is_there)
      return say(work, "ERR 1048 23000 Column " + in_quotes(fields[i]) + " cannot be null");
  }
  // If nothing is to be changed, the store asks nobody what the caller may know of the table.
  if (access.field_columns == 0) return keys::check_current(work, row, work.caller);
  return {};
}

Outcome take_from_hash(Work& work, Words words) {
  if (!is_word(words[2], "fields")) {
    return say(work, "ERR Mandatory argument FIELDS is missing or not at the right position");
  }
  std::int64_t count = 0;
  if (!read_integer(words[3], count) || count < 1)
    return say(work, "ERR Number of fields must be a positive integer");
  const Words fields = words.subspan(4);
  if (static_cast<std::uint64_t>(count) != fields.size())
    return say(work, "ERR The `numfields` parameter must match the number of arguments");
  return with_row(work, words[1], Asks::changes, fields, [&](const KeyedRow& row) -> Outcome {
    bool is_there = true;
    if (const Outcome chosen = choose_nulls(work, row, fields, is_there); !chosen.ok())
      return chosen;
    store::Changed changed;
    const std::size_t begin = work.out().size();
    if (row.access->field_columns != 0) {
      const std::vector<std::int32_t> places = places_of_first(*row.access);
      FieldRows before(work.reply, places, true);
      const store::Change change{.rows_before = true, .values = work.scratch.values};
      const Outcome updated =
          work.store.modify(*row.use, row.selection(work), change, &before, work.out(), changed);
      if (!updated.ok() || work.out().size() != begin) return updated;
    }
    work.reply.array(fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) work.reply.null();
    return {};
  });
}

}  // namespace hs::redis
