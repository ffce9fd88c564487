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
Serving serving_of_engine(const handlerton& engine) {
  switch (engine.db_type) {
    case DB_TYPE_INNODB:
    case DB_TYPE_MYISAM:
    case DB_TYPE_HEAP:
    case DB_TYPE_ARCHIVE_DB:
    case DB_TYPE_BLACKHOLE_DB:
    case DB_TYPE_ARIA:
    case DB_TYPE_SEQUENCE: return Serving::here;
    default: break;
  }
  if (engine_name(engine) == "SPIDER") return Serving::remote;
  return is_myrocks(engine) ? Serving::here : Serving::refused;
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

// The reset ends also what the server has prepared for the writes of a statement.
void begin_engine_statement(TABLE& table) {
  table.file->ha_reset();
  table.file->prepare_for_row_logging();
  prepare_for_write(*table.file);
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
  request.for_insert_data = inserts(purpose);
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

Serving serving_of_own_engine(const TABLE& table) {
  return serving_of_engine(*table.file->partition_ht());
}

bool has_remote_tables() { return true; }

// The lock keeps the definition as it is until the pass ends: without it, the server would keep what a
// statement is just replacing. For a reader it is the lock that it needs anyway.
bool read_serving(THD* thd, TableRequest& request, Serving& serving) {
  serving = Serving::here;
  const bool reads = request.mdl_request.type == MDL_SHARED_READ;
  MDL_request definition;
  MDL_REQUEST_INIT(&definition, MDL_key::TABLE, request.db.str, request.table_name.str,
                   reads ? MDL_SHARED_READ : MDL_SHARED, MDL_TRANSACTION);
  if (thd->mdl_context.acquire_lock(&definition, thd->variables.lock_wait_timeout)) return false;
  TABLE_SHARE* const share = tdc_acquire_share(thd, &request, GTS_TABLE);
  if (share == nullptr) {
    thd->clear_error();
    return true;  // to open the table will say what is wrong
  }
  const handlerton* const engine = share->default_part_plugin != nullptr
                                       ? plugin_hton(share->default_part_plugin)
                                       : share->db_type();
  const bool is_known = engine == nullptr || engine->db_type == DB_TYPE_MRG_MYISAM ||
                        engine->db_type == DB_TYPE_CSV_DB;
  if (!is_known) serving = serving_of_engine(*engine);
  tdc_release_share(share);
  return true;
}

// The columns that a statement names.
void prepare_for_remote(THD* thd, TableRequest& request) {
  request.select_lex = thd->lex->first_select_lex();
}

void announce_limit(THD* thd, std::uint64_t rows) {
  Lex_select_limit& limit = thd->lex->first_select_lex()->limit_params;
  limit.select_limit =
      rows != 0 ? new (thd->mem_root) Item_int(thd, static_cast<longlong>(rows)) : nullptr;
  limit.explicit_limit = limit.select_limit != nullptr;
}

bool is_servable_kind(const TABLE& table) {
#if MYSQL_VERSION_ID >= 110400
  if (table.s->table_category == TABLE_CATEGORY_MYSQL) return true;
#endif
  return table.s->table_category == TABLE_CATEGORY_USER ||
         table.s->table_category == TABLE_CATEGORY_SYSTEM;
}

// What Spider says of a server that it cannot reach. Spider's own errors have these numbers.
OpenFailure own_open_failure(std::uint32_t error) {
  const bool is_of_spider = error >= 12500 && error < 13000;
  return is_of_spider || error == ER_CONNECT_TO_FOREIGN_DATA_SOURCE ? OpenFailure::told
                                                                    : OpenFailure::refused;
}

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
