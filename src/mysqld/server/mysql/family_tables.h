// MySQL's half of server/tables.h.
#pragma once

namespace hs::mysqld::server {

inline std::string_view index_name(const KEY& index) { return index.name; }

// Full-text and spatial indexes cannot be searched by value, nor can those over the elements
// of a JSON array.
inline bool is_searchable(const TABLE& table, unsigned index) {
  const KEY& key = table.key_info[index];
  return table.s->keys_in_use.is_set(index) &&
         (key.flags & (HA_FULLTEXT | HA_SPATIAL | HA_MULTI_VALUED_KEY)) == 0;
}

inline bool is_clustering(const TABLE& table, unsigned index) {
  return index == table.s->primary_key && table.file->primary_key_is_clustered();
}

inline void mark_to_read(TABLE& table, Field& column) {
  table.mark_column_used(&column, MARK_COLUMNS_TEMP);
}

inline void start_keyread(TABLE& table, unsigned /*index*/) { table.set_keyread(true); }

inline void end_keyread(TABLE& table) { table.set_keyread(false); }

// MySQL has no system versioning: every row is current.
inline bool is_versioned(const TABLE& /*table*/) { return false; }

inline bool is_current_row(const TABLE& /*table*/) { return true; }

inline void mark_version_columns(TABLE& /*table*/) {}

inline bool has_transactions(const TABLE& table) { return table.file->has_transactions(); }

inline bool is_statement_open(const THD* thd) {
  return !thd->get_transaction()->is_empty(Transaction_ctx::STMT);
}

inline void note_unsafe_change(THD* thd) {
  thd->get_transaction()->mark_modified_non_trans_table(Transaction_ctx::STMT);
  thd->get_transaction()->mark_modified_non_trans_table(Transaction_ctx::SESSION);
}

// MySQL has no query cache any more.
inline void forget_cached_results(THD* /*thd*/, TABLE& /*table*/) {}

}  // namespace hs::mysqld::server
