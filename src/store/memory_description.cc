// What a table in memory tells of its columns and indexes.
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

}  // namespace hs::store
