// Opening tables: what is the same in every family. The families' server functions used here have
// the same names.
#include "mysqld/server/table_opening.h"

#include <strings.h>

#include "mysqld/server/api.h"

namespace hs::mysqld::server {
namespace {

enum_sql_command sql_command(Purpose purpose) {
  switch (purpose) {
    case Purpose::insert:
    case Purpose::insert_or_update: return SQLCOM_INSERT;
    case Purpose::replace: return SQLCOM_REPLACE;
    case Purpose::lock:  // engines lock the rows that an UPDATE finds
    case Purpose::update: return SQLCOM_UPDATE;
    case Purpose::erase: return SQLCOM_DELETE;
    case Purpose::read: break;
  }
  return SQLCOM_SELECT;
}

// The purpose as bits of a request's trg_event_map.
std::uint8_t trigger_event(Purpose purpose) {
  switch (purpose) {
    case Purpose::insert_or_update: return 1U << TRG_EVENT_INSERT | 1U << TRG_EVENT_UPDATE;
    case Purpose::replace: return 1U << TRG_EVENT_INSERT | 1U << TRG_EVENT_DELETE;
    case Purpose::insert: return 1U << TRG_EVENT_INSERT;
    case Purpose::update: return 1U << TRG_EVENT_UPDATE;
    case Purpose::erase: return 1U << TRG_EVENT_DELETE;
    case Purpose::lock:
    case Purpose::read: break;
  }
  return 0;
}

// MariaDB takes `#mysql50#shop` for another name of what is stored as `shop`. Whoever compares names
// would take it for something else.
bool begins_with_prefix(std::string_view name) {
  constexpr std::string_view prefix = "#mysql50#";
  return name.size() >= prefix.size() &&
         ::strncasecmp(name.data(), prefix.data(), prefix.size()) == 0;
}

}  // namespace

bool is_name(std::string_view name) {
  return !name.empty() && !begins_with_prefix(name) &&
         !my_isspace(system_charset_info, name.back()) &&
         name.find('\0') == std::string_view::npos &&
         well_formed_length(system_charset_info, name) == name.size() &&
         count_characters(system_charset_info, name) <= NAME_CHAR_LEN;
}

std::string stored_name(std::string_view name) {
  std::string given(name);
  if (lower_case_table_names == 0) return given;
  std::string small(2 * given.size(), '\0');
  const auto* const names = system_charset_info;
  small.resize(names->cset->casedn(names, given.data(), given.size(), small.data(), small.size()));
  return small;
}

void set_command(THD* thd, Purpose purpose) { thd->lex->sql_command = sql_command(purpose); }

TABLE* open_single(THD* thd, TableRequest& request, Purpose purpose, bool& repairable) {
  set_command(thd, purpose);
  Open_table_context context(thd, 0);
  const bool failed = open_table(thd, &request, &context);
  repairable = context.can_recover_from_failed_open();
  return failed ? nullptr : request.table;
}

TABLE* open_with_needs(THD* thd, TableRequest& request, Purpose purpose) {
  lex_start(thd);
  set_command(thd, purpose);
  thd->lex->add_to_query_tables(&request);
  request.trg_event_map = trigger_event(purpose);
  if (!open_and_lock(thd, request, purpose)) return nullptr;
  return request.table;
}

Serving serving_of(const TABLE& table) {
  if (!is_servable_kind(table)) return Serving::refused;
  switch (table.file->ht->db_type) {
    case DB_TYPE_INNODB:
    case DB_TYPE_MYISAM:
    case DB_TYPE_HEAP:
    case DB_TYPE_MRG_MYISAM:
    case DB_TYPE_CSV_DB:
    case DB_TYPE_ARCHIVE_DB:
    case DB_TYPE_BLACKHOLE_DB: return Serving::here;
    default: return serving_of_own_engine(table);
  }
}

bool has_children(const TABLE& table) { return table.file->ht->db_type == DB_TYPE_MRG_MYISAM; }

bool can_undo_all(const THD* thd) {
  for (const TABLE* table = thd->open_tables; table != nullptr; table = table->next) {
    if (table->reginfo.lock_type >= TL_WRITE_ALLOW_WRITE && !is_sequence(*table) &&
        !has_transactions(*table)) {
      return false;
    }
  }
  return true;
}

bool has_table_lock(const TABLE& table) { return table.file->lock_count() != 0; }

OpenFailure open_failure(std::uint32_t error) {
  switch (error) {
    case ER_LOCK_WAIT_TIMEOUT:
    case ER_LOCK_DEADLOCK:
    case ER_LOCK_OR_ACTIVE_TRANSACTION:
    case ER_TABLE_DEF_CHANGED:
    case 0: return OpenFailure::blocked;
    case ER_QUERY_INTERRUPTED:
    case ER_SERVER_SHUTDOWN: return OpenFailure::killed;
    case ER_CANT_LOCK:
    case ER_OPEN_AS_READONLY:
    case ER_READ_ONLY_MODE: return OpenFailure::unlockable;
    case ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION: return OpenFailure::told;
    default: return own_open_failure(error);
  }
}

void close_tables(THD* thd, bool opened_with_needs) {
  drop_half_opened_tables(thd);
  close_thread_tables(thd);
  if (!opened_with_needs) return;
  end_statement_with_needs(thd);
  lex_end(thd->lex);
  lex_start(thd);
  // A pass may contain thousands of such statements, so their memory is given back here.
  free_memory(thd);
}

}  // namespace hs::mysqld::server
