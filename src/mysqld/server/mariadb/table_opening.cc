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

trg_event_type trigger_event(Purpose purpose) {
  switch (purpose) {
    case Purpose::insert: return TRG_EVENT_INSERT;
    case Purpose::erase: return TRG_EVENT_DELETE;
    case Purpose::update:
    case Purpose::read: break;
  }
  return TRG_EVENT_UPDATE;
}

void prepare_for_write(handler& engine) {
#if MYSQL_VERSION_ID < 110400
  engine.prepare_for_insert(true);
#else
  engine.prepare_for_modify(true, true);
#endif
}

}  // namespace

void init_request(TableRequest& request, const std::string& database, const std::string& name,
                  Purpose purpose) {
  const LEX_CSTRING database_name{database.c_str(), database.size()};
  const LEX_CSTRING table_name{name.c_str(), name.size()};
  request.init_one_table(&database_name, &table_name, nullptr,
                         is_write(purpose) ? TL_WRITE : TL_READ);
  MDL_REQUEST_INIT(&request.mdl_request, MDL_key::TABLE, database.c_str(), name.c_str(),
                   is_write(purpose) ? MDL_SHARED_WRITE : MDL_SHARED_READ, MDL_TRANSACTION);
  request.i_s_requested_object = OPEN_TABLE_ONLY;
}

TABLE* open_single(THD* thd, TableRequest& request, Purpose purpose, bool& repairable) {
  thd->lex->sql_command = sql_command(purpose);
  Open_table_context context(thd, 0);
  const bool failed = open_table(thd, &request, &context);
  repairable = context.can_recover_from_failed_open();
  return failed ? nullptr : request.table;
}

bool lock_single(THD* thd, TABLE& table, TableRequest& request, Purpose purpose) {
  TABLE* tables = &table;
  table.query_id = thd->query_id;
  table.reginfo.lock_type = request.lock_type;
  MYSQL_LOCK* lock = mysql_lock_tables(thd, &tables, 1, 0);
  if (lock == nullptr) return false;
  thd->lock = thd->lock == nullptr ? lock : mysql_lock_merge(thd->lock, lock, thd);
  if (is_write(purpose)) {
    table.file->prepare_for_row_logging();
    prepare_for_write(*table.file);
  }
  return true;
}

TABLE* open_with_needs(THD* thd, TableRequest& request, Purpose purpose) {
  lex_start(thd);
  thd->lex->sql_command = sql_command(purpose);
  thd->lex->add_to_query_tables(&request);
  if (is_write(purpose)) {
    request.trg_event_map = static_cast<uint8>(1U << static_cast<unsigned>(trigger_event(purpose)));
    // Sequences that defaults draw from are opened for inserts only.
    request.for_insert_data = purpose == Purpose::insert;
  }
  if (open_and_lock_tables(thd, &request, false, 0) || request.table == nullptr) return nullptr;
  if (is_write(purpose)) prepare_for_write(*request.table->file);
  return request.table;
}

bool needs_other_tables(const TABLE& table) {
  return table.triggers != nullptr || table.internal_tables != nullptr ||
         table.file->referenced_by_foreign_key();
}

bool has_table_lock(const TABLE& table) { return table.file->lock_count() != 0; }

bool is_servable(const TABLE& table) {
#if MYSQL_VERSION_ID >= 110400
  if (table.s->table_category == TABLE_CATEGORY_MYSQL) return true;
#endif
  return table.s->table_category == TABLE_CATEGORY_USER ||
         table.s->table_category == TABLE_CATEGORY_SYSTEM;
}

OpenFailure open_failure(std::uint32_t error) {
  switch (error) {
    case ER_LOCK_WAIT_TIMEOUT:
    case ER_LOCK_DEADLOCK:
    case ER_LOCK_OR_ACTIVE_TRANSACTION:
    case ER_TABLE_DEF_CHANGED:
    case 0: return OpenFailure::blocked;
    case ER_QUERY_INTERRUPTED:
    case ER_CONNECTION_KILLED:
    case ER_SERVER_SHUTDOWN: return OpenFailure::killed;
    default: return OpenFailure::refused;
  }
}

void close_tables(THD* thd, bool opened_with_needs) {
  close_thread_tables(thd);
  if (!opened_with_needs) return;
  thd->free_items();
  lex_end(thd->lex);
  lex_start(thd);
  // A pass may hold thousands of such statements.
  free_memory(thd);
}

void release_metadata_locks(THD* thd) { thd->release_transactional_locks(); }

}  // namespace hs::mysqld::server
