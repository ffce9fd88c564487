// HS.DESCRIBE: the columns and indexes of a table, as the account may see them.
#include "keys/key.h"
#include "redis/session/work.h"
#include "store/table_description.h"

namespace hs::redis {
namespace {

void write_column(Reply& reply, const store::DescribedColumn& column) {
  reply.map(6);
  reply.bulk("name");
  reply.bulk(column.name);
  reply.bulk("type");
  reply.bulk(column.type);
  reply.bulk("nullable");
  reply.boolean(column.is_nullable);
  reply.bulk("generated");
  reply.boolean(column.is_generated);
  reply.bulk("auto_increment");
  reply.boolean(column.is_auto_increment);
  reply.bulk("invisible");
  reply.boolean(column.is_invisible);
}

void write_part(Reply& reply, const store::DescribedPart& part) {
  reply.map(3);
  reply.bulk("column");
  if (part.column.empty()) {
    reply.null();
  } else {
    reply.bulk(part.column);
  }
  reply.bulk("descends");
  reply.boolean(part.descends);
  reply.bulk("prefix");
  reply.boolean(part.is_prefix);
}

void write_index(Reply& reply, const store::DescribedIndex& index) {
  reply.map(4);
  reply.bulk("name");
  reply.bulk(index.name);
  reply.bulk("unique");
  reply.boolean(index.is_unique);
  reply.bulk("ordered");
  reply.boolean(index.is_ordered);
  reply.bulk("parts");
  reply.array(index.parts.size());
  for (const store::DescribedPart& part : index.parts) write_part(reply, part);
}

}  // namespace

store::Outcome describe_table(Work& work, Words words) {
  keys::KeyNames names;
  const keys::KeyMistake mistake = keys::read_names(words[1], work.default_database, names);
  if (mistake != keys::KeyMistake::none) return keys::status_of(mistake);
  if (words[1].find(':') != std::string_view::npos || !names.index.empty())
    return say(work, "ERR a table is named as db.table, without an index or a key behind it");
  store::TableDescription table;
  const store::Outcome outcome = work.store.describe_table({.database = names.database,
                                                            .table = names.table,
                                                            .index = {},
                                                            .columns = {},
                                                            .filter_columns = {}},
                                                           work.caller, table);
  if (!outcome.ok()) return outcome;
  Reply& reply = work.reply;
  reply.map(2);
  reply.bulk("columns");
  reply.array(table.columns.size());
  for (const store::DescribedColumn& column : table.columns) write_column(reply, column);
  reply.bulk("indexes");
  reply.array(table.indexes.size());
  for (const store::DescribedIndex& index : table.indexes) write_index(reply, index);
  return {};
}

}  // namespace hs::redis
