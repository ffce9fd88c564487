#include "mysqld/server/table_opening.h"

#include <memory>

#include "mysqld/server/api.h"

namespace hs::mysqld::server {
namespace {

// Whether SQL refuses the table to everybody, because it belongs to the data dictionary. Not all of
// those tables have a category of their own.
bool is_of_dictionary(const TABLE_SHARE& share) {
  return !dd::get_dictionary()->is_dd_table_access_allowed(false, false, share.db.str,
                                                           share.db.length, share.table_name.str);
}

}  // namespace

void init_request(TableRequest& request, const std::string& database, const std::string& name,
                  Purpose purpose, bool waits_for_rows) {
  std::destroy_at(&request);
  std::construct_at(&request, database.c_str(), database.size(), name.c_str(), name.size(),
                    is_write(purpose) ? TL_WRITE : TL_READ,
                    is_write(purpose) ? MDL_SHARED_WRITE : MDL_SHARED_READ);
  if (is_write(purpose) && !waits_for_rows) request.set_lock({TL_WRITE, THR_NOWAIT});
  // A view is refused before it is parsed.
  request.required_type = dd::enum_table_type::BASE_TABLE;
}

void begin_engine_statement(TABLE& table) { table.file->ha_reset(); }

bool lock_single(THD* thd, TABLE& table, TableRequest& /*request*/, Purpose purpose) {
  TABLE* tables = &table;
  table.query_id = thd->query_id;
  table.reginfo.lock_type = is_write(purpose) ? TL_WRITE : TL_READ;
  const KeptState state(thd);
  MYSQL_LOCK* lock = mysql_lock_tables(thd, &tables, 1, 0);
  if (lock == nullptr) return false;
  thd->lock = thd->lock == nullptr ? lock : mysql_lock_merge(thd->lock, lock);
  if (is_write(purpose)) thd->set_current_stmt_binlog_format_row();
  // ARCHIVE shows rows of other sessions only after its statistics were asked for.
  if (table.file->ht->db_type == DB_TYPE_ARCHIVE_DB) table.file->info(HA_STATUS_VARIABLE);
  return true;
}

bool open_and_lock(THD* thd, TableRequest& request, Purpose /*purpose*/) {
  return !open_and_lock_tables(thd, &request, 0);
}

// MySQL checks itself that the parent of a foreign key exists, so a table with a foreign key also
// needs its parent.
bool needs_other_tables(const TABLE& table) {
  return table.triggers != nullptr || table.s->foreign_keys != 0 ||
         table.s->foreign_key_parents != 0;
}

Serving serving_of_own_engine(const TABLE& /*table*/) { return Serving::refused; }

// The engine for tables of other machines, FEDERATED, is not there unless a setting asks for it.
bool has_remote_tables() { return false; }

bool read_serving(THD* /*thd*/, TableRequest& /*request*/, Serving& serving) {
  serving = Serving::here;
  return true;
}

void prepare_for_remote(THD* /*thd*/, TableRequest& /*request*/) {}

void announce_limit(THD* /*thd*/, std::uint64_t /*rows*/) {}

bool is_servable_kind(const TABLE& table) {
  const TABLE_SHARE& share = *table.s;
  const bool is_servable_category = share.table_category == TABLE_CATEGORY_USER ||
                                    share.table_category == TABLE_CATEGORY_SYSTEM ||
                                    share.table_category == TABLE_CATEGORY_ACL_TABLE;
  return is_servable_category && !is_of_dictionary(share);
}

OpenFailure own_open_failure(std::uint32_t error) {
  return error == ER_GTID_UNSAFE_NON_TRANSACTIONAL_TABLE ? OpenFailure::told : OpenFailure::refused;
}

bool is_refused_beside_others(Status status) {
  return status.number() == ER_GTID_UNSAFE_NON_TRANSACTIONAL_TABLE;
}

// On MySQL, KILL leaves no table half opened.
void drop_half_opened_tables(THD* /*thd*/) {}

// Also forgets the databases that were noted for the binary log, because their names are in the
// memory that is given back.
void end_statement_with_needs(THD* thd) { thd->cleanup_after_query(); }

void release_metadata_locks(THD* thd) {
  thd->mdl_context.release_statement_locks();
  thd->mdl_context.release_transactional_locks();
}

void release_audit_plugins(THD* thd) { mysql_audit_release(thd); }

}  // namespace hs::mysqld::server
