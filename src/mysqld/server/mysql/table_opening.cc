#include "mysqld/server/table_opening.h"

#include <memory>
#include <string_view>

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

enum_trigger_event_type trigger_event(Purpose purpose) {
  switch (purpose) {
    case Purpose::insert: return TRG_EVENT_INSERT;
    case Purpose::erase: return TRG_EVENT_DELETE;
    case Purpose::update:
    case Purpose::read: break;
  }
  return TRG_EVENT_UPDATE;
}

// A name as SQL's parser lets it through. The data dictionary trusts in that: what it finds under
// another spelling (cut at a malformed byte or at a blank) it would wait for, without end, the next time.
bool is_name(std::string_view name) {
  return !name.empty() && !my_isspace(system_charset_info, name.back()) &&
         name.find('\0') == std::string_view::npos &&
         well_formed_length(system_charset_info, name) == name.size() &&
         count_characters(system_charset_info, name) <= NAME_CHAR_LEN;
}

}  // namespace

void init_request(TableRequest& request, const std::string& database, const std::string& name,
                  Purpose purpose) {
  std::destroy_at(&request);
  std::construct_at(&request, database.c_str(), database.size(), name.c_str(), name.size(),
                    is_write(purpose) ? TL_WRITE : TL_READ,
                    is_write(purpose) ? MDL_SHARED_WRITE : MDL_SHARED_READ);
  // A view is refused before it is parsed.
  request.required_type = dd::enum_table_type::BASE_TABLE;
}

TABLE* open_single(THD* thd, TableRequest& request, Purpose purpose, bool& repairable) {
  if (!is_name({request.db, request.db_length}) ||
      !is_name({request.table_name, request.table_name_length})) {
    my_error(ER_WRONG_TABLE_NAME, MYF(0), request.table_name);
    repairable = false;
    return nullptr;
  }
  thd->lex->sql_command = sql_command(purpose);
  Open_table_context context(thd, 0);
  const bool failed = open_table(thd, &request, &context);
  repairable = context.can_recover_from_failed_open();
  return failed ? nullptr : request.table;
}

bool lock_single(THD* thd, TABLE& table, TableRequest& /*request*/, Purpose purpose) {
  TABLE* tables = &table;
  table.query_id = thd->query_id;
  table.reginfo.lock_type = is_write(purpose) ? TL_WRITE : TL_READ;
  // Locking shows a state of its own in SHOW PROCESSLIST, and leaves it there.
  const char* const state = thd->proc_info();
  MYSQL_LOCK* lock = mysql_lock_tables(thd, &tables, 1, 0);
  thd->set_proc_info(state);
  if (lock == nullptr) return false;
  thd->lock = thd->lock == nullptr ? lock : mysql_lock_merge(thd->lock, lock);
  if (is_write(purpose)) thd->set_current_stmt_binlog_format_row();
  return true;
}

TABLE* open_with_needs(THD* thd, TableRequest& request, Purpose purpose) {
  lex_start(thd);
  thd->lex->sql_command = sql_command(purpose);
  thd->lex->add_to_query_tables(&request);
  if (is_write(purpose)) {
    request.trg_event_map = static_cast<uint8>(1U << static_cast<unsigned>(trigger_event(purpose)));
  }
  if (open_and_lock_tables(thd, &request, 0)) return nullptr;
  return request.table;
}

// On MySQL a table with a foreign key needs its parent, too: the server itself checks that it is there.
bool needs_other_tables(const TABLE& table) {
  return table.triggers != nullptr || table.s->foreign_keys != 0 ||
         table.s->foreign_key_parents != 0;
}

bool has_table_lock(const TABLE& table) { return table.file->lock_count() != 0; }

bool is_servable(const TABLE& table) {
  return table.s->table_category == TABLE_CATEGORY_USER ||
         table.s->table_category == TABLE_CATEGORY_SYSTEM ||
         table.s->table_category == TABLE_CATEGORY_ACL_TABLE;
}

OpenFailure open_failure(std::uint32_t error) {
  switch (error) {
    case ER_LOCK_WAIT_TIMEOUT:
    case ER_LOCK_DEADLOCK:
    case ER_LOCK_OR_ACTIVE_TRANSACTION:
    case ER_TABLE_DEF_CHANGED:
    case 0: return OpenFailure::blocked;
    case ER_QUERY_INTERRUPTED:
    case ER_SERVER_SHUTDOWN: return OpenFailure::killed;
    case ER_GTID_UNSAFE_NON_TRANSACTIONAL_TABLE: return OpenFailure::told;
    default: return OpenFailure::refused;
  }
}

void close_tables(THD* thd, bool opened_with_needs) {
  close_thread_tables(thd);
  if (!opened_with_needs) return;
  // Also forgets the databases that the binary log was told of, whose names lie in the memory given back.
  thd->cleanup_after_query();
  lex_end(thd->lex);
  lex_start(thd);
  // A pass may hold thousands of such statements.
  free_memory(thd);
}

void release_metadata_locks(THD* thd) {
  thd->mdl_context.release_statement_locks();
  thd->mdl_context.release_transactional_locks();
}

}  // namespace hs::mysqld::server
