#include "mysqld/plugin/mysql/connections_schema.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "mysqld/plugin/connections_table.h"
#include "mysqld/server/api.h"

namespace hs::mysqld {
namespace {

// The server's services that the table needs. They are held as long as there is the table.
struct Services {
  Services() = default;
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;
  ~Services() {
    texts.release();
    numbers.release();
    tables.release();
    mysql_plugin_registry_release(registry);
  }
  bool are_there() const { return tables.is_valid() && numbers.is_valid() && texts.is_valid(); }

  SERVICE_TYPE(registry) * registry{mysql_plugin_registry_acquire()};
  my_service<SERVICE_TYPE(pfs_plugin_table_v1)> tables{"pfs_plugin_table_v1", registry};
  my_service<SERVICE_TYPE(pfs_plugin_column_bigint_v1)> numbers{"pfs_plugin_column_bigint_v1",
                                                                registry};
  my_service<SERVICE_TYPE(pfs_plugin_column_string_v2)> texts{"pfs_plugin_column_string_v2",
                                                              registry};
};

std::unique_ptr<Services> services;

// What one reader of the table has seen. The server makes another one to read rows by their
// positions, so a position is the id of a connection.
struct Cursor {
  ConnectionRows connections;
  std::size_t next = 0;
  const ConnectionRow* row = nullptr;
  std::uint64_t position = 0;
  bool has_failed = false;  // there was no memory for the rows
};

Cursor& cursor_of(PSI_table_handle* handle) { return *reinterpret_cast<Cursor*>(handle); }

PSI_table_handle* open_table(PSI_pos** position) {
  static std::uint64_t no_position = 0;
  auto* const cursor = new (std::nothrow) Cursor;
  *position = reinterpret_cast<PSI_pos*>(cursor == nullptr ? &no_position : &cursor->position);
  return reinterpret_cast<PSI_table_handle*>(cursor);
}

void close_table(PSI_table_handle* handle) { delete reinterpret_cast<Cursor*>(handle); }

// The server does not look at the result, so the first row has to say that the scan has failed.
int begin_scan(PSI_table_handle* handle, bool /*scan*/) {
  if (handle == nullptr) return HA_ERR_OUT_OF_MEM;
  Cursor& cursor = cursor_of(handle);
  cursor.next = 0;
  cursor.row = nullptr;
  cursor.has_failed = true;
  try {
    cursor.connections = connection_rows();
  } catch (const std::exception&) {
    return HA_ERR_OUT_OF_MEM;
  }
  cursor.has_failed = false;
  if (!cursor.connections.is_complete) {
    push_warning(current_thd, Sql_condition::SL_WARNING, ER_UNKNOWN_ERROR, connections_are_missing);
  }
  return 0;
}

int next_row(PSI_table_handle* handle) {
  if (handle == nullptr || cursor_of(handle).has_failed) return HA_ERR_OUT_OF_MEM;
  Cursor& cursor = cursor_of(handle);
  if (cursor.next == cursor.connections.rows.size()) return PFS_HA_ERR_END_OF_FILE;
  cursor.row = &cursor.connections.rows[cursor.next++];
  cursor.position = cursor.row->id;
  return 0;
}

int row_at_position(PSI_table_handle* handle) {
  if (handle == nullptr || cursor_of(handle).has_failed) return HA_ERR_OUT_OF_MEM;
  Cursor& cursor = cursor_of(handle);
  const auto found =
      std::ranges::find(cursor.connections.rows, cursor.position, &ConnectionRow::id);
  if (found == cursor.connections.rows.end()) return PFS_HA_ERR_RECORD_DELETED;
  cursor.row = &*found;
  return 0;
}

void begin_again(PSI_table_handle* handle) {
  if (handle == nullptr) return;
  cursor_of(handle).next = 0;
}

int read_column(PSI_table_handle* handle, PSI_field* field, unsigned index) {
  const Cursor& cursor = cursor_of(handle);
  if (cursor.row == nullptr || index >= connection_columns.size()) return HA_ERR_INTERNAL_ERROR;
  const ConnectionCell cell = connection_columns[index].cell(*cursor.row);
  if (const auto* const number = std::get_if<std::uint64_t>(&cell)) {
    services->numbers->set_unsigned(field, {*number, false});
  } else {
    const std::string_view text = std::get<std::string_view>(cell);
    services->texts->set_varchar_utf8mb4_len(field, text.data(),
                                             static_cast<unsigned>(text.size()));
  }
  return 0;
}

// For the optimizer, which need not know the exact number.
unsigned long long likely_row_count() { return 100; }

std::string column_definitions() {
  std::string definitions;
  for (const ConnectionColumn& column : connection_columns) {
    if (!definitions.empty()) definitions += ", ";
    definitions += column.name;
    definitions += column.text_length == 0 ? " BIGINT UNSIGNED"
                                           : " VARCHAR(" + std::to_string(column.text_length) + ")";
    definitions += " NOT NULL";
  }
  return definitions;
}

PFS_engine_table_share_proxy* share() {
  static const std::string definitions = column_definitions();
  static PFS_engine_table_share_proxy proxy = [] {
    constexpr std::string_view name = "handlersocket_connections";
    PFS_engine_table_share_proxy made{};
    made.m_table_name = name.data();
    made.m_table_name_length = name.size();
    made.m_table_definition = definitions.c_str();
    made.m_ref_length = sizeof(Cursor::position);
    made.m_acl = READONLY;
    made.get_row_count = likely_row_count;
    made.m_proxy_engine_table.rnd_next = next_row;
    made.m_proxy_engine_table.rnd_init = begin_scan;
    made.m_proxy_engine_table.rnd_pos = row_at_position;
    made.m_proxy_engine_table.read_column_value = read_column;
    made.m_proxy_engine_table.reset_position = begin_again;
    made.m_proxy_engine_table.open_table = open_table;
    made.m_proxy_engine_table.close_table = close_table;
    return made;
  }();
  return &proxy;
}

}  // namespace

bool add_connections_schema() try {
  auto found = std::make_unique<Services>();
  if (!found->are_there()) return false;
  services = std::move(found);
  PFS_engine_table_share_proxy* table = share();
  if (services->tables->add_tables(&table, 1) == 0) return true;
  services.reset();
  return false;
} catch (const std::exception&) {  // no memory
  services.reset();
  return false;
}

bool remove_connections_schema() {
  if (services == nullptr) return true;
  PFS_engine_table_share_proxy* table = share();
  if (services->tables->delete_tables(&table, 1) != 0) return false;
  services.reset();
  return true;
}

}  // namespace hs::mysqld
