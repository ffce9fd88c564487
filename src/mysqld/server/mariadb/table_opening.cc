#include "mysqld/server/table_opening.h"

#include "mysqld/server/api.h"

namespace hs::mysqld::server {
namespace {

void prepare_for_write(handler& engine) {
#if MYSQL_VERSION_ID < 110400
  engine.prepare_for_insert(true);
#else
  engine.prepare_for_modify(true, true);
#endif
}

// If KILL or a lack of memory interrupts the server while it parses a table's triggers, they are
// broken in that TABLE. Whoever gets it from the table cache next could not write to it, so it must
// not go back there. Nobody can ask whether the triggers are broken; to read good ones again does
// no harm.
bool may_have_half_opened(const THD* thd) { return is_killed(thd) || thd->is_fatal_error; }

void drop_if_half_opened(TABLE& table) {
  if (table.triggers != nullptr) table.mark_table_for_reopen();
}

// Of the engines that serve the partitions of a table, too.
bool is_served(const handlerton& engine) {
  switch (engine.db_type) {
    case DB_TYPE_INNODB:
    case DB_TYPE_MYISAM:
    case DB_TYPE_HEAP:
    case DB_TYPE_ARCHIVE_DB:
    case DB_TYPE_BLACKHOLE_DB:
    case DB_TYPE_ARIA:
    case DB_TYPE_SEQUENCE: return true;
    default: break;
  }
  // An engine that is a plugin has no fixed number.
  return std::string_view(hton_name(&engine)->str, hton_name(&engine)->length) == "ROCKSDB";
}

// Opens what triggers and foreign keys need, as SQL does. If opening fails, the server itself
// closes the tables. So each table is checked while it is handled.
class OpeningWithNeeds final : public DML_prelocking_strategy {
 public:
  bool handle_table(THD* thd, Query_tables_list* context, TABLE_LIST* request,
                    bool* need_prelocking) override {
    if (may_have_half_opened(thd)) drop_if_half_opened(*request->table);
    return DML_prelocking_strategy::handle_table(thd, context, request, need_prelocking);
  }
};

}  // namespace

void init_request(TableRequest& request, const std::string& database, const std::string& name,
                  Purpose purpose, bool /*waits_for_rows*/) {
  const LEX_CSTRING database_name{database.c_str(), database.size()};
  const LEX_CSTRING table_name{name.c_str(), name.size()};
  // The server chooses the metadata lock by the table lock.
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
  // The sequences of defaults are opened for inserts only.
  request.for_insert_data = purpose == Purpose::insert;
  OpeningWithNeeds opening;
  if (open_and_lock_tables(thd, &request, false, 0, &opening) || request.table == nullptr)
    return false;
  if (is_write(purpose)) prepare_for_write(*request.table->file);
  return true;
}

bool needs_other_tables(const TABLE& table) {
  return table.triggers != nullptr || table.internal_tables != nullptr ||
         table.file->referenced_by_foreign_key();
}

bool is_own_servable_engine(const TABLE& table) { return is_served(*table.file->partition_ht()); }

// The lock keeps the definition as it is while it is read: without it, the server would keep what a
// statement is just replacing. It goes with the pass.
bool may_be_servable(THD* thd, TableRequest& request) {
  MDL_request definition;
  MDL_REQUEST_INIT(&definition, MDL_key::TABLE, request.db.str, request.table_name.str, MDL_SHARED,
                   MDL_TRANSACTION);
  if (thd->mdl_context.acquire_lock(&definition, thd->variables.lock_wait_timeout)) {
    thd->clear_error();
    return true;  // to open the table will say why it has to wait
  }
  TABLE_SHARE* const share = tdc_acquire_share(thd, &request, GTS_TABLE);
  if (share == nullptr) {
    thd->clear_error();
    return true;  // to open the table will say what is wrong
  }
  const handlerton* const engine = share->default_part_plugin != nullptr
                                       ? plugin_hton(share->default_part_plugin)
                                       : share->db_type();
  const bool may_be = engine == nullptr || is_served(*engine) ||
                      engine->db_type == DB_TYPE_MRG_MYISAM || engine->db_type == DB_TYPE_CSV_DB;
  tdc_release_share(share);
  return may_be;
}

bool is_servable_kind(const TABLE& table) {
#if MYSQL_VERSION_ID >= 110400
  if (table.s->table_category == TABLE_CATEGORY_MYSQL) return true;
#endif
  return table.s->table_category == TABLE_CATEGORY_USER ||
         table.s->table_category == TABLE_CATEGORY_SYSTEM;
}

OpenFailure own_open_failure(std::uint32_t /*error*/) { return OpenFailure::refused; }

bool is_refused_beside_others(Status /*status*/) { return false; }

void drop_half_opened_tables(THD* thd) {
  if (!may_have_half_opened(thd)) [[likely]]
    return;
  for (TABLE* table = thd->open_tables; table != nullptr; table = table->next)
    drop_if_half_opened(*table);
}

void end_statement_with_needs(THD* thd) { thd->free_items(); }

void release_metadata_locks(THD* thd) { thd->release_transactional_locks(); }

void release_audit_plugins(THD* thd) { mysql_audit_release(thd); }

}  // namespace hs::mysqld::server
