// What is the same in every family of opening tables. The servers' functions share their names here.
#include "mysqld/server/table_opening.h"

#include "mysqld/server_api.h"

namespace hs::mysqld::server {
namespace {

enum_sql_command sql_command(Purpose purpose) {
  switch (purpose) {
    case Purpose::insert: return SQLCOM_INSERT;
    case Purpose::update: return SQLCOM_UPDATE;
    case Purpose::erase: return SQLCOM_DELETE;
    case Purpose::read: break;
  }
  return SQLCOM_SELECT;
}

// As a bit of a request's trg_event_map.
std::uint8_t trigger_event(Purpose purpose) {
  switch (purpose) {
    case Purpose::insert: return 1U << TRG_EVENT_INSERT;
    case Purpose::update: return 1U << TRG_EVENT_UPDATE;
    case Purpose::erase: return 1U << TRG_EVENT_DELETE;
    case Purpose::read: break;
  }
  return 0;
}

}  // namespace

bool is_name(std::string_view name) {
  return !name.empty() && !my_isspace(system_charset_info, name.back()) &&
         name.find('\0') == std::string_view::npos &&
         well_formed_length(system_charset_info, name) == name.size() &&
         count_characters(system_charset_info, name) <= NAME_CHAR_LEN;
}

TABLE* open_single(THD* thd, TableRequest& request, Purpose purpose, bool& repairable) {
  thd->lex->sql_command = sql_command(purpose);
  Open_table_context context(thd, 0);
  const bool failed = open_table(thd, &request, &context);
  repairable = context.can_recover_from_failed_open();
  return failed ? nullptr : request.table;
}

TABLE* open_with_needs(THD* thd, TableRequest& request, Purpose purpose) {
  lex_start(thd);
  thd->lex->sql_command = sql_command(purpose);
  thd->lex->add_to_query_tables(&request);
  request.trg_event_map = trigger_event(purpose);
  return open_and_lock(thd, request, purpose) ? request.table : nullptr;
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
    default: return own_open_failure(error);
  }
}

void close_tables(THD* thd, bool opened_with_needs) {
  close_thread_tables(thd);
  if (!opened_with_needs) return;
  end_statement_with_needs(thd);
  lex_end(thd->lex);
  lex_start(thd);
  // A pass may hold thousands of such statements.
  free_memory(thd);
}

}  // namespace hs::mysqld::server
