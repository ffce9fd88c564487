// MySQL's half of server/tables.h.
#pragma once

namespace hs::mysqld::server {

inline std::string_view index_name(const KEY& index) { return index.name; }

// Full-text and spatial indexes cannot be searched by value, nor can indexes over the elements of a
// JSON array.
inline bool is_searchable(const TABLE& table, unsigned index) {
  const KEY& key = table.key_info[index];
  return table.s->keys_in_use.is_set(index) &&
         (key.flags & (HA_FULLTEXT | HA_SPATIAL | HA_MULTI_VALUED_KEY)) == 0;
}

inline bool is_clustering(const TABLE& table, unsigned index) {
  return index == table.s->primary_key && table.file->primary_key_is_clustered();
}

inline BlankOrder blank_order(const TABLE& table, const Field& column) {
  if (column.real_type() != MYSQL_TYPE_STRING || !counts_blanks(column.charset()))
    return BlankOrder::kept;
  return table.file->ht->db_type == DB_TYPE_INNODB ? BlankOrder::dropped : BlankOrder::filled;
}

inline unsigned identifying_parts(TABLE& table, unsigned index) {
  const KEY& key = table.key_info[index];
  if ((key.flags & HA_NOSAME) != 0 && (key.flags & HA_NULL_PART_KEY) == 0)
    return key.user_defined_key_parts;
  // The variable optimizer_switch can turn off searches by the parts of the primary key.
  const bool is_extended = (key.flags & HA_NOSAME) == 0 && (key.actual_flags & HA_NOSAME) != 0 &&
                           ::actual_key_parts(&key) == key.actual_key_parts;
  return is_extended ? key.actual_key_parts : 0;
}

inline void mark_to_read(TABLE& table, Field& column) {
  table.mark_column_used(&column, MARK_COLUMNS_TEMP);
}

inline void mark_for_default(TABLE& table, Field& column) {
  if (column.has_insert_default_general_value_expression())
    bitmap_union(table.read_set, &column.m_default_val_expr->base_columns_map);
}

inline void refresh_virtual_columns(TABLE& table) {
  if (table.has_gcol()) update_generated_read_fields(table.record[0], &table);
}

// InnoDB, MyISAM and MERGE find that out by themselves, and MEMORY puts whole rows into the record.
inline bool ends_by_columns(const TABLE& /*table*/) { return false; }

inline void start_keyread(TABLE& table, unsigned /*index*/) { table.set_keyread(true); }

inline void end_keyread(TABLE& table) { table.set_keyread(false); }

// MySQL has no system versioning: every row is current.
inline bool is_versioned(const TABLE& /*table*/) { return false; }

inline bool is_current_row(const TABLE& /*table*/) { return true; }

inline void mark_version_columns(TABLE& /*table*/) {}

inline bool has_transactions(const TABLE& table) { return table.file->has_transactions(); }

// InnoDB refuses a locked row only when it reads the row for a change (row_locked_error).
// Everything else waits.
inline bool refuses_locked_rows(const TABLE& /*table*/) { return false; }

inline bool is_sequence(const TABLE& /*table*/) { return false; }

inline std::uint32_t modification_refused(const TABLE& table) {
  return table.file->ht->db_type == DB_TYPE_ARCHIVE_DB ? ER_ILLEGAL_HA : 0;
}

inline bool is_statement_open(const THD* thd) {
  return !thd->get_transaction()->is_empty(Transaction_ctx::STMT);
}

inline void note_unsafe_change(THD* thd) {
  thd->get_transaction()->mark_modified_non_trans_table(Transaction_ctx::STMT);
  thd->get_transaction()->mark_modified_non_trans_table(Transaction_ctx::SESSION);
}

inline bool can_return_to_savepoint(const THD* thd) {
  return !thd->get_transaction()->cannot_safely_rollback(Transaction_ctx::SESSION);
}

inline std::uint64_t most_open_files() {
  constexpr std::uint64_t logs_and_the_like = 100;
  return max_connections + 2 * table_cache_size + logs_and_the_like;
}

// MySQL has no query cache.
// A generated column must not ask for the user, but a default may.
inline bool asks_for_user(const TABLE& table) {
  return table.triggers != nullptr || table.gen_def_fields_ptr != nullptr;
}

inline bool asks_for_user_to_read(const TABLE& /*table*/) { return false; }

// Such an expression keeps its value until it is cleaned up.
inline bool forget_user(THD* thd, TABLE& table) {
  if (table.gen_def_fields_ptr == nullptr) return true;
  table.cleanup_value_generator_items();
  table.bind_value_generators_to_fields();
  return !thd->is_error();
}

// MySQL has no sequences.
inline bool may_use_sequences(THD* /*thd*/, TABLE& /*table*/) { return true; }

// A functional index has a hidden column for its expression.
inline std::vector<std::string> columns_of_key_part(const TABLE& table, const Field& part) {
  if (!part.is_field_for_functional_index()) return {std::string(name_of(part))};
  std::vector<std::string> names;
  for (unsigned i = 0; i < table.s->fields; ++i) {
    if (bitmap_is_set(&part.gcol_info->base_columns_map, i))
      names.emplace_back(name_of(*table.field[i]));
  }
  return names;
}

// Whether an audit plugin (`of_plugins` is the same class for them) or a component wants such events.
inline bool is_audited(Event_tracking_class events, mysql_event_class_t of_plugins) {
  return is_audit_plugin_class_active(nullptr, of_plugins) ||
         (g_event_channels != nullptr && g_event_channels->service_exists(events));
}

inline bool audits_tables() {
  return is_audited(Event_tracking_class::TABLE_ACCESS, MYSQL_AUDIT_TABLE_ACCESS_CLASS);
}

inline void forget_cached_results(THD* /*thd*/, TABLE& /*table*/) {}

}  // namespace hs::mysqld::server
