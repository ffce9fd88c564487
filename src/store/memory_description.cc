// What the tables in memory tell of their names, columns and indexes.
#include <set>
#include <string>

#include "store/memory_caller.h"
#include "store/memory_store.h"

namespace hs::store {

Outcome MemoryStore::describe_table(const IndexNames& names,
                                    const std::shared_ptr<const Caller>& caller,
                                    TableDescription& description) {
  if (!caller->may_do_everything() &&
      static_cast<const MemoryCaller&>(*caller).on(names.database, names.table) == Rights::none)
    return access_denied;
  const MemoryTable* const table = database_.find_table(names.database, names.table);
  if (table == nullptr) return Error::no_table;
  if (table->blocked()) return Verdict::blocked;
  const MemoryTableSpec& spec = table->spec();
  for (const MemoryColumn& column : spec.columns) {
    description.columns.push_back({.name = column.name,
                                   .type = column.integer ? "bigint" : "text",
                                   .character_set = {},
                                   .is_nullable = column.nullable,
                                   .is_auto_increment = column.auto_increment});
  }
  for (const MemoryKey& key : spec.keys) {
    DescribedIndex& index = description.indexes.emplace_back(
        DescribedIndex{.name = key.name,
                       .number = static_cast<std::uint32_t>(description.indexes.size()),
                       .is_unique = key.unique});
    for (const std::uint32_t column : key.columns)
      index.parts.push_back({.column = spec.columns[column].name});
  }
  return {};
}

Outcome MemoryStore::list_names(std::optional<std::string_view> database,
                                const std::shared_ptr<const Caller>& caller, Sink* sink,
                                std::vector<std::string>& names) {
  if (sink == nullptr) return Verdict::oversized;
  const auto sees = [&](const MemoryTableSpec& table) {
    return caller->may_do_everything() ||
           static_cast<const MemoryCaller&>(*caller).on(table.database, table.name) != Rights::none;
  };
  std::set<std::string> found;
  for (const MemoryTable& table : database_.tables()) {
    const MemoryTableSpec& spec = table.spec();
    if (!sees(spec) || (database && spec.database != *database)) continue;
    found.insert(database ? spec.name : spec.database);
  }
  if (database && found.empty()) return caller->may_do_everything() ? no_database : database_denied;
  names.assign(found.begin(), found.end());
  return {};
}

}  // namespace hs::store
