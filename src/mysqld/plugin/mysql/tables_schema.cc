#include "mysqld/plugin/mysql/tables_schema.h"

#include <exception>
#include <memory>
#include <new>
#include <string>

#include "mysqld/plugin/shown_tables.h"
#include "mysqld/server/api.h"

namespace hs::mysqld {
namespace {

// The server's services that the tables need. They are held as long as there are the tables.
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

constexpr std::size_t no_row = static_cast<std::size_t>(-1);

// What one reader of a table has seen. The server makes another one to read rows by their
// positions, so a position is the key of a row.
struct Cursor {
  const ShownTable* table;
  std::unique_ptr<ShownRows> rows;  // null: there was no memory for them
  std::size_t next = 0;
  std::size_t row = no_row;
  std::uint64_t position = 0;
};

Cursor& cursor_of(PSI_table_handle* handle) { return *reinterpret_cast<Cursor*>(handle); }
bool has_rows(PSI_table_handle* handle) {
  return handle != nullptr && cursor_of(handle).rows != nullptr;
}

// The server does not say which table it opens, so each has a function of its own.
template <std::size_t number>
PSI_table_handle* open_table(PSI_pos** position) {
  static std::uint64_t no_position = 0;
  auto* const cursor = new (std::nothrow) Cursor{.table = shown_tables[number], .rows = {}};
  *position = reinterpret_cast<PSI_pos*>(cursor == nullptr ? &no_position : &cursor->position);
  return reinterpret_cast<PSI_table_handle*>(cursor);
}

void close_table(PSI_table_handle* handle) { delete reinterpret_cast<Cursor*>(handle); }

// The server does not look at the result, so the first row has to say that the scan has failed.
int begin_scan(PSI_table_handle* handle, bool /*scan*/) {
  if (handle == nullptr) return HA_ERR_OUT_OF_MEM;
  Cursor& cursor = cursor_of(handle);
  cursor.next = 0;
  cursor.row = no_row;
  cursor.rows.reset();
  try {
    cursor.rows = cursor.table->ask();
  } catch (const std::exception&) {
    return HA_ERR_OUT_OF_MEM;
  }
  if (cursor.rows->warning != nullptr) {
    push_warning(current_thd, Sql_condition::SL_WARNING, ER_UNKNOWN_ERROR, cursor.rows->warning);
  }
  return 0;
}

int next_row(PSI_table_handle* handle) {
  if (!has_rows(handle)) return HA_ERR_OUT_OF_MEM;
  Cursor& cursor = cursor_of(handle);
  if (cursor.next == cursor.rows->size()) return PFS_HA_ERR_END_OF_FILE;
  cursor.row = cursor.next++;
  cursor.position = cursor.rows->key(cursor.row);
  return 0;
}

int row_at_position(PSI_table_handle* handle) {
  if (!has_rows(handle)) return HA_ERR_OUT_OF_MEM;
  Cursor& cursor = cursor_of(handle);
  for (std::size_t row = 0; row < cursor.rows->size(); ++row) {
    if (cursor.rows->key(row) != cursor.position) continue;
    cursor.row = row;
    return 0;
  }
  return PFS_HA_ERR_RECORD_DELETED;
}

void begin_again(PSI_table_handle* handle) {
  if (handle == nullptr) return;
  cursor_of(handle).next = 0;
}

int read_column(PSI_table_handle* handle, PSI_field* field, unsigned index) {
  if (!has_rows(handle)) return HA_ERR_INTERNAL_ERROR;
  const Cursor& cursor = cursor_of(handle);
  if (cursor.row == no_row || index >= cursor.table->columns.size()) return HA_ERR_INTERNAL_ERROR;
  const Cell cell = cursor.rows->cell(cursor.row, index);
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

std::string column_definitions(const ShownTable& table) {
  std::string definitions;
  for (const ShownColumn& column : table.columns) {
    if (!definitions.empty()) definitions += ", ";
    definitions += column.name;
    definitions += column.text_length == 0 ? " BIGINT UNSIGNED"
                                           : " VARCHAR(" + std::to_string(column.text_length) + ")";
    definitions += " NOT NULL";
  }
  return definitions;
}

template <std::size_t number>
PFS_engine_table_share_proxy* share() {
  static const std::string definitions = column_definitions(*shown_tables[number]);
  static PFS_engine_table_share_proxy proxy = [] {
    const std::string_view name = shown_tables[number]->name;
    PFS_engine_table_share_proxy made{};
    made.m_table_name = name.data();
    made.m_table_name_length = static_cast<unsigned>(name.size());
    made.m_table_definition = definitions.c_str();
    made.m_ref_length = sizeof(Cursor::position);
    made.m_acl = READONLY;
    made.get_row_count = likely_row_count;
    made.m_proxy_engine_table.rnd_next = next_row;
    made.m_proxy_engine_table.rnd_init = begin_scan;
    made.m_proxy_engine_table.rnd_pos = row_at_position;
    made.m_proxy_engine_table.read_column_value = read_column;
    made.m_proxy_engine_table.reset_position = begin_again;
    made.m_proxy_engine_table.open_table = open_table<number>;
    made.m_proxy_engine_table.close_table = close_table;
    return made;
  }();
  return &proxy;
}

using Shares = std::array<PFS_engine_table_share_proxy*, shown_tables.size()>;

Shares shares() {
  return []<std::size_t... number>(std::index_sequence<number...>) {
    return Shares{share<number>()...};
  }
  (std::make_index_sequence<shown_tables.size()>{});
}

// Takes away the first `count` tables. False if one of them is being read; then all stay.
bool remove_tables(Shares& list, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (services->tables->delete_tables(&list[i], 1) == 0) continue;
    while (i > 0) services->tables->add_tables(&list[--i], 1);
    return false;
  }
  return true;
}

}  // namespace

bool add_tables_schema() try {
  auto found = std::make_unique<Services>();
  if (!found->are_there()) return false;
  services = std::move(found);
  Shares list = shares();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (services->tables->add_tables(&list[i], 1) == 0) continue;
    remove_tables(list, i);
    services.reset();
    return false;
  }
  return true;
} catch (const std::exception&) {  // no memory
  services.reset();
  return false;
}

bool remove_tables_schema() {
  if (services == nullptr) return true;
  Shares list = shares();
  if (!remove_tables(list, list.size())) return false;
  services.reset();
  return true;
}

}  // namespace hs::mysqld
