#include "mysqld/plugin/mariadb/tables_schema.h"

#include <exception>
#include <utility>

#include "mysqld/plugin/shown_tables.h"
#include "mysqld/server/api.h"

namespace hs::mysqld {
namespace {

ST_FIELD_INFO field_of(const ShownColumn& column) {
  const Show::Type type = column.text_length == 0 ? Show::Type(Show::ULonglong())
                                                  : Show::Type(Show::Varchar(column.text_length));
  return Show::Column(column.name, type, NOT_NULL, nullptr);
}

std::vector<ST_FIELD_INFO> fields_of(const ShownTable& table) {
  std::vector<ST_FIELD_INFO> fields;
  for (const ShownColumn& column : table.columns) fields.push_back(field_of(column));
  fields.push_back(Show::CEnd());
  return fields;
}

void store(Field& field, const Cell& cell) {
  if (const auto* const number = std::get_if<std::uint64_t>(&cell)) {
    field.store(static_cast<longlong>(*number), true);
  } else {
    const std::string_view text = std::get<std::string_view>(cell);
    field.store(text.data(), text.size(), system_charset_info);
  }
}

template <std::size_t number>
int fill(THD* thd, TABLE_LIST* tables, COND* /*condition*/) try {
  if (check_global_access(thd, PROCESS_ACL, true)) return 0;
  const std::unique_ptr<ShownRows> rows = shown_tables[number]->ask();
  if (rows->warning != nullptr) {
    push_warning(thd, Sql_condition::WARN_LEVEL_WARN, ER_UNKNOWN_ERROR, rows->warning);
  }
  TABLE& table = *tables->table;
  for (std::size_t row = 0; row < rows->size(); ++row) {
    for (std::size_t column = 0; column < shown_tables[number]->columns.size(); ++column) {
      store(*table.field[column], rows->cell(row, column));
    }
    if (schema_table_store_record(thd, &table)) return 1;
  }
  return 0;
} catch (const std::exception&) {  // no memory
  my_error(ER_OUT_OF_RESOURCES, MYF(0));
  return 1;
}

}  // namespace

template <std::size_t number>
int init_table_schema(void* schema_table) try {
  static std::vector<ST_FIELD_INFO> fields = fields_of(*shown_tables[number]);
  auto& schema = *static_cast<ST_SCHEMA_TABLE*>(schema_table);
  schema.fields_info = fields.data();
  schema.fill_table = fill<number>;
  return 0;
} catch (const std::exception&) {  // no memory
  return 1;
}

template int init_table_schema<0>(void*);
template int init_table_schema<1>(void*);
template int init_table_schema<2>(void*);
template int init_table_schema<3>(void*);
static_assert(shown_tables.size() == 4);

}  // namespace hs::mysqld
