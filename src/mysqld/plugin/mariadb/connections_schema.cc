#include "mysqld/plugin/mariadb/connections_schema.h"

#include <exception>
#include <utility>

#include "mysqld/plugin/connections_table.h"
#include "mysqld/server/api.h"

namespace hs::mysqld {
namespace {

ST_FIELD_INFO field_of(const ConnectionColumn& column) {
  const Show::Type type = column.text_length == 0 ? Show::Type(Show::ULonglong())
                                                  : Show::Type(Show::Varchar(column.text_length));
  return Show::Column(column.name, type, NOT_NULL, nullptr);
}

template <std::size_t... index>
auto fields_of(std::index_sequence<index...> /*indexes*/) {
  return std::array<ST_FIELD_INFO, sizeof...(index) + 1>{field_of(connection_columns[index])...,
                                                         Show::CEnd()};
}

void store(Field& field, const ConnectionCell& cell) {
  if (const auto* const number = std::get_if<std::uint64_t>(&cell)) {
    field.store(static_cast<longlong>(*number), true);
  } else {
    const std::string_view text = std::get<std::string_view>(cell);
    field.store(text.data(), text.size(), system_charset_info);
  }
}

int fill(THD* thd, TABLE_LIST* tables, COND* /*condition*/) try {
  if (check_global_access(thd, PROCESS_ACL, true)) return 0;
  const ConnectionRows connections = connection_rows();
  if (!connections.is_complete) {
    push_warning(thd, Sql_condition::WARN_LEVEL_WARN, ER_UNKNOWN_ERROR, connections_are_missing);
  }
  TABLE& table = *tables->table;
  for (const ConnectionRow& row : connections.rows) {
    for (std::size_t i = 0; i < connection_columns.size(); ++i) {
      store(*table.field[i], connection_columns[i].cell(row));
    }
    if (schema_table_store_record(thd, &table)) return 1;
  }
  return 0;
} catch (const std::exception&) {  // no memory
  my_error(ER_OUT_OF_RESOURCES, MYF(0));
  return 1;
}

}  // namespace

int init_connections_schema(void* schema_table) {
  static auto fields = fields_of(std::make_index_sequence<connection_columns.size()>{});
  auto& schema = *static_cast<ST_SCHEMA_TABLE*>(schema_table);
  schema.fields_info = fields.data();
  schema.fill_table = fill;
  return 0;
}

}  // namespace hs::mysqld
