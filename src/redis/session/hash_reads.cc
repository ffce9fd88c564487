// The commands that read a row.
#include "redis/session/row_replies.h"
#include "redis/session/work.h"

namespace hs::redis {
namespace {

using store::Outcome;

Outcome get_fields(Work& work, std::string_view key, Words fields, bool is_list) {
  return with_row(work, key, Asks::fields, fields, [&](const KeyedRow& row) {
    FieldRows rows(work.reply, row.access->places, is_list);
    store::Found found;
    const Outcome outcome = find_row(work, row, rows, found);
    if (!outcome.ok() || found.rows != 0) return outcome;
    if (is_list) work.reply.array(fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) work.reply.null();
    return outcome;
  });
}

Outcome get_every(Work& work, std::string_view key, EveryRow::Wants wants) {
  return with_row(work, key, Asks::every, {}, [&](const KeyedRow& row) {
    EveryRow rows(work.reply, wants, row.access->written_names);
    store::Found found;
    const Outcome outcome = find_row(work, row, rows, found);
    if (!outcome.ok() || found.rows != 0) return outcome;
    if (wants == EveryRow::Wants::both) {
      work.reply.map(0);
    } else {
      work.reply.array(0);
    }
    return outcome;
  });
}

// Answers a number. Without a field, how many columns are not NULL.
Outcome get_number(Work& work, Command command, std::string_view key, Words fields) {
  const Asks asks = command == Command::hlen ? Asks::every : Asks::fields;
  return with_row(work, key, asks, fields, [&](const KeyedRow& row) {
    CountingRows rows(CountingRows::all);
    store::Found found;
    const Outcome outcome = find_row(work, row, rows, found);
    if (!outcome.ok()) return outcome;
    work.reply.integer(
        static_cast<std::int64_t>(command == Command::hstrlen ? rows.bytes : rows.present));
    return outcome;
  });
}

}  // namespace

Outcome read_hash(Work& work, Command command, Words words) {
  const std::string_view key = words[1];
  const Words fields = words.subspan(2);
  switch (command) {
    case Command::hget: return get_fields(work, key, fields, false);
    case Command::hmget: return get_fields(work, key, fields, true);
    case Command::hgetall: return get_every(work, key, EveryRow::Wants::both);
    case Command::hkeys: return get_every(work, key, EveryRow::Wants::names);
    case Command::hvals: return get_every(work, key, EveryRow::Wants::values);
    default: return get_number(work, command, key, fields);
  }
}

}  // namespace hs::redis
