// Open tables and their indexes, as plans, scans and transactions see them. All inline.
//
// Called on the thread that owns the TABLE. Included by server_api.h alone.
#pragma once

#include <cstdint>
#include <string_view>

namespace hs::mysqld::server {

inline std::string_view index_name(const KEY& index);
// Whether rows are found in the index by value.
inline bool is_searchable(const TABLE& table, unsigned index);
// Whether the index is where the rows themselves are.
inline bool is_clustering(const TABLE& table, unsigned index);

// Adds a column to the read set, with those that it is computed from.
inline void mark_to_read(TABLE& table, Field& column);

// Reads of the index alone, without the row behind.
inline void start_keyread(TABLE& table, unsigned index);
inline void end_keyread(TABLE& table);

// System versioning: tables that keep rows that are no longer current.
inline bool is_versioned(const TABLE& table);
inline bool is_current_row(const TABLE& table);
inline void mark_version_columns(TABLE& table);

inline bool has_transactions(const TABLE& table);

// The statement of the current transaction: whether an engine takes part in it.
inline bool is_statement_open(const THD* thd);
// A table without transactions was changed: not all can be rolled back.
inline void note_unsafe_change(THD* thd);
// SQL's cache of results must forget what it knows of the table.
inline void forget_cached_results(THD* thd, TABLE& table);

}  // namespace hs::mysqld::server

#include "family_tables.h"
