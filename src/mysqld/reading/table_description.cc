#include "mysqld/reading/table_description.h"

#include <algorithm>
#include <string>
#include <vector>

#include "mysqld/server/api.h"

namespace hs::mysqld {
namespace {

store::DescribedColumn described(const TABLE& table, const Field& field) {
  return {.name = std::string(server::name_of(field)),
          .type = server::sql_type_of(field),
          .character_set = std::string(server::character_set_of(field)),
          .decimals = server::decimals_of(field),
          .is_unsigned = server::is_unsigned_number(field),
          .is_nullable = server::is_nullable(field),
          .is_generated = server::is_generated(field) || server::is_version_column(field),
          .is_auto_increment = table.found_next_number_field == &field,
          .is_invisible = server::is_invisible(field)};
}

store::DescribedPart described(const KEY_PART_INFO& part, const Field& column) {
  const bool is_string = server::is_plain_string(column) || server::is_blob(column);
  return {
      .column = server::is_hidden(column) ? std::string() : std::string(server::name_of(column)),
      .descends = (part.key_part_flag & HA_REVERSE_SORT) != 0,
      .is_prefix = is_string && (part.length < column.key_length() ||
                                 (part.key_part_flag & (HA_PART_KEY_SEG | HA_BLOB_PART)) != 0)};
}

}  // namespace

std::vector<std::string> column_names_of(TABLE& table) {
  std::vector<std::string> names;
  for (Field** field = table.field; *field != nullptr; ++field) {
    if (!server::is_hidden(**field)) names.emplace_back(server::name_of(**field));
  }
  return names;
}

store::TableDescription describe(TABLE& table,
                                 const std::function<bool(const std::string&)>& is_seen) {
  store::TableDescription description;
  for (Field** field = table.field; *field != nullptr; ++field) {
    if (!server::is_hidden(**field) && is_seen(std::string(server::name_of(**field))))
      description.columns.push_back(described(table, **field));
  }
  for (uint number = 0; number < table.s->keys; ++number) {
    if (!server::is_searchable(table, number)) continue;
    const KEY& key = table.key_info[number];
    store::DescribedIndex index{
        .name = std::string(server::index_name(key)),
        .number = number,
        .is_unique = (key.flags & HA_NOSAME) != 0,
        .is_ordered = (table.file->index_flags(number, 0, true) & HA_READ_ORDER) != 0};
    bool all_seen = true;
    for (uint i = 0; i < key.user_defined_key_parts; ++i) {
      const Field& column = *table.field[key.key_part[i].fieldnr - 1];
      if (server::is_version_column(column)) continue;
      all_seen =
          all_seen && std::ranges::all_of(server::columns_of_key_part(table, column), is_seen);
      index.parts.push_back(described(key.key_part[i], column));
    }
    if (all_seen) description.indexes.push_back(std::move(index));
  }
  return description;
}

}  // namespace hs::mysqld
