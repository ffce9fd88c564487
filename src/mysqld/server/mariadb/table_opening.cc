#include "mysqld/server/table_opening.h"

#include "mysqld/server_api.h"

namespace hs::mysqld::server {
namespace {

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
  // The metadata lock that is asked for follows from the table lock.
  request.init_one_table(&database_name, &table_name, nullptr,
                         is_write(purpose) ? TL_WRITE : TL_READ);
  request.i_s_requested_object = OPEN_TABLE_ONLY;
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

bool open_and_lock(THD* thd, TableRequest& request, Purpose purpose) {
  // Sequences that defaults draw from are opened for inserts only.
  request.for_insert_data = purpose == Purpose::insert;
  if (open_and_lock_tables(thd, &request, false, 0) || request.table == nullptr) return false;
  if (is_write(purpose)) prepare_for_write(*request.table->file);
  return true;
}

bool needs_other_tables(const TABLE& table) {
  return table.triggers != nullptr || table.internal_tables != nullptr ||
         table.file->referenced_by_foreign_key();
}

bool is_servable(const TABLE& table) {
#if MYSQL_VERSION_ID >= 110400
  if (table.s->table_category == TABLE_CATEGORY_MYSQL) return true;
#endif
  return table.s->table_category == TABLE_CATEGORY_USER ||
         table.s->table_category == TABLE_CATEGORY_SYSTEM;
}

OpenFailure own_open_failure(std::uint32_t error) {
  return error == ER_CONNECTION_KILLED ? OpenFailure::killed : OpenFailure::refused;
}

void end_statement_with_needs(THD* thd) { thd->free_items(); }

void release_metadata_locks(THD* thd) { thd->release_transactional_locks(); }

}  // namespace hs::mysqld::server
