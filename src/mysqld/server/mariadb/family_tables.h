// MariaDB's half of server/tables.h.
#pragma once

namespace hs::mysqld::server {

inline std::string_view index_name(const KEY& index) { return {index.name.str, index.name.length}; }

// Full-text, spatial, vector and hashed-unique indexes cannot be searched by value.
inline bool is_searchable(const TABLE& table, unsigned index) {
  const KEY& key = table.key_info[index];
#if MYSQL_VERSION_ID < 110400
  if ((key.flags & (HA_FULLTEXT | HA_SPATIAL)) != 0) return false;
#else
  if (key.algorithm == HA_KEY_ALG_VECTOR) return false;
#endif
  return table.s->keys_in_use.is_set(index) && key.algorithm != HA_KEY_ALG_FULLTEXT &&
         key.algorithm != HA_KEY_ALG_RTREE && key.algorithm != HA_KEY_ALG_LONG_HASH;
}

inline bool is_clustering(const TABLE& table, unsigned index) {
  return table.file->pk_is_clustering_key(index);
}

inline BlankOrder blank_order(const TABLE& /*table*/, const Field& column) {
  const bool is_char = column.real_type() == MYSQL_TYPE_STRING && is_plain_string(column);
  return is_char && counts_blanks(column.charset()) ? BlankOrder::filled : BlankOrder::kept;
}

inline unsigned identifying_parts(TABLE& table, unsigned index) {
  KEY& key = table.key_info[index];
  if ((key.flags & HA_NOSAME) != 0 && (key.flags & HA_NULL_PART_KEY) == 0)
    return key.user_defined_key_parts;
  // The variable optimizer_switch can turn off searches by the parts of the primary key.
  const bool is_extended = (key.flags & HA_NOSAME) == 0 &&
                           (key.ext_key_flags & HA_EXT_NOSAME) != 0 &&
                           table.actual_n_key_parts(&key) == key.ext_key_parts;
  return is_extended ? key.ext_key_parts : 0;
}

inline void mark_to_read(TABLE& table, Field& column) { table.mark_column_with_deps(&column); }

inline void mark_for_default(TABLE& table, Field& column) {
  if (column.default_value != nullptr)
    column.default_value->expr->walk(&Item::register_field_in_read_map, true, &table);
}

// An update has done it.
inline void refresh_virtual_columns(TABLE& /*table*/) {}

// An engine that is a plugin has no fixed number, but a name.
inline std::string_view engine_name(const handlerton& engine) {
  const LEX_CSTRING& name = *hton_name(&engine);
  return {name.str, name.length};
}
inline bool is_myrocks(const handlerton& engine) { return engine_name(engine) == "ROCKSDB"; }

// InnoDB, MyISAM, MERGE and Aria find out where equal keys end by themselves, and MEMORY puts whole rows
// into the record.
inline bool ends_by_columns(const TABLE& table) { return is_myrocks(*table.file->partition_ht()); }

inline void start_keyread(TABLE& table, unsigned index) { table.file->ha_start_keyread(index); }

inline void end_keyread(TABLE& table) { table.file->ha_end_keyread(); }

inline bool is_versioned(const TABLE& table) { return table.versioned(); }

inline bool is_current_row(const TABLE& table) {
  return !table.versioned() || table.vers_end_field()->is_max();
}

inline void mark_version_columns(TABLE& table) {
  if (table.versioned()) bitmap_set_bit(table.read_set, table.vers_end_field()->field_index);
}

inline bool has_transactions(const TABLE& table) {
  return table.file->has_transactions_and_rollback();
}

inline bool refuses_locked_rows(const TABLE& table) {
  return table.file->partition_ht()->db_type == DB_TYPE_INNODB;
}

inline bool is_sequence(const TABLE& table) { return table.s->table_type == TABLE_TYPE_SEQUENCE; }

inline std::uint32_t modification_refused(const TABLE& table) {
  return table.file->partition_ht()->db_type == DB_TYPE_ARCHIVE_DB ? ER_ILLEGAL_HA : 0;
}

inline bool is_statement_open(const THD* thd) { return !thd->transaction->stmt.is_empty(); }

inline void note_unsafe_change(THD* thd) {
  thd->transaction->stmt.modified_non_trans_table = true;
  thd->transaction->all.modified_non_trans_table = true;
}

// A trigger that drops a temporary table, and Galera's streaming, make the binary log write ROLLBACK TO
// instead of forgetting its end.
inline bool can_return_to_savepoint(const THD* thd) {
  const bool is_kept = thd->transaction->all.modified_non_trans_table ||
                       (thd->variables.option_bits & OPTION_BINLOG_THIS_TRX) != 0;
#ifdef WITH_WSREP
  return !is_kept && !thd->wsrep_trx().is_streaming();
#else
  return !is_kept;
#endif
}

inline std::uint64_t most_open_files() {
  constexpr std::uint64_t logs_and_the_like = 100;
  return max_connections + extra_max_connections + 2 * tc_size + logs_and_the_like;
}

// The server binds such an expression to a user when it opens the table for a session.
inline bool asks_for_user(const TABLE& table) {
  return table.triggers != nullptr || table.internal_tables != nullptr ||
         asks_for_user_to_read(table);
}

inline bool asks_for_user_to_read(const TABLE& table) {
  return table.vcol_refix_list.elements != 0;
}

inline bool forget_user(THD* thd, TABLE& table) {
  return !asks_for_user_to_read(table) ||
         !(table.vcol_cleanup_expr(thd) || table.vcol_fix_expr(thd));
}

inline bool may_use_sequences(THD* thd, TABLE& table) {
  return !table.check_sequence_privileges(thd);
}

inline std::vector<std::string> columns_of_key_part(const TABLE& /*table*/, const Field& part) {
  return {std::string(name_of(part))};
}

inline bool audits_tables() { return mysql_audit_table_enabled(); }

inline void forget_cached_results(THD* thd, TABLE& table) {
  query_cache_invalidate3(thd, &table, 1);
}

}  // namespace hs::mysqld::server
